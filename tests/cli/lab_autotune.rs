//! `lab autotune` with programs that are scripts, and a profiler that is not real.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Run, finish, program};
use crate::profiler::link_in;
use crate::waiting::soon;

/// 120 configurations, of which 14 fail.
const SPACE: &str = r#"{
  "parameters": {
    "M": { "from": 16, "to": 256, "times": 2 },
    "N": [16, 32, 64, 128],
    "way": ["direct", "split"],
    "stages": { "from": 1, "to": 3 }
  }
}"#;

/// The program prints its minimum for M = 64, N = 32, split and 2 stages; it crashes where a tile is too large.
const PROGRAM: &str = r#"#!/bin/sh
echo run >> "$(dirname "$0")/runs.txt"
m=$1 n=$2 way=$3 stages=$4
if [ $((m * n * stages)) -gt 24576 ]; then echo "shared memory is too small" >&2; exit 3; fi
level() { l=0; v=$1; while [ $v -gt 1 ]; do v=$((v / 2)); l=$((l + 1)); done; echo $l; }
a=$(($(level $m) - 6)) b=$(($(level $n) - 5)) c=$((stages - 2))
t=$((1000 + 200 * a * a + 150 * b * b + 100 * a * b + 90 * c * c))
if [ $way = direct ]; then t=$((t + t / 5)); fi
echo "warming up: 5 us"
echo "kernel time: $t us"
echo "kernel 'gemm<$m, $n>' 10 $((t * 100)) 0" > "$(dirname "$0")/kernels.txt"
echo "kernel 'other' 1 5000 0" >> "$(dirname "$0")/kernels.txt"
"#;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        link_in(place.0.path());
        place.script("gemm", PROGRAM);
        place.write("space.json", SPACE);
        let kernels = place.path("kernels.txt");
        place.write("bin/fake_rocprofv3.env", &format!("FAKE_ROCPROFV3_KERNELS={}\n", kernels.display()));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn script(&self, name: &str, text: &str) {
        self.write(name, text);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self, options: &[&str], application: &[&str]) -> Command {
        let mut command = program(&[&["lab", "autotune"], options, &["--"], application].concat());
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        command.current_dir(self.0.path()).env("PATH", path).stdin(Stdio::null());
        command
    }

    fn run(&self, options: &[&str], application: &[&str]) -> Run {
        finish(self.command(options, application))
    }

    /// Tunes the program by what it prints.
    fn printed(&self, options: &[&str]) -> Run {
        let measured =
            ["--space", "space.json", "--measure", "printed", "--pattern", "time: ([0-9.]+)", "--unit", "us"];
        self.run(&[&measured, options].concat(), &GEMM)
    }

    fn runs(&self) -> usize {
        fs::read_to_string(self.path("runs.txt")).map_or(0, |text| text.lines().count())
    }
}

const GEMM: [&str; 5] = ["./gemm", "{M}", "{N}", "{way}", "{stages}"];

fn document(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", run.stdout, run.stderr))
}

fn best() -> Value {
    json!({ "M": 64, "N": 32, "stages": 2, "way": "split" })
}

