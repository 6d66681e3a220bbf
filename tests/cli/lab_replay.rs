//! `lab replay` on a runtime without a GPU. Most of it starts from `fixtures/capture`: the second dispatch of `add` of
//! `tests/fake_hsa/kernels.hip`, which adds ones to 1, 2, 3, ….
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use wavesieve_captures::captures::Capture;

use crate::common::{Run, finish, program, run};
use crate::fake_hsa::{built, code_object, other_code_object};

const FIXTURE: &str = "fixtures/capture";
/// The region that `add` changes.
const SUMS: &str = "memory/region_600000007000.bin";

/// Replays on the runtime of the tests.
fn replay(capture: &Path, options: &[&str]) -> Run {
    let mut command = program(&["lab", "replay", "--runtime"]);
    command.arg(&built().runtime).arg(capture).args(options);
    finish(command)
}

fn replay_json(capture: &Path, options: &[&str]) -> (i32, Value) {
    let run = replay(capture, &[options, &["-f", "json"]].concat());
    let value: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}{}", run.stdout, run.stderr));
    assert_eq!(value["exit_code"], run.code);
    (run.code, value["replays"][0].clone())
}

/// A copy of the fixture, to damage.
fn copy() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["", "memory", "module_variables"] {
        let _ = fs::create_dir(folder.path().join(name));
        for entry in fs::read_dir(Path::new(FIXTURE).join(name)).expect("the fixture is there") {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                fs::copy(entry.path(), folder.path().join(name).join(entry.file_name())).expect("it can be copied");
            }
        }
    }
    folder
}

/// The copy as rocm-perf-lab would have written it, with regions changed by a function.
fn of_perf_lab(change: impl Fn(&mut Vec<Value>)) -> tempfile::TempDir {
    let folder = copy();
    fs::remove_file(folder.path().join("metadata.json")).unwrap();
    fs::remove_file(folder.path().join("module_variables.json")).unwrap();
    let path = folder.path().join("memory_regions.json");
    let mut document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let regions = document["regions"].as_array_mut().unwrap();
    for region in regions.iter_mut() {
        region.as_object_mut().unwrap().remove("blob");
    }
    change(regions);
    fs::write(path, document.to_string()).unwrap();
    folder
}

