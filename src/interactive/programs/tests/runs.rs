//! Programs that run.
#![cfg(unix)]

use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::interactive::programs::child_environment::is_allowed;
use crate::interactive::programs::{End, Ended, Limits, run};

const LIMITS: Limits = Limits { seconds: Some(60), output_bytes: 1 << 20 };

fn shell(script: &str, limits: &Limits, is_interrupted: &dyn Fn() -> bool) -> (Ended, Vec<String>) {
    let words = ["sh", "-c", script].map(ToOwned::to_owned);
    let mut lines = Vec::new();
    let ended = run(&words, &[], Path::new("."), limits, is_interrupted, &mut |line| lines.push(line.to_owned()));
    (ended, lines)
}

fn plain(script: &str) -> (Ended, Vec<String>) {
    shell(script, &LIMITS, &|| false)
}

/// Whether a process does something; those that ended and were not asked for do not.
fn is_alive(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    let state = status.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
    state.is_some_and(|state| !matches!(state, "Z" | "X"))
}

#[test]
fn how_programs_end() {
    let (ended, lines) = plain("echo out; echo err >&2; echo again; exit 3");
    assert_eq!((ended.end, lines.join(" ")), (End::Code(3), "out err again".to_owned()));
    assert_eq!(ended.tail, "out\nerr\nagain\n");
    assert_eq!(plain("kill -SEGV $$").0.end, End::Signal(11));
    let (ended, lines) = plain("true");
    assert_eq!((ended.end, ended.tail.as_str(), lines.len()), (End::Code(0), "", 0));
    let end = |words: &[&str], directory: &str| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        run(&words, &[], Path::new(directory), &LIMITS, &|| false, &mut |_| {}).end
    };
    assert_eq!(end(&["no_such_program_at_all"], "."), End::NotFound);
    assert_eq!(end(&["./no/such"], "."), End::NotFound);
    assert_eq!(end(&[], "."), End::NotFound);
    assert!(matches!(end(&["./Cargo.toml"], "."), End::NotStarted(reason) if reason.contains("may not be executed")));
    assert!(matches!(end(&["true"], "/no/such"), End::NotStarted(reason) if reason.contains("not a directory")));
    // Words are words: no shell sees them.
    let words = ["echo", "a;b $HOME *"].map(ToOwned::to_owned);
    let mut lines = Vec::new();
    run(&words, &[], Path::new("."), &LIMITS, &|| false, &mut |line| lines.push(line.to_owned()));
    assert_eq!(lines, ["a;b $HOME *"]);
}

#[test]
fn lines_of_all_kinds() {
    let (_, lines) = plain(r"printf 'a\r\n\r\nb\rc\n\nd\377e\nlast'");
    assert_eq!(lines, ["a", "", "b", "c", "", "d\u{fffd}e", "last"]);
    let (_, lines) = plain("head -c 40000 /dev/zero | tr '\\0' x");
    assert_eq!(lines.iter().map(String::len).collect::<Vec<_>>(), [16384, 16384, 7232]);
}

#[test]
fn a_lot_of_output() {
    let limits = Limits { seconds: Some(60), output_bytes: 10_000 };
    let (ended, lines) = shell("yes 123456789 | head -n 2000000; echo end; exit 4", &limits, &|| false);
    assert_eq!(ended.end, End::Code(4));
    assert_eq!(lines.len(), 1001);
    assert_eq!(lines.last().unwrap(), "(further output is left out)");
    assert_eq!(ended.tail.len(), 64 << 10);
    assert!(ended.tail.ends_with("123456789\nend\n"));
}

#[test]
fn it_reads_nothing_and_has_its_own_group() {
    let (ended, lines) =
        plain("read x || echo nothing; ps -o pgid= -p $$ 2>/dev/null || cut -d' ' -f5 /proc/$$/stat; echo $$");
    assert_eq!(ended.end, End::Code(0));
    assert_eq!(lines[0], "nothing");
    assert_eq!(lines[1].trim(), lines[2]);
}