#[test]
fn the_best_is_found_and_failures_are_recorded() {
    let place = Place::new();
    let run = place.printed(&["--json", "--chart", "chart.svg", "--evaluations", "40"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let found = document(&run);
    assert_eq!(found["best_config"]["parameters"], best());
    assert_eq!(found["best_config"]["runtime_ms"], 1.0);
    assert_eq!((&found["search_space_size"], &found["verdict"]), (&json!(120), &json!("separated")));
    assert!(found["evaluated_configs"].as_u64().unwrap() <= 40);
    assert!(found["model"]["r2"].as_f64().unwrap() > 0.75 && found["model"]["residual_std"].is_number());
    assert!(found.get("warning").is_none());
    let failures = found["failures"].as_array().unwrap();
    assert_eq!(failures.len() as u64, found["failed_configs"].as_u64().unwrap());
    assert!(!failures.is_empty());
    for failure in failures {
        assert_eq!(failure["reason"], "the command ended with 3: shared memory is too small");
    }
    assert_eq!(found["runs"].as_u64().unwrap(), place.runs() as u64);
    let chart = fs::read_to_string(place.path("chart.svg")).unwrap();
    assert!(chart.contains("<svg") && chart.contains("best so far"));
    // The same again, as text and as CSV.
    let again = place.printed(&["--json", "--evaluations", "40"]);
    assert_eq!(again.stdout, run.stdout);
    let text = place.printed(&["--evaluations", "40", "--top", "3"]).stdout;
    assert!(text.starts_with("Best: M=64 N=32 stages=2 way=split: 1.000 ms (1.000 to 1.000), "), "{text}");
    assert!(
        text.contains("\nrank  ") && text.contains("  stages    way  time_ms") && text.contains("failed: M="),
        "{text}"
    );
    assert_eq!(place.printed(&["--evaluations", "40", "--top", "3", "-o", "top.csv"]).code, 0);
    let csv = fs::read_to_string(place.path("top.csv")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "rank,M,N,stages,way,runtime_ms,value,low,high,runs,behind_pct,predicted");
    assert!(lines.len() == 4 && lines[1].starts_with("1,64,32,2,split,1,1,"), "{csv}");
}

#[test]
fn a_search_that_was_killed_goes_on() {
    let place = Place::new();
    let whole = document(&place.printed(&["--json"]));
    let runs = place.runs();
    let measured = ["--space", "space.json", "--measure", "printed", "--pattern", "time: ([0-9.]+)", "--unit", "us"];
    let options = [&measured[..], &["--state", "results.jsonl", "--json"]].concat();
    for kills in [5, 15, 25] {
        let mut child = place.command(&options, &GEMM).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let lines = || fs::read_to_string(place.path("results.jsonl")).map_or(0, |text| text.lines().count());
        assert!(soon(|| lines() >= kills), "{kills} results are written");
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9), "it ended before it was killed, after {kills} results");
    }
    // The last line is torn.
    let mut state = fs::read(place.path("results.jsonl")).unwrap();
    state.truncate(state.len() - 9);
    fs::write(place.path("results.jsonl"), state).unwrap();
    let run = place.run(&options, &GEMM);
    assert!(run.stderr.contains("continuing after "), "{}", run.stderr);
    assert_eq!(document(&run), whole);
    let before = place.runs();
    assert_eq!(document(&place.run(&options, &GEMM)), whole);
    assert_eq!(place.runs(), before, "what is known does not run again; {runs} runs without a stop");
    // Results of another command or space are refused, and stay.
    let state = fs::read_to_string(place.path("results.jsonl")).unwrap();
    let other = place.run(&options, &[&GEMM[..], &["--more"]].concat());
    assert!(other.code == 2 && other.stderr.contains("another command"), "{}", other.stderr);
    place.write("space.json", &SPACE.replace("128", "256"));
    let other = place.run(&options, &GEMM);
    assert!(other.code == 2 && other.stderr.contains("another space"), "{}", other.stderr);
    assert_eq!(fs::read_to_string(place.path("results.jsonl")).unwrap(), state);
}

#[test]
fn kernels_are_timed_under_the_profiler() {
    let place = Place::new();
    let options = ["--space", "space.json", "--measure", "kernel", "--json", "--evaluations", "24"];
    let run = place.run(&options, &GEMM);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let found = document(&run);
    assert_eq!(found["best_config"]["parameters"], best());
    assert_eq!(found["best_config"]["runtime_ms"], 1.0);
    let named = ["--kernel", "^gem", "--cmd-template", "./gemm {M} {N} {way} {stages}"];
    let named = finish({
        let mut command = program(&[&["lab", "autotune"], &options[..], &named].concat());
        let path = format!("{}:{}", place.path("bin").display(), std::env::var("PATH").unwrap());
        command.current_dir(place.0.path()).env("PATH", path);
        command
    });
    assert_eq!(document(&named)["best_config"]["runtime_ms"], 1.0);
    let other = document(&place.run(&[&options[..], &["--kernel", "^no such"]].concat(), &GEMM));
    assert_eq!((&other["best_config"], &other["stopped"]), (&Value::Null, &json!("nothing_works")));
    assert!(other["failures"].to_string().contains("no kernel that ran matches `^no such`"), "{other}");
    // The program works, and the profiler writes nothing.
    let kernels = place.path("kernels.txt");
    let silent = format!("FAKE_ROCPROFV3_KERNELS={}\nFAKE_ROCPROFV3=no-output\n", kernels.display());
    place.write("bin/fake_rocprofv3.env", &silent);
    let run = place.run(&options, &GEMM);
    assert!(run.code == 3 && run.stdout.contains("wrote no trace"), "{} {}", run.code, run.stdout);
    fs::remove_file(place.path("bin/rocprofv3")).unwrap();
    let mut missing = place.command(&options, &GEMM);
    missing.env("PATH", "/usr/bin:/bin");
    let missing = finish(missing);
    assert!(missing.code == 2 && missing.stderr.contains("rocprofv3 is not on the PATH"), "{}", missing.stderr);
}