/// The sums after a replay.
fn sums(capture: &Path, options: &[&str]) -> Vec<f32> {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("saved");
    let run = replay(capture, &[options, &["--save", saved.to_str().unwrap()]].concat());
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let bytes = fs::read(saved.join(SUMS)).expect("the memory was saved");
    bytes.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

#[test]
fn what_a_capture_holds() {
    let text = run(&["lab", "replay", FIXTURE, "--inspect"]);
    assert_eq!(text.code, 0, "{}", text.stderr);
    insta::assert_snapshot!(text.stdout);
    let json = run(&["lab", "replay", FIXTURE, "--inspect", "-f", "json"]);
    let mut document: Value = serde_json::from_str(&json.stdout).unwrap();
    assert!(document["replays"][0]["kernel"].as_object_mut().unwrap().remove("arguments").is_some());
    insta::assert_snapshot!(serde_json::to_string_pretty(&document).unwrap());
    let missing = run(&["lab", "replay", "fixtures/two_nodes", FIXTURE, "--inspect"]);
    assert_eq!(missing.code, 1);
    assert!(missing.stdout.contains("dispatch.json is missing") && missing.stdout.contains("add of"));
}

#[test]
fn the_result_as_json() {
    let (code, mut replayed) = replay_json(Path::new(FIXTURE), &["-n", "7", "--expect", FIXTURE]);
    assert_eq!(code, 4, "{replayed}");
    assert_eq!(replayed["timing"]["samples"].as_array().unwrap().len(), 7);
    assert!(replayed["timing"]["median_interval"][1].as_f64() >= replayed["timing"]["median"].as_f64());
    for (group, key) in [("environment", "pid"), ("environment", "runtime"), ("memory", "restore_seconds")] {
        replayed[group][key] = json!("…");
    }
    replayed["timing"] = json!("…");
    insta::assert_snapshot!(serde_json::to_string_pretty(&replayed).unwrap());
}

#[test]
fn stateless_dispatches_leave_what_one_leaves_and_stateful_ones_add_up() {
    let fixture = Path::new(FIXTURE);
    assert_eq!(sums(fixture, &["-n", "1", "--warm-up", "0"])[..3], [2.0, 3.0, 4.0]);
    assert_eq!(sums(fixture, &["-n", "5", "--warm-up", "2"])[..3], [2.0, 3.0, 4.0]);
    assert_eq!(sums(fixture, &["-n", "5", "--warm-up", "2", "--stateful"])[..3], [6.0, 7.0, 8.0]);
    assert_eq!(sums(fixture, &["-n", "5", "--no-recopy", "--warm-up", "0"])[..3], [6.0, 7.0, 8.0]);
    // Where the processor cannot reach the memory it is copied.
    let denied = ["--env", "FAKE_HSA_NO_HOST_ACCESS=1", "-n", "5"];
    assert_eq!(sums(fixture, &denied)[..3], [2.0, 3.0, 4.0]);
    let (_, replayed) = replay_json(fixture, &denied);
    assert_eq!(replayed["memory"]["is_direct"], false);
}

#[test]
fn memory_that_was_saved_is_expected_again() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("saved");
    let saved = saved.to_str().unwrap();
    let fixture = Path::new(FIXTURE);
    assert_eq!(replay(fixture, &["--stateful", "-n", "3", "--save", saved]).code, 0);
    assert_eq!(replay(fixture, &["--stateful", "-n", "3", "--expect", saved]).code, 0);
    let differs = replay(fixture, &["-n", "3", "--expect", saved]);
    assert_eq!(differs.code, 4, "{}", differs.stderr);
    assert!(differs.stdout.contains("+0x0: 00 00 00 40 instead of 00 00 80 40"), "{}", differs.stdout);
    let close = replay(fixture, &["-n", "3", "--expect", saved, "--tolerance", "f32:0:2"]);
    assert_eq!(close.code, 0, "{}", close.stdout);
    let named = replay(fixture, &["-n", "3", "--expect", saved, "--tolerance", "0x600000007008=f32:0:1.5"]);
    assert!(named.code == 4 && named.stdout.contains("+0x0: 2.0 instead of 4.0"), "{}", named.stdout);
    // An existing directory is not filled.
    let again = replay(fixture, &["--save", saved]);
    assert!(again.code == 2 && again.stderr.contains("neither new nor an empty directory"), "{}", again.stderr);
}

#[test]
fn addresses_are_checked() {
    let fixture = Path::new(FIXTURE);
    let free = replay(fixture, &["--check-addresses"]);
    assert!(free.code == 0 && free.stdout.contains("3 of 3 ranges exact: 3 regions, 12.0 KiB"), "{}", free.stdout);
    let taken = ["--env", "FAKE_HSA_TAKEN=600000009000", "--attempts", "2"];
    for options in [&["--check-addresses"][..], &[]] {
        let (code, outcome) = replay_json(fixture, &[options, &taken].concat());
        let rows = outcome["addresses"].as_array().unwrap();
        let states: Vec<&str> = rows.iter().map(|row| row["state"].as_str().unwrap()).collect();
        assert_eq!((code, states), (2, vec!["exact", "relocated", "exact"]));
        assert_eq!(outcome["notes"], json!(["an address was taken in 2 of 2 attempts"]));
        assert!(outcome.get("kernel").is_none());
    }
}

#[test]
fn regions_share_pages() {
    let capture = of_perf_lab(|regions| {
        regions.push(json!({"base": 0x6000_0000_7040_u64, "size": 100}));
        regions.push(json!({"base": 0x6000_0000_7ffc_u64, "size": 4100}));
    });
    fs::write(capture.path().join("memory/region_600000007040.bin"), [1; 100]).unwrap();
    let short = [9; 4099];
    fs::write(capture.path().join("memory/region_600000007ffc.bin"), short).unwrap();
    let run = replay(capture.path(), &[]);
    assert!(run.code == 1 && run.stdout.contains("has 4099 bytes, not the 4100 recorded"), "{}", run.stdout);
    fs::write(capture.path().join("memory/region_600000007ffc.bin"), [9; 4100]).unwrap();
    let run = replay(capture.path(), &["--check-addresses"]);
    assert!(run.stdout.contains("1 of 1 ranges exact: 4 regions") || run.stdout.contains("ranges exact: 5 regions"));
    assert_eq!(sums(capture.path(), &[])[..3], [2.0, 3.0, 4.0]);
}