#[test]
fn variables_by_list() {
    for name in
        ["PATH", "LC_ALL", "ROCM_PATH", "SLURM_JOB_ID", "ROCPROF_X", "FAKE_ROCPROFV3_KERNELS", "PMIX_RANK", "HF_HOME"]
    {
        assert!(is_allowed(name), "{name}");
    }
    for name in [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "WAVESIEVE_LLM_API_KEY",
        "HF_TOKEN",
        "SLURM_JWT",
        "AWS_SECRET_ACCESS_KEY",
        "CARGO_REGISTRY_TOKEN",
        "LD_PRELOAD",
        "SSH_AUTH_SOCK",
        "WAVESIEVE_SESSIONS",
        "ROCM_PASSWORD",
        "PATHS",
        "hip_key",
    ] {
        assert!(!is_allowed(name), "{name}");
    }
    let words = ["env".to_owned()];
    let set = [("MINE".to_owned(), "a=b c".to_owned()), ("API_KEY".to_owned(), "given".to_owned())];
    let mut lines = Vec::new();
    run(&words, &set, Path::new("."), &LIMITS, &|| false, &mut |line| lines.push(line.to_owned()));
    assert!(lines.contains(&"MINE=a=b c".to_owned()) && lines.contains(&"API_KEY=given".to_owned()));
    let names = lines.iter().filter_map(|line| line.split_once('=')).map(|(name, _)| name);
    // Tests run with many variables of cargo.
    assert!(names.clone().all(|name| ["MINE", "API_KEY", "PWD"].contains(&name) || is_allowed(name)), "{lines:?}");
    assert!(names.clone().any(|name| name == "PATH"));
}

#[test]
fn a_program_that_hangs_is_interrupted_with_its_children() {
    let begin = Instant::now();
    let is_due = || begin.elapsed() > Duration::from_millis(500);
    let (ended, lines) = shell("sleep 100 & echo $!; sleep 100", &LIMITS, &is_due);
    assert_eq!(ended.end, End::Interrupted);
    // A shell lets its background processes ignore SIGINT.
    assert!(begin.elapsed() < Duration::from_secs(9), "{:?}", begin.elapsed());
    assert!(!is_alive(&lines[0]));
    let limits = Limits { seconds: Some(1), output_bytes: 100 };
    let (ended, _) = shell("exec sleep 100", &limits, &|| false);
    assert_eq!(ended.end, End::TimeLimit);
    assert!((1.0..4.0).contains(&ended.seconds), "{}", ended.seconds);
}

#[test]
fn a_program_that_ignores_signals_is_killed_with_its_children() {
    let asked = Cell::new(false);
    let begin = Instant::now();
    let is_due = || begin.elapsed() > Duration::from_millis(300) && !asked.replace(true);
    let script = "trap '' INT TERM; (trap '' INT TERM; while :; do sleep 1; done) & echo $!; while :; do sleep 1; done";
    let (ended, lines) = shell(script, &LIMITS, &is_due);
    assert_eq!(ended.end, End::Interrupted);
    assert!((10.0..14.0).contains(&begin.elapsed().as_secs_f64()), "{:?}", begin.elapsed());
    assert!(!is_alive(&lines[0]));
}

#[test]
fn children_that_are_left_have_a_little_time() {
    let begin = Instant::now();
    let (ended, lines) = plain("(sleep 1; echo late) & exit 6");
    assert_eq!((ended.end, lines.join(" ")), (End::Code(6), "late".to_owned()));
    assert!(begin.elapsed() < Duration::from_secs(4) && ended.seconds < 0.9, "{ended:?}", ended = ended.seconds);
    let begin = Instant::now();
    let (ended, lines) = plain("sleep 100 >/dev/null 2>&1 & echo $!; exit 0");
    assert_eq!(ended.end, End::Code(0));
    assert!((4.9..12.0).contains(&begin.elapsed().as_secs_f64()), "{:?}", begin.elapsed());
    assert!(!is_alive(&lines[0]));
    // One that left the group is not waited for.
    let begin = Instant::now();
    let (ended, lines) = plain("setsid sleep 7 & echo $!; sleep 0.2; exit 0");
    assert_eq!((ended.end, lines.len()), (End::Code(0), 1));
    assert!(begin.elapsed() < Duration::from_secs(5));
}

/// The other half of the test below, which starts it in a process of its own.
#[test]
fn runs_until_it_is_killed() {
    if let Ok(path) = std::env::var("SLURM_TEST_OF_KILLING") {
        let (_, _) = shell(&format!("echo $$ > '{path}'; exec sleep 60"), &LIMITS, &|| false);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_parent_takes_the_program_along() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pid");
    let mut parent = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "interactive::programs::tests::runs::runs_until_it_is_killed"])
        .env("SLURM_TEST_OF_KILLING", &path)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let pid = loop {
        let pid = std::fs::read_to_string(&path).unwrap_or_default();
        if pid.ends_with('\n') {
            break pid;
        }
        assert!(begin.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(is_alive(&pid));
    parent.kill().unwrap();
    parent.wait().unwrap();
    let begin = Instant::now();
    while is_alive(&pid) {
        assert!(begin.elapsed() < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(20));
    }
}
