//! `lab capture` on a runtime without a GPU: what is in the files, and what is reported.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use wavesieve_captures::captures::{Capture, Check, Region, restore};

use crate::common::{Run, finish, program};
use crate::fake_hsa::{built, capture, code_object};
use crate::skipping::has_tools;

/// A folder whose `captures` are written.
struct Stage(tempfile::TempDir);

impl Stage {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn run(&self, options: &[&str], application: &[&str], set: &[(&str, &str)]) -> Run {
        capture(self.0.path(), options, application, set)
    }

    /// Captures, and expects all to go well.
    fn succeed(&self, options: &[&str], application: &[&str], set: &[(&str, &str)]) -> Run {
        let run = self.run(options, application, set);
        assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
        run
    }

    fn place(&self, name: &str) -> PathBuf {
        self.0.path().join("captures").join(name)
    }

    fn read(&self, name: &str) -> Capture {
        Capture::read(&self.place(name)).expect("the capture can be read")
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.place("")).expect("the folder is there");
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// The bytes of a region, with their hashes compared.
fn bytes(capture: &Capture, region: &Region) -> Vec<u8> {
    let blob = capture.open_region(region).expect("the blob is there");
    let mut bytes = vec![0; region.size as usize];
    restore(vec![(&blob, bytes.as_mut_slice())], Check::Hashes, 2).expect("the blob fits its hashes");
    bytes
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

/// Floats of the region that an argument points to.
fn argument(capture: &Capture, offset: usize) -> Vec<f32> {
    let pointer = u64::from_le_bytes(capture.kernarg[offset..offset + 8].try_into().unwrap());
    let region = capture.regions.regions.iter().find(|region| region.contains(pointer)).expect("the region is there");
    floats(&bytes(capture, region))
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("the file is there")).expect("it is JSON")
}

#[test]
fn a_dispatch_is_captured_before_it_runs() {
    for (options, index) in [(&[][..], 1.0), (&["--batch"], 1.0), (&["--virtual"], 1.0), (&["--file"], 1.0)] {
        let stage = Stage::new();
        let run = stage.succeed(&["--kernel", "^add$", "--dispatch", "1"], options, &[("FAKE_HSA_DELAY_MS", "30")]);
        // The program computed what it computes without the library: 3 dispatches.
        assert!(run.stderr.contains("first [3.0, 4.0, 5.0, 6.0"), "{}", run.stderr);
        let capture = stage.read("add.1");
        assert_eq!(argument(&capture, 0)[..4], [index, index + 1.0, index + 2.0, index + 3.0], "{options:?}");
        assert_eq!(argument(&capture, 8)[..4], [1.0; 4]);
    }
}

#[test]
fn runtimes_that_hand_over_one_packet_at_a_time() {
    for options in [&[][..], &["--batch"]] {
        let stage = Stage::new();
        let set = [("FAKE_HSA_DELAY_MS", "30"), ("FAKE_HSA_OLD_QUEUES", "1")];
        let run = stage.succeed(&["--kernel", "^add$", "--dispatch", "0,2"], options, &set);
        assert!(run.stderr.contains("first [3.0, 4.0, 5.0, 6.0"), "{}", run.stderr);
        assert_eq!(argument(&stage.read("add.2"), 0)[..2], [2.0, 3.0], "{options:?}");
    }
}

#[test]
fn names_sizes_and_files() {
    let stage = Stage::new();
    stage.succeed(&["--kernel", "add"], &[], &[]);
    let capture = stage.read("add.0");
    let dispatch = &capture.dispatch;
    assert_eq!((dispatch.mangled_name.as_str(), dispatch.demangled_name.as_str()), ("add.kd", "add"));
    assert_eq!((dispatch.agent_name.as_str(), dispatch.wavefront_size), ("gfx942", 64));
    assert_eq!(dispatch.isa_name, "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-");
    assert_eq!((dispatch.grid, dispatch.block, dispatch.dispatch_index), ([64, 1, 1], [64, 1, 1], 0));
    assert_eq!(capture.kernarg.len() as u64, dispatch.kernarg_size);
    assert_eq!(capture.read_hsaco().unwrap(), std::fs::read(code_object()).unwrap());
    let kinds: Vec<_> = (capture.regions.regions.iter())
        .map(|region| (region.size, region.is_pool, region.is_vmem, region.contains_kernarg))
        .collect();
    assert_eq!(kinds, [(64, true, false, false), (64, false, false, false), (4096, true, false, true)]);
    assert_eq!(stage.names(), ["add.0", "events.jsonl"]);
}

#[test]
fn several_dispatches_by_name_and_number() {
    let stage = Stage::new();
    let options = ["--kernel", r"^blas::saxpy\(", "--dispatch", "0,2-3", "-f", "json"];
    let run = stage.succeed(&options, &["--kernel", "saxpy", "--dispatches", "5"], &[]);
    let report: Value = serde_json::from_str(&run.stdout).expect("the report is JSON");
    let found: Vec<_> = (report["captures"].as_array().unwrap().iter())
        .map(|capture| (capture["directory"].as_str().unwrap(), capture["dispatch_index"].as_u64().unwrap()))
        .collect();
    assert_eq!(found, [("blas_saxpy.0", 0), ("blas_saxpy.2", 2), ("blas_saxpy.3", 3)]);
    assert_eq!(report["kernels"][0]["dispatches"], 5);
    assert_eq!(report["program"], "exit 0");
    // y starts at 0, x is 1, a is 2, and the module shifts by 0.5.
    assert_eq!(argument(&stage.read("blas_saxpy.2"), 0)[0], 5.0);
}

#[test]
fn variables_of_the_module_are_kept() {
    let stage = Stage::new();
    stage.succeed(&["--kernel", "saxpy", "--dispatch", "2"], &["--kernel", "saxpy"], &[]);
    let capture = stage.read("blas_saxpy.2");
    let value = |name: &str| {
        let variable = capture.variables.iter().find(|variable| variable.name == name).expect("the variable is there");
        <[u8; 4]>::try_from(capture.read_variable(variable).unwrap()).unwrap()
    };
    assert_eq!(f32::from_le_bytes(value("saxpy_shift")), 0.5);
    assert_eq!(u32::from_le_bytes(value("saxpy_calls")), 2);
}

#[test]
fn there_is_no_limit_of_regions() {
    let stage = Stage::new();
    stage.succeed(&["--kernel", "add"], &["--regions", "700"], &[]);
    let capture = stage.read("add.0");
    assert_eq!(capture.regions.regions.len(), 703);
    assert_eq!(std::fs::read_dir(stage.place("add.0/memory")).unwrap().count(), 703);
}

#[test]
fn memory_that_cannot_be_copied_is_noted() {
    let stage = Stage::new();
    // The code object is at the beginning; the region of the second argument is that at 0x…9000.
    let fails = [("FAKE_HSA_FAIL_COPY_FROM", "600000009000")];
    let run = stage.run(&["--kernel", "add"], &[], &fails);
    assert_eq!(run.code, 5, "{}", run.stderr);
    let reason = "1 regions were not captured: hsa_memory_copy of 64 bytes at 0x600000009000";
    assert!(run.stdout.contains(reason), "{}", run.stdout);
    let regions = json(&stage.place("add.0/memory_regions.json"));
    let failed: Vec<_> = (regions["regions"].as_array().unwrap().iter())
        .filter_map(|region| Some((region["base"].as_u64().unwrap(), region["error"].as_str()?)))
        .collect();
    let reason = "hsa_memory_copy of 64 bytes at 0x600000009000 gave status 0x1000";
    assert_eq!(failed, [(0x6000_0000_9000, reason)]);
    assert!(!stage.place("add.0/memory/region_600000009000.bin").exists());
    assert_eq!(argument(&stage.read("add.0"), 0)[1], 1.0);
    // Arguments that cannot be had make no capture, and nothing is left of it.
    let stage = Stage::new();
    let fails = [("FAKE_HSA_FAIL_COPY_FROM", "60000000b000")];
    let run = stage.run(&["--kernel", "add"], &[], &fails);
    assert_eq!((run.code, stage.names()), (3, vec!["events.jsonl".to_owned()]), "{}", run.stderr);
    assert!(run.stdout.contains("not captured: dispatch 0 of add: hsa_memory_copy of 280 bytes"), "{}", run.stdout);
}

#[test]
fn memory_without_access_is_not_read() {
    let stage = Stage::new();
    // The second half of what is mapped.
    stage.succeed(&["--kernel", "add"], &["--virtual"], &[]);
    let capture = stage.read("add.0");
    let mapped: Vec<_> = capture.regions.regions.iter().filter(|region| region.is_vmem).collect();
    let found: Vec<_> = mapped.iter().map(|region| (region.base, region.size, region.access)).collect();
    assert_eq!(found, [(0x6100_0000_0000, 4096, 3)]);
}

#[test]
fn dynamic_lds_is_that_of_the_launch() {
    let stage = Stage::new();
    let application = ["--kernel", "block_sums", "--elements", "128", "--dynamic-lds", "256"];
    stage.succeed(&["--kernel", "block_sums"], &application, &[]);
    let dispatch = stage.read("block_sums.0").dispatch;
    assert_eq!((dispatch.group_segment_size, dispatch.kernel_group_segment_size), (256, Some(0)));
}

#[test]
fn only_what_the_arguments_lead_to() {
    let stage = Stage::new();
    let options = ["--kernel", "chase", "--reachable", "--dispatch", "1"];
    stage.succeed(&options, &["--kernel", "chase", "--regions", "50"], &[]);
    let capture = stage.read("chase.1");
    // Three nodes, of which only the first is an argument; neither the other memory nor the arguments themselves.
    let nodes: Vec<Vec<u8>> = capture.regions.regions.iter().map(|region| bytes(&capture, region)).collect();
    let values: Vec<_> = nodes.iter().map(|node| u64::from_le_bytes(node[8..16].try_into().unwrap())).collect();
    assert_eq!(values, [1, 2, 3]);
    assert!(capture.metadata.reachable_only);
    let stage = Stage::new();
    stage.succeed(&["--kernel", "add", "--reachable"], &["--regions", "50"], &[]);
    assert_eq!(stage.read("add.0").regions.regions.len(), 2);
}

#[test]
fn compressed_and_sparse_files_hold_the_same() {
    let application = ["--regions", "3", "--region-bytes", "5000000", "--elements", "100000"];
    let plain = Stage::new();
    plain.succeed(&["--kernel", "add"], &application, &[]);
    let packed = Stage::new();
    packed.succeed(&["--kernel", "add", "--compress", "zstd", "--copy-threads", "3"], &application, &[]);
    let (one, other) = (plain.read("add.0"), packed.read("add.0"));
    assert_eq!(one.regions.regions.len(), other.regions.regions.len());
    for (first, second) in one.regions.regions.iter().zip(&other.regions.regions) {
        assert_eq!(bytes(&one, first), bytes(&other, second), "{:#x}", first.base);
    }
    let size = |stage: &Stage| -> u64 {
        let files = std::fs::read_dir(stage.place("add.0/memory")).unwrap();
        files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
    };
    assert!(size(&packed) < size(&plain) * 7 / 10, "{} {}", size(&packed), size(&plain));
    // A quarter of each of the three regions is zeros.
    let kept: u64 =
        one.regions.regions.iter().flat_map(|region| &region.blob.as_ref().unwrap().chunks).map(|chunk| chunk.0).sum();
    assert!(kept < size(&plain) - 3_000_000, "{kept}");
}

#[test]
fn all_queues_are_idle_meanwhile() {
    let stage = Stage::new();
    // The first dispatch of each queue takes long, and both add to the same memory.
    let slow = [("FAKE_HSA_DELAY_MS", "100")];
    stage.succeed(&["--kernel", "add", "--dispatch", "2"], &["--two-queues"], &slow);
    assert_eq!(argument(&stage.read("add.2"), 0)[..2], [2.0, 3.0]);
}

#[test]
fn queues_that_do_not_become_idle_are_not_waited_for_forever() {
    let stage = Stage::new();
    let slow = [("FAKE_HSA_DELAY_MS", "2500")];
    let options = ["--kernel", "add", "--dispatch", "1", "--wait", "0"];
    let run = stage.run(&options, &["--dispatches", "2"], &slow);
    assert_eq!(run.code, 5, "{}", run.stderr);
    assert!(run.stdout.contains("other work was still running"), "{}", run.stdout);
}

#[test]
fn tables_of_other_versions_stay_as_they_are() {
    for (variable, value, reason) in [
        ("FAKE_HSA_CORE_MAJOR", "3", "core table of the HSA runtime has version 3"),
        ("FAKE_HSA_AMD_BYTES", "312", "has no hsa_amd_queue_intercept_create"),
    ] {
        let stage = Stage::new();
        let run = stage.run(&["--kernel", "add"], &[], &[(variable, value)]);
        assert_eq!(run.code, 3, "{}", run.stderr);
        assert!(run.stderr.contains(reason), "{}", run.stderr);
        assert!(run.stderr.contains("first [3.0, 4.0"), "the program runs: {}", run.stderr);
    }
    // A table that ends before virtual memory is not a reason to refuse.
    let stage = Stage::new();
    stage.succeed(&["--kernel", "add"], &[], &[("FAKE_HSA_AMD_BYTES", "456")]);
    assert_eq!(stage.read("add.0").regions.regions.len(), 3);
}

#[test]
fn programs_that_crash_hang_or_do_not_shut_down() {
    let stage = Stage::new();
    let run = stage.run(&["--kernel", "add"], &["--abort-after", "2"], &[]);
    assert_eq!(run.code, 5, "{}", run.stderr);
    assert!(run.stderr.contains("ended by signal 6"), "{}", run.stderr);
    stage.read("add.0");
    let stage = Stage::new();
    stage.succeed(&["--kernel", "add"], &["--no-shut-down"], &[]);
    let stage = Stage::new();
    let hangs = [("FAKE_HSA_DELAY_MS", "60000")];
    let run = stage.run(&["--kernel", "add", "--time-limit", "2"], &[], &hangs);
    assert_eq!(run.code, 5, "{}", run.stderr);
    assert!(run.stderr.contains("took longer than 2 s"), "{}", run.stderr);
    // Files of an interrupted capture are removed, and the program's own files are not.
    assert_eq!(stage.names(), ["add.0", "events.jsonl"]);
}

#[test]
fn nothing_captured_has_a_reason() {
    let stage = Stage::new();
    let run = stage.run(&["--kernel", "gemm"], &[], &[]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("no kernel matches `gemm`; there were add (3 dispatches)"), "{}", run.stderr);
    let run = Stage::new().run(&["--kernel", "add", "--dispatch", "9"], &[], &[]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("add (3 dispatches) has no such dispatch"), "{}", run.stderr);
    let run = Stage::new().run(&["--kernel", "add"], &[], &[("FAKE_HSA_NO_AGENT", "1")]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("ended with code 1"), "{}", run.stderr);
}

/// Runs the verb with a library that need not work.
fn run_with_library(arguments: &[&str]) -> Run {
    let library = built().library.to_string_lossy().into_owned();
    finish(program(&[&["lab", "capture", "--library", library.as_str()], arguments].concat()))
}

#[test]
fn bad_command_lines() {
    let folder = tempfile::tempdir().unwrap();
    let used = folder.path().to_string_lossy().into_owned();
    std::fs::write(folder.path().join("mine"), "x").unwrap();
    for (arguments, reason) in [
        (&["--kernel", "(", "--", "true"][..], "not a regular expression"),
        (&["--kernel", "", "--", "true"], "the pattern is empty"),
        (&["--kernel", "a", "--dispatch", "3-1", "--", "true"], "is not a list of dispatches"),
        (&["--kernel", "a", "-o", used.as_str(), "--", "true"], "is not an empty folder"),
        (&["--kernel", "a", "--library", "/nowhere.so", "--", "true"], "is not a file"),
    ] {
        let run = finish(program(&[&["lab", "capture"], arguments].concat()));
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(reason), "{}", run.stderr);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let output = folder.path().join("new");
    let run = run_with_library(&["--kernel", "a", "-o", output.to_str().unwrap(), "--", "/nowhere/none"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    // A program without HSA.
    let run = run_with_library(&["--kernel", "a", "-o", output.to_str().unwrap(), "--", "true"]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("did not start the HSA runtime"), "{}", run.stderr);
    assert!(!output.exists());
}

#[test]
fn a_plan_runs_nothing() {
    let run = run_with_library(&["--plan", "--kernel", "a b", "--", "env", "HSA_TOOLS_LIB=x.so", "./none", "--flag"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("WAVESIEVE_CAPTURE_KERNEL='a b'\n"), "{}", run.stdout);
    assert!(run.stdout.starts_with("HSA_TOOLS_LIB='x.so /"), "{}", run.stdout);
    assert!(run.stdout.ends_with("./none --flag\n"), "{}", run.stdout);
}

#[test]
fn a_plan_as_json() {
    let run = run_with_library(&["--plan", "-f", "json", "--kernel", "a b", "--", "A=1", "./none", "--flag"]);
    let plan: Value = serde_json::from_str(&run.stdout).expect("the plan is JSON");
    assert_eq!(plan["plan"]["environment"]["WAVESIEVE_CAPTURE_KERNEL"], "a b");
    assert_eq!(plan["plan"]["command"], "A=1 ./none --flag");
}

#[test]
fn dispatches_that_miss_are_named() {
    for (options, dispatches, captured, lines) in [
        (&["--dispatch", "1,99"][..], "3", 1, &["dispatch 99 of add: the kernel was dispatched 3 times"][..]),
        (
            &["--dispatch", "0,1", "--limit", "1"],
            "3",
            1,
            &["dispatch 1 of add: --limit ended the captures of the process after 1"],
        ),
        (
            &["--dispatch", "0-5", "--limit", "2"],
            "4",
            2,
            &["dispatches 2-3 of add: --limit ended", "dispatches 4-5 of add: the kernel was dispatched 4 times"],
        ),
        (&["--dispatch", "1-", "--limit", "2"], "4", 2, &["dispatch 3 of add: --limit ended"]),
        (&["--dispatch", "1-"], "3", 2, &[]),
    ] {
        let stage = Stage::new();
        let all = [&["--kernel", "^add$", "-f", "json"], options].concat();
        let run = stage.run(&all, &["--dispatches", dispatches], &[]);
        let report: Value = serde_json::from_str(&run.stdout).expect("the report is JSON");
        assert_eq!(report["captures"].as_array().unwrap().len(), captured, "{options:?}");
        assert_eq!(report["missing"].as_array().unwrap().len(), lines.len(), "{options:?} {}", run.stdout);
        assert_eq!(run.code, if lines.is_empty() { 0 } else { 5 }, "{options:?}");
        let stage = Stage::new();
        let all = [&["--kernel", "^add$"], options].concat();
        let run = stage.run(&all, &["--dispatches", dispatches], &[]);
        for line in lines {
            assert!(run.stdout.contains(&format!("not captured: {line}")), "{options:?} {}", run.stdout);
        }
    }
}

#[test]
fn a_library_that_does_not_report_is_named() {
    let stage = Stage::new();
    // Any library of the system will do.
    let library = built().runtime.join("libhsa-runtime64.so.1");
    let run = stage.run(&["--kernel", "add", "--library", library.to_str().unwrap()], &[], &[]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(
        run.stderr.contains("did not report: either the program did not start the HSA runtime, or"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_limit_of_file_sizes_does_not_end_the_program() {
    let stage = Stage::new();
    let output = stage.place("");
    let mut command = Command::new("sh");
    // 64 KiB: files of this size are written, and the program's memory is more.
    command.args([
        "-c",
        "ulimit -f 64; trap - XFSZ; exec \"$0\" \"$@\"",
        env!("CARGO_BIN_EXE_wavesieve"),
        "lab",
        "capture",
    ]);
    command.args(["--kernel", "^add$", "--library"]).arg(&built().library).arg("-o").arg(&output).arg("--");
    command.arg(&built().application).arg(code_object()).args(["--elements", "100000"]);
    command.env("LD_LIBRARY_PATH", &built().runtime);
    let run = finish(command);
    assert_eq!(run.code, 5, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("regions were not captured: it cannot be written: File too large"), "{}", run.stdout);
    assert!(run.stderr.contains("first [3.0, 4.0"), "the program goes on: {}", run.stderr);
    let run = finish(program(&["lab", "replay", stage.place("add.0").to_str().unwrap(), "--inspect"]));
    assert!(run.code == 5 && run.stdout.contains("File too large") && !run.stdout.contains("/.add"), "{}", run.stdout);
}

#[test]
fn the_code_object_is_that_of_its_source() {
    if !has_tools(&["llvm-readelf-19"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(made) = crate::fake_hsa::other_code_object(folder.path(), "none", "none") else { return };
    let symbols = |path: &Path| {
        let output = Command::new("llvm-readelf-19").arg("--dyn-syms").arg(path).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        let names = text.lines().filter_map(|line| line.split_whitespace().last());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".kd")).map(ToOwned::to_owned).collect();
        names.sort();
        names
    };
    assert_eq!(symbols(&made), symbols(&code_object()));
}

/// Replays a capture on the runtime of the tests.
fn replay(capture: &Path, options: &[&str]) -> Run {
    let mut command = program(&["lab", "replay"]);
    command.arg(capture).arg("--runtime").arg(built().runtime.join("libhsa-runtime64.so.1")).args(options);
    finish(command)
}

#[test]
fn a_capture_runs_again_and_shows_what_another_binary_does_wrong() {
    let stage = Stage::new();
    stage.succeed(&["--kernel", "add", "--dispatch", "1", "--compress", "zstd"], &["--regions", "300"], &[]);
    let place = stage.place("add.1");
    let run = replay(&place, &[]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let own = code_object();
    let same = ["--hsaco", own.to_str().unwrap(), "--expect", "original"];
    assert_eq!(replay(&place, &same).code, 0);
    for (other, options, code) in [
        ("add_off_by_one", &[][..], 4),
        ("add_out_of_place", &[], 4),
        ("add_almost", &[], 4),
        ("add_almost", &["--tolerance", "f32"], 0),
    ] {
        let Some(changed) = crate::fake_hsa::other_code_object(stage.0.path(), "add", other) else { return };
        let all = [&["--hsaco", changed.to_str().unwrap(), "--expect", "original"], options].concat();
        let run = replay(&place, &all);
        assert_eq!(run.code, code, "{other}: {}{}", run.stdout, run.stderr);
    }
}

#[test]
fn variables_and_dynamic_lds_come_back_in_a_replay() {
    for (kernel, application) in [
        ("blas_saxpy", &["--kernel", "saxpy"][..]),
        ("block_sums", &["--kernel", "block_sums", "--elements", "128", "--dynamic-lds", "256"]),
    ] {
        let stage = Stage::new();
        let name = kernel.trim_start_matches("blas_");
        stage.succeed(&["--kernel", name, "--dispatch", "0,1"], application, &[]);
        // The next dispatch finds the state that the first leaves.
        let (first, second) = (stage.place(&format!("{kernel}.0")), stage.place(&format!("{kernel}.1")));
        let run = replay(&first, &["--expect", second.to_str().unwrap(), "--warm-up", "0", "-n", "1"]);
        assert_eq!(run.code, 0, "{kernel}: {}{}", run.stdout, run.stderr);
    }
}