#[test]
fn captures_of_others_are_replayed() {
    let capture = of_perf_lab(|_| {});
    assert_eq!(sums(capture.path(), &[])[..3], [2.0, 3.0, 4.0]);
    // The name of `extern "C"` kernels is in the result.
    let path = capture.path().join("dispatch.json");
    fs::write(
        &path,
        fs::read_to_string(&path).unwrap().replace(r#""demangled_name": "add""#, r#""demangled_name": """#),
    )
    .unwrap();
    let (code, replayed) = replay_json(capture.path(), &[]);
    assert_eq!(
        (code, &replayed["kernel"]["name"], &replayed["kernel"]["symbol"]),
        (0, &json!("add"), &json!("add.kd"))
    );
}

#[test]
fn damage_is_found_before_anything_runs() {
    let folder = copy();
    let place = folder.path();
    let fails = |expected: &str| {
        let run = replay(place, &[]);
        assert!(run.code == 1 && run.stdout.contains(expected), "{expected}: {}{}", run.stdout, run.stderr);
    };
    let mut bytes = fs::read(place.join(SUMS)).unwrap();
    bytes[5] ^= 1;
    fs::write(place.join(SUMS), &bytes).unwrap();
    fails("do not fit their hash");
    fs::write(place.join(SUMS), &bytes[..60]).unwrap();
    fails("has 60 bytes, not the 64 recorded");
    fs::remove_file(place.join(SUMS)).unwrap();
    fails("take it for zeros with --allow-missing");
    let run = replay(place, &["--allow-missing"]);
    assert!(run.code == 0 && run.stderr.contains("the region at 0x600000007000 is zeros"), "{}", run.stderr);
    fs::write(place.join("kernarg.bin"), [0; 280]).unwrap();
    fails("kernarg.bin: the bytes from 0 do not fit their hash");
}

#[test]
fn what_is_missing_is_named() {
    let fixture = Path::new(FIXTURE);
    let none = run(&["lab", "replay", FIXTURE, "--runtime", "/nowhere/libhsa-runtime64.so.1"]);
    assert!(none.code == 3 && none.stdout.contains("/nowhere/libhsa-runtime64.so.1 does not exist"), "{}", none.stdout);
    let other = run(&["lab", "replay", FIXTURE, "--runtime", "Cargo.toml"]);
    assert_eq!(other.code, 3, "{}", other.stdout);
    let refused = |variable: &str| replay(fixture, &["--env", variable]);
    let isa = refused("FAKE_HSA_AGENT=gfx1100");
    assert!(isa.code == 3 && isa.stdout.contains("it is code for gfx942, and the GPU runs gfx1100"), "{}", isa.stdout);
    let idle = refused("FAKE_HSA_NO_AGENT=1");
    assert!(idle.code == 3 && idle.stdout.contains("HSA_STATUS_ERROR_OUT_OF_RESOURCES (0x1008)"), "{}", idle.stdout);
    let number = replay(fixture, &["--gpu", "4"]);
    assert!(number.code == 3 && number.stdout.contains("there is no GPU 4"), "{}", number.stdout);
}

#[test]
fn a_replay_that_hangs_or_crashes_ends_alone() {
    let hang = replay(Path::new(FIXTURE), &["--env", "FAKE_HSA_DELAY_MS=60000", "--time-limit", "1"]);
    assert!(hang.code == 1 && hang.stdout.contains("did not end within 1 s"), "{}", hang.stdout);
    // The kernel writes to memory that is not there.
    let capture = of_perf_lab(|regions| regions.retain(|region| region["base"] != 0x6000_0000_7000_u64));
    let crash = replay(capture.path(), &[]);
    assert!(crash.code == 1 && crash.stdout.contains("ended by signal 11"), "{}{}", crash.stdout, crash.stderr);
    // Others are replayed all the same.
    let mut command = program(&["lab", "replay", "--runtime"]);
    command.arg(&built().runtime).arg(capture.path()).arg(FIXTURE);
    let both = finish(command);
    assert!(both.code == 1 && both.stdout.contains("add of fixtures/capture"), "{}", both.stdout);
}

#[test]
fn other_code_is_compared_with_the_captured() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Path::new(FIXTURE);
    let own = code_object();
    assert_eq!(replay(fixture, &["--hsaco", own.to_str().unwrap(), "--expect", "original"]).code, 0);
    let Some(wrong) = other_code_object(folder.path(), "add", "add_off_by_one") else { return };
    let run = replay(fixture, &["--hsaco", wrong.to_str().unwrap(), "--expect", "original", "--tolerance", "f32"]);
    assert!(run.code == 4 && run.stdout.contains("+0x0: 3.0 instead of 2.0"), "{}", run.stdout);
    let compile = |name: &str, target: &str, source: &str| -> PathBuf {
        let (text, object) = (folder.path().join(format!("{name}.hip")), folder.path().join(format!("{name}.hsaco")));
        fs::write(&text, source).unwrap();
        let flags =
            ["-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpulib", "-nogpuinc", "-O3", "-o"];
        let mut command = Command::new("clang++-19");
        command.args(flags).arg(&object).arg(format!("--offload-arch={target}")).arg(&text);
        assert!(command.status().expect("clang++-19 runs").success());
        object
    };
    let head = "extern \"C\" __attribute__((global)) void";
    let fails = |object: &Path, code: i32, expected: &str| {
        let run = replay(fixture, &["--hsaco", object.to_str().unwrap()]);
        assert!(run.code == code && run.stdout.contains(expected), "{expected}: {}", run.stdout);
    };
    let fewer = compile("fewer", "gfx942", &format!("{head} add(float* sum, const float* term) {{ *sum = *term; }}"));
    fails(&fewer, 1, "it has 2 arguments instead of 3");
    let wider = compile("wider", "gfx942", &format!("{head} add(float* s, const float* t, long n) {{ *s = *t + n; }}"));
    fails(&wider, 1, "argument 3 has 8 bytes instead of 4");
    let renamed =
        compile("renamed", "gfx942", &format!("{head} plus(float* s, const float* t, int n) {{ *s = *t + n; }}"));
    fails(&renamed, 1, "there is no kernel add in it; it has plus");
    let foreign =
        compile("foreign", "gfx90a", &format!("{head} add(float* s, const float* t, int n) {{ *s = *t + n; }}"));
    fails(&foreign, 3, "it is code for gfx90a, and the GPU runs gfx942");
    fails(Path::new("Cargo.toml"), 1, "neither an AMDGPU code object");
}