#[test]
fn programs_that_hang_crash_or_print_nothing() {
    let place = Place::new();
    let text = "#!/bin/sh\ncase $1 in 1) sleep 60;; 2) kill -SEGV $$;; 3) ;; 4) echo 'time: fast';; *) echo \"time: $1\";; esac\n";
    place.script("app", text);
    let printed = ["--measure", "printed", "--pattern", "time: (.*)", "--json"];
    let options = [&["--parameter", "n=1,2,3,4,5,6", "--time-limit", "1"][..], &printed].concat();
    let run = place.run(&options, &["./app", "{n}"]);
    let found = document(&run);
    assert_eq!((run.code, &found["best_config"]["parameters"]), (0, &json!({ "n": 5 })), "{}", run.stderr);
    let reasons: Vec<(u64, &str)> = found["failures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|failure| (failure["parameters"]["n"].as_u64().unwrap(), failure["reason"].as_str().unwrap()))
        .collect();
    for (n, said) in [(1, "limit of 1 s"), (2, "signal 11"), (3, "nothing in the output"), (4, "`fast` in the output")]
    {
        let reason = reasons.iter().find(|(number, _)| *number == n).unwrap().1;
        assert!(reason.contains(said), "{n}: {reason}");
    }
    let none = place.run(&["--parameter", "n=2,3", "--measure", "printed", "--pattern", "x"], &["./app", "{n}"]);
    assert!(none.code == 3 && none.stdout.contains("No configuration worked"), "{}", none.stdout);
    assert!(none.stderr.contains("no configuration worked"), "{}", none.stderr);
    let large = place.run(&[&["--parameter", "n=5,7,6", "--maximize"], &printed[..]].concat(), &["./app", "{n}"]);
    let large = document(&large);
    assert_eq!((&large["best_config"]["value"], &large["best_config"]["runtime_ms"]), (&json!(7.0), &Value::Null));
}

#[test]
fn what_cannot_be_tuned_is_refused() {
    let place = Place::new();
    place.write("bad.json", "{\"parameters\": {\"a\": []}}");
    let one = ["--parameter", "n=1,2"];
    for (options, application, said) in [
        (&["--space", "none.json"][..], &["./gemm", "{M}"][..], "none.json"),
        (&["--space", "bad.json"], &["./gemm", "{a}"], "bad.json is not a space of parameters: `a` has no values"),
        (&["--space", "space.json"], &["./gemm", "{M}"], "does not use the parameter `N`"),
        (&["--space", "space.json"], &["./gemm", "{M}", "{K}"], "`{K}`, which is not a parameter"),
        (&[one[0], one[1], "--measure", "printed"], &["./gemm", "{n}"], "--measure printed needs --pattern"),
        (&[one[0], one[1], "--pattern", "x"], &["./gemm", "{n}"], "--pattern needs --measure printed"),
        (&[one[0], one[1], "--measure", "printed", "--pattern", "("], &["./gemm", "{n}"], "not a regular expression"),
        (&[one[0], one[1], "--chart", "x.gif"], &["./gemm", "{n}"], "not a .svg or .png file"),
        (&[one[0], one[1], "-o", "x.pdf"], &["./gemm", "{n}"], "ends in no format"),
        (&[one[0], one[1], "--budget", "0"], &["./gemm", "{n}"], "above 0"),
        (&[one[0], one[1], "--budget", "1e18"], &["./gemm", "{n}"], "at most 1000000 minutes"),
        (&[one[0], one[1]], &["./no-such-program", "{n}"], "./no-such-program does not exist"),
        (&[one[0], one[1], "--state", "space.json"], &["./gemm", "{n}"], "not a file of results"),
    ] {
        let run = place.run(options, application);
        assert!(run.code == 2 && run.stderr.contains(said), "{options:?} {application:?}: {} {}", run.code, run.stderr);
    }
    assert_eq!((place.runs(), fs::read_to_string(place.path("space.json")).unwrap().as_str()), (0, SPACE));
    let shell = finish(program(&["lab", "autotune", "--parameter", "n=1", "--cmd-template", "./a {n} | tail"]));
    assert!(shell.code == 2 && shell.stderr.contains('|'), "{}", shell.stderr);
}

/// Each pair of options that name files; which paths are the same file is tested where they are compared.
#[test]
fn files_that_are_read_or_written_are_different_ones() {
    let place = Place::new();
    place.write("f.svg", SPACE);
    fs::hard_link(place.path("f.svg"), place.path("hard.svg")).unwrap();
    std::os::unix::fs::symlink("f.svg", place.path("symbolic.svg")).unwrap();
    let options = ["--space", "--state", "-o", "--chart"];
    for (one, two) in (0..4).flat_map(|one| (one + 1..4).map(move |two| (options[one], options[two]))) {
        for second in ["f.svg", "hard.svg", "symbolic.svg"] {
            let mut named = vec![one, "f.svg", two, second, "-f", "json", "--repeats", "1"];
            if one != "--space" {
                named.extend(["--space", "space.json"]);
            }
            let run = place.run(&named, &GEMM);
            // A state is read and written: another name of it is told by what the file is.
            let said: &[&str] = match one {
                "--space" => &["which is never written"],
                "--state" => &["which is never written", "are the same file"],
                _ => &["are the same file"],
            };
            let is_said = said.iter().any(|said| run.stderr.contains(said));
            assert!(run.code == 2 && is_said, "{named:?}: {} {}", run.code, run.stderr);
            assert_eq!(fs::read_to_string(place.path("f.svg")).unwrap(), SPACE, "{named:?}");
        }
    }
    assert_eq!(place.runs(), 0);
}

#[test]
fn results_are_kept_in_regular_files() {
    let place = Place::new();
    let fifo = place.path("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(place.path("socket")).unwrap();
    std::os::unix::fs::symlink("/dev/full", place.path("link")).unwrap();
    std::os::unix::fs::symlink("circle", place.path("circle")).unwrap();
    let begin = Instant::now();
    for (path, said) in [
        ("/dev/full", "not a regular file"),
        ("/dev/null", "not a regular file"),
        ("/dev/zero", "not a regular file"),
        ("/dev/stdin", "not a regular file"),
        ("fifo", "not a regular file"),
        ("socket", "not a regular file"),
        ("link", "not a regular file"),
        ("bin", "not a regular file"),
        (".", "not a regular file"),
        ("bin/", "not a regular file"),
        ("new/", "cannot open new/"),
        ("missing/results", "cannot open missing/results"),
        ("circle", "cannot open circle"),
    ] {
        let run = place.run(&["--space", "space.json", "--state", path], &GEMM);
        assert!(run.code == 2 && run.stderr.contains(said), "{path}: {} {}", run.code, run.stderr);
    }
    assert!(begin.elapsed() < Duration::from_secs(60));
    assert_eq!(place.runs(), 0);
}

#[test]
fn values_reach_the_command_as_they_were_typed() {
    let place = Place::new();
    place.script("app", "#!/bin/sh\nprintf '%s\\n' \"$1\" >> texts.txt\necho 1\n");
    let typed = "6.1,6.10,1e3,1000,007,18446744073709551615,9007199254740993.5,9007199254740993";
    let options = ["--measure", "printed", "--pattern", "1", "--repeats", "1", "--json", "--state", "results.jsonl"];
    let parameter = format!("rocm={typed}");
    let options = [&["--parameter", &parameter, "--top", "20"][..], &options].concat();
    let run = place.run(&options, &["./app", "{rocm}"]);
    let lines = || fs::read_to_string(place.path("texts.txt")).unwrap();
    let sorted = |texts: Vec<&str>| {
        let mut texts: Vec<String> = texts.into_iter().map(ToOwned::to_owned).collect();
        texts.sort();
        texts
    };
    assert_eq!(sorted(lines().lines().collect()), sorted(typed.split(',').collect()), "{}", run.stderr);
    let found = document(&run);
    let printed: Vec<String> =
        found["top"].as_array().unwrap().iter().map(|row| row["parameters"]["rocm"].to_string()).collect();
    let printed: Vec<&str> = printed.iter().map(|text| text.trim_matches('"')).collect();
    assert_eq!(sorted(printed), sorted(typed.split(',').collect()));
    assert_eq!(document(&place.run(&options, &["./app", "{rocm}"])), found);
    assert_eq!(lines().lines().count(), 8, "what is known does not run again");
}

#[test]
fn what_ran_once_is_undecided() {
    let place = Place::new();
    for maximize in [&[][..], &["--maximize"]] {
        let printed = ["--parameter", "n=2,5,5.1", "--measure", "printed", "--pattern", "[0-9.]+"];
        let options = [&printed[..], maximize].concat();
        let once = [&options[..], &["--repeats", "1"]].concat();
        let found = document(&place.run(&[&once[..], &["--json"]].concat(), &["echo", "{n}"]));
        assert_eq!((&found["verdict"], &found["undecided_reason"]), (&json!("undecided"), &json!("each_ran_once")));
        assert_eq!((&found["tied_with"], &found["noise_pct"]), (&json!([]), &Value::Null));
        let best = if maximize.is_empty() { json!(2) } else { json!(5.1) };
        assert_eq!(found["best_config"]["parameters"]["n"], best);
        let text = place.run(&once, &["echo", "{n}"]).stdout;
        assert!(text.contains("\nUndecided: each configuration ran once") && !text.contains("others"), "{text}");
        let found = document(&place.run(&[&options[..], &["--json"]].concat(), &["echo", "{n}"]));
        assert_eq!((&found["verdict"], &found["undecided_reason"]), (&json!("separated"), &Value::Null));
    }
}

#[test]
fn long_values_do_not_widen_the_table() {
    let place = Place::new();
    let long = format!("1{}", "0".repeat(308));
    let (one, two) = (format!("{long}.5x"), format!("{long}.6y"));
    for value in ["1e308", "1e-308", "-1e308", "123456789012345678901234567890"] {
        let name = "n".repeat(200);
        let options = ["--parameter", &format!("{name}={one},{two},{long},1e308"), "--parameter", "short=1"];
        let measured = ["--measure", "printed", "--pattern", "^\\S+", "--maximize"];
        let application = ["echo", value, &format!("{{{name}}}"), "{short}"];
        let run = place.run(&[&options[..], &measured].concat(), &application);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let table: Vec<&str> = run.stdout.lines().skip_while(|line| !line.starts_with("rank")).take(5).collect();
        assert_eq!(table.len(), 5, "{}", run.stdout);
        assert!(table.iter().all(|line| line.chars().count() < 120), "{}", run.stdout);
        assert!(table.iter().any(|line| line.contains(".5x")) && table.iter().any(|line| line.contains(".6y")));
        let found = document(&place.run(&[&options[..], &measured, &["--json"]].concat(), &application));
        let values: Vec<String> =
            found["top"].as_array().unwrap().iter().map(|row| row["parameters"][&name].to_string()).collect();
        assert!(values.iter().any(|value| value.contains(&one)) && values.iter().any(|value| value.contains(&two)));
    }
}

#[test]
fn plans_run_nothing() {
    let place = Place::new();
    let run = place
        .run(&["--space", "space.json", "--plan", "--seed", "3"], &["./gemm", "x {M}", "{N}", "{way}", "{stages}"]);
    assert!(run.stdout.starts_with("120 configurations of M (5), N (4), stages (3), way (2); "), "{}", run.stdout);
    assert_eq!(run.stdout.lines().filter(|line| line.starts_with("./gemm 'x ")).count(), 5, "{}", run.stdout);
    assert_eq!((run.code, place.runs()), (0, 0));
}

#[test]
fn time_limits_and_interruptions_end_a_search_with_a_result() {
    let place = Place::new();
    place.script("slow", "#!/bin/sh\nsleep 0.1\necho $1\n");
    let options = ["--parameter", "a=1,2,3,4,5,6,7,8", "--parameter", "b=1,2,3,4,5,6,7,8", "--json"];
    let budget = place.run(&[&options[..], &["--budget", "0.01"]].concat(), &["./slow", "{a}", "{b}"]);
    let found = document(&budget);
    assert!(found["best_config"]["runtime_ms"].as_f64().unwrap() >= 100.0, "{found}");
    assert_eq!((budget.code, &found["stopped"]), (0, &json!("budget")), "{found}");
    assert!(found["evaluated_configs"].as_u64().unwrap() < 64, "{found}");
    // Slow enough that it is not finished before it is interrupted, whatever else runs.
    place.script("slower", "#!/bin/sh\nsleep 1\necho $1\n");
    let mut command = place.command(&[&options[..], &["--state", "slow.jsonl"]].concat(), &["./slower", "{a}", "{b}"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = || fs::read_to_string(place.path("slow.jsonl")).map_or(0, |text| text.lines().count());
    assert!(soon(|| lines() >= 4), "results are written");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &found["stopped"]), (Some(5), &json!("interrupted")));
    assert_eq!(lines() as u64, found["runs"].as_u64().unwrap() + 1);
}

#[test]
fn the_wall_measure_prefers_what_ends_sooner() {
    let place = Place::new();
    let run = place.run(&["--parameter", "seconds=0.01,0.3,0.2", "--json", "--repeats", "4"], &["sleep", "{seconds}"]);
    let found = document(&run);
    assert_eq!(
        (&found["best_config"]["parameters"]["seconds"], &found["verdict"]),
        (&json!(0.01), &json!("separated"))
    );
    let time = found["best_config"]["runtime_ms"].as_f64().unwrap();
    assert!((10.0..200.0).contains(&time), "{time}");
}