#[test]
fn options_that_do_not_fit() {
    for (options, expected) in [
        (&["--expect", "original"][..], "add --hsaco"),
        (&["--expect", "x", "--tolerance", "f99"], "unknown element type `f99`"),
        (&["--tolerance", "f32"], "--expect"),
        (&["--env", "A"], "NAME=VALUE"),
        (&["fixtures/capture", "--save", "x"], "are for one capture"),
        (&["--hsaco", "/nofile"], "--hsaco /nofile: it does not exist"),
        (&["--hsaco", "/dev/zero"], "--hsaco /dev/zero: it is not a regular file"),
        (&["--expect", "/nowhere"], "no directory of --expect at /nowhere"),
        (&["--save", "src"], "--save src: it is neither new"),
        (&["--save", "Cargo.toml"], "--save Cargo.toml: it is neither new"),
        (&["/nowhere"], "no directory of a capture at /nowhere: there is no such directory"),
        (&["/etc/passwd"], "no directory of a capture at /etc/passwd: it is not a directory"),
        (&["-o", "out.csv"], "out.csv ends in no format"),
    ] {
        let run = run(&[&["lab", "replay", FIXTURE], options].concat());
        assert!(run.code == 2 && run.stderr.contains(expected), "{expected}: {} {}", run.code, run.stderr);
    }
}

#[test]
fn the_fixture_is_a_whole_capture() {
    let capture = Capture::read(Path::new(FIXTURE)).expect("it can be read");
    assert_eq!(capture.read_hsaco().unwrap(), fs::read(code_object()).unwrap(), "made of another kernels.hsaco");
    assert_eq!(capture.variables.len(), 2);
}

/// The inputs of a folder with a capture `cp`, a code object `new.hsaco` and memory that was saved, `saved`.
fn inputs(folder: &Path) -> (PathBuf, PathBuf, PathBuf) {
    let place = folder.join("cp");
    let status = Command::new("cp").arg("-r").arg(copy().path()).arg(&place).status();
    assert!(status.expect("cp runs").success());
    let (object, saved) = (folder.join("new.hsaco"), folder.join("saved"));
    fs::copy(code_object(), &object).unwrap();
    assert_eq!(replay(&place, &["--save", saved.to_str().unwrap()]).code, 0);
    (place, object, saved)
}

#[test]
fn inputs_are_never_written() {
    let folder = tempfile::tempdir().unwrap();
    let (place, object, saved) = inputs(folder.path());
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (object, saved) = (object.to_str().unwrap(), saved.to_str().unwrap());
    std::os::unix::fs::symlink(at("cp/kernarg.bin"), at("link")).unwrap();
    let before = fs::read(place.join("dispatch.json")).unwrap();
    for options in [
        &["--inspect", "-f", "json", "-o", &at("cp/dispatch.json")][..],
        &["--inspect", "-f", "json", "-o", &at("cp/../cp/new.json")],
        &["--inspect", "-f", "json", "-o", &at("link")],
        &["--hsaco", object, "-f", "text", "-o", object],
        &["--expect", saved, "-f", "text", "-o", &at("saved/memory_regions.json")],
        &["--save", &at("cp/new")],
        &["--save", &at("cp/new/deep")],
    ] {
        let run = replay(&place, options);
        assert!(run.code == 2 && run.stderr.contains("is an input"), "{options:?}: {} {}", run.code, run.stderr);
    }
    assert_eq!(before, fs::read(place.join("dispatch.json")).unwrap());
    let run = replay(&place, &["--save", &at("two"), "-f", "json", "-o", &at("two")]);
    assert!(run.code == 2 && run.stderr.contains("is the place of --save"), "{}", run.stderr);
}

#[test]
fn what_is_not_compared_is_not_right() {
    let folder = tempfile::tempdir().unwrap();
    let (place, _, saved) = inputs(folder.path());
    let expect = ["--expect", saved.to_str().unwrap()];
    let whole = replay(&place, &expect);
    assert!(whole.code == 0 && whole.stdout.contains("(3 regions and 2 variables compared)"), "{}", whole.stdout);
    let regions = saved.join("memory_regions.json");
    let text = fs::read(&regions).unwrap();
    let changed = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut document: Value = serde_json::from_slice(&text).unwrap();
        change(document["regions"].as_array_mut().unwrap());
        fs::write(&regions, document.to_string()).unwrap();
    };
    let partial = |expected: &str| {
        let run = replay(&place, &expect);
        assert_eq!(run.code, 5, "{expected}: {}{}", run.stdout, run.stderr);
        assert!(run.stdout.contains(expected) && !run.stdout.contains("  as in"), "{expected}: {}", run.stdout);
        let (code, outcome) = replay_json(&place, &expect);
        assert_eq!((code, outcome["status"].as_str()), (5, Some("partial")));
    };
    changed(&|regions| drop(regions.remove(0)));
    partial("the region at 0x600000007000 is not among what is expected");
    changed(&|regions| regions[0]["error"] = json!("no access"));
    partial("the region at 0x600000007000 has no expected bytes");
    changed(&|regions| regions.retain(|region| region["contains_kernarg"] == true));
    partial("the region at 0x600000009000 is not among what is expected");
    fs::write(&regions, &text).unwrap();
    let variables = saved.join("module_variables.json");
    fs::remove_file(&variables).unwrap();
    partial("the variable saxpy_calls is not among what is expected");
    // A difference takes precedence over values that are not compared.
    let mut bytes = fs::read(saved.join(SUMS)).unwrap();
    bytes[0] ^= 1;
    fs::write(saved.join(SUMS), &bytes).unwrap();
    changed(&|regions| drop(regions[0].as_object_mut().unwrap().remove("blob")));
    assert_eq!(replay(&place, &expect).code, 4);
}

#[test]
fn variables_are_saved_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let (place, _, saved) = inputs(folder.path());
    let text = fs::read(saved.join("module_variables.json")).expect("variables are saved");
    let mut document: Value = serde_json::from_slice(&text).unwrap();
    let variables = document["variables"].as_array_mut().unwrap();
    assert_eq!(variables.len(), 2);
    let calls = variables.iter_mut().find(|variable| variable["name"] == "saxpy_calls").unwrap();
    fs::write(saved.join(calls["blob"].as_str().unwrap()), [9, 0, 0, 0]).unwrap();
    calls.as_object_mut().unwrap().remove("xxh3");
    fs::write(saved.join("module_variables.json"), document.to_string()).unwrap();
    let expect = ["--expect", saved.to_str().unwrap()];
    let run = replay(&place, &expect);
    assert!(run.code == 4 && run.stdout.contains("    saxpy_calls: 1 of 4 bytes differ"), "{}", run.stdout);
    let near = [&expect[..], &["--tolerance", "u32:0:9"]].concat();
    assert_eq!(replay(&place, &near).code, 0);
}

#[test]
fn launches_that_the_captured_code_does_not_allow() {
    for (key, value, expected) in [
        ("block", json!([4096, 1, 1]), "it is built for workgroups of up to 1024 work-items, not 4096"),
        ("group_segment_size", json!(4_294_967_295_u32), "its workgroups take 4294967295 B of LDS"),
        ("mangled_name", json!("sub.kd"), "there is no kernel sub.kd in the captured code"),
    ] {
        let folder = copy();
        let path = folder.path().join("dispatch.json");
        let mut document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        document[key] = value;
        fs::write(&path, document.to_string()).unwrap();
        for options in [&["--inspect"][..], &[]] {
            let run = replay(folder.path(), options);
            assert!(run.code == 1 && run.stdout.contains(expected), "{key} {options:?}: {}{}", run.stdout, run.stderr);
        }
    }
}

#[test]
fn the_name_of_what_runs_is_shown_and_no_escapes() {
    let folder = copy();
    let path = folder.path().join("dispatch.json");
    let mut document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    document["demangled_name"] = json!("sub\u{1b}[2J\nx");
    document["isa_name"] = json!("gfx\u{1b}[31m");
    fs::write(&path, document.to_string()).unwrap();
    for options in [&["--inspect"][..], &[]] {
        let run = replay(folder.path(), options);
        assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
        assert!(run.stdout.starts_with("add of "), "{}", run.stdout);
        let all = run.stdout + &run.stderr;
        assert!(all.contains("is not that of the symbol add") && !all.contains('\u{1b}'), "{all}");
    }
}

#[test]
fn incomplete_captures_are_not_inspected_silently() {
    let folder = copy();
    let path = folder.path().join("memory_regions.json");
    let mut document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    document["regions"][1]["error"] = json!("no access");
    fs::write(&path, document.to_string()).unwrap();
    let run = replay(folder.path(), &["--inspect"]);
    assert!(run.code == 5 && run.stdout.contains("1 of 3 regions were not captured"), "{} {}", run.code, run.stdout);
}

#[test]
fn a_directory_of_captures_points_at_them() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["add.10", "add.2"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::copy(Path::new(FIXTURE).join("dispatch.json"), folder.path().join(name).join("dispatch.json")).unwrap();
    }
    let run = replay(folder.path(), &[]);
    assert!(run.code == 2 && run.stderr.contains("is a directory of captures (add.2, add.10)"), "{}", run.stderr);
}
