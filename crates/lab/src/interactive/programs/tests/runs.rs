//! Programs that run.
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::interactive::programs::child_environment::is_allowed;
use crate::interactive::programs::run::{GRACE, run_by};
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

/// Maximum time to wait for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// A clock that the test advances: nothing due later can happen early.
struct Clock {
    begin: Instant,
    passed: Cell<Duration>,
}

impl Clock {
    fn new() -> Self {
        Self { begin: Instant::now(), passed: Cell::default() }
    }

    fn now(&self) -> Instant {
        assert!(self.begin.elapsed() < PATIENCE, "what the test waits for does not happen");
        self.begin + self.passed.get()
    }

    fn pass(&self, time: Duration) {
        self.passed.set(self.passed.get() + time);
    }
}

/// Runs a script in a folder with a given clock.
fn shell_by(
    now: &dyn Fn() -> Instant,
    folder: &Path,
    script: &str,
    limits: &Limits,
    is_interrupted: &dyn Fn() -> bool,
    on_line: &mut dyn FnMut(&str),
) -> Ended {
    run_by(now, &["sh", "-c", script].map(ToOwned::to_owned), &[], folder, limits, is_interrupted, on_line)
}

/// Returns whether a process has ended and was reaped.
fn is_reaped(pid: &str) -> bool {
    !Path::new("/proc").join(pid.trim()).exists()
}

/// Returns whether a process is running; zombies are not.
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
    assert_eq!(end(&["no_such_program_at_all"], "."), End::NotFound("no_such_program_at_all".to_owned()));
    assert_eq!(end(&["./no/such"], "."), End::NotFound("./no/such".to_owned()));
    assert_eq!(end(&[], "."), End::NotFound(String::new()));
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
    let (clock, lines) = (Clock::new(), RefCell::new(Vec::new()));
    // A shell lets its background processes ignore SIGINT, and reports processes that a signal ends on standard error.
    let script = "exec 2>/dev/null
        (trap 'echo child TERM; exit' TERM; echo child ready; while :; do sleep 0.1; done) &
        trap 'echo parent INT; exit' INT; echo $!; wait";
    let mut on_line = |line: &str| {
        lines.borrow_mut().push(line.to_owned());
        if line == "parent INT" {
            clock.pass(GRACE);
        }
    };
    let is_due = || lines.borrow().len() == 2;
    let ended = shell_by(&|| clock.now(), Path::new("."), script, &LIMITS, &is_due, &mut on_line);
    assert_eq!((ended.end, clock.passed.get()), (End::Interrupted, GRACE));
    let lines = lines.into_inner();
    assert_eq!(lines[2..], ["parent INT", "child TERM"]);
    let child = lines.iter().find(|line| line.parse::<u32>().is_ok()).unwrap();
    assert!(!is_alive(child));
}

#[test]
fn a_program_runs_until_its_time_limit_and_no_longer() {
    let (clock, polls) = (Clock::new(), Cell::new(0));
    let limits = Limits { seconds: Some(1), output_bytes: 100 };
    let is_interrupted = || {
        // Checks at a moment before the limit end nothing.
        if !clock.passed.get().is_zero() {
            polls.set(polls.get() + 1);
        }
        if polls.get() == 5 {
            clock.pass(Duration::from_millis(1));
        }
        false
    };
    let mut on_line = |_: &str| clock.pass(Duration::from_millis(999));
    let script = "echo ready; exec sleep 100";
    let ended = shell_by(&|| clock.now(), Path::new("."), script, &limits, &is_interrupted, &mut on_line);
    assert_eq!((ended.end, ended.seconds), (End::TimeLimit, 1.0));
}

#[test]
fn a_program_that_ignores_signals_is_killed_with_its_children() {
    let (clock, lines) = (Clock::new(), RefCell::new(Vec::new()));
    let script = "exec 2>/dev/null; trap 'echo parent INT' INT; trap 'echo parent TERM' TERM
        (trap 'echo child TERM' TERM; echo child ready; while :; do sleep 0.1; done) &
        echo $!; while :; do sleep 0.1; done";
    let mut on_line = |line: &str| {
        let mut lines = lines.borrow_mut();
        lines.push(line.to_owned());
        let terminated = lines.iter().filter(|line| line.ends_with("TERM")).count();
        if line == "parent INT" || line.ends_with("TERM") && terminated == 2 {
            clock.pass(GRACE);
        }
    };
    let is_due = || lines.borrow().len() == 2;
    let ended = shell_by(&|| clock.now(), Path::new("."), script, &LIMITS, &is_due, &mut on_line);
    assert_eq!((ended.end, ended.seconds), (End::Interrupted, (2 * GRACE).as_secs_f64()));
    let mut lines = lines.into_inner();
    lines[3..].sort();
    assert_eq!(lines[2..], ["parent INT", "child TERM", "parent TERM"]);
    let child = lines.iter().find(|line| line.parse::<u32>().is_ok()).unwrap();
    assert!(!is_alive(child));
}

#[test]
fn children_that_are_left_may_still_say_something() {
    let (clock, lines, folder) = (Clock::new(), RefCell::new(Vec::new()), tempfile::tempdir().unwrap());
    let go = folder.path().join("go");
    let script = "(until [ -e go ]; do sleep 0.02; done; echo late) & echo $$; exit 6";
    let mut on_line = |line: &str| lines.borrow_mut().push(line.to_owned());
    let is_interrupted = || {
        let has_ended = lines.borrow().first().is_some_and(|pid| is_reaped(pid));
        if has_ended && !go.exists() {
            clock.pass(Duration::from_secs(1));
            std::fs::write(&go, "").unwrap();
        }
        false
    };
    let ended = shell_by(&|| clock.now(), folder.path(), script, &LIMITS, &is_interrupted, &mut on_line);
    // Its own time excludes the time of its children.
    assert_eq!((ended.end, ended.seconds, clock.passed.get().as_secs()), (End::Code(6), 0.0, 1));
    assert_eq!(lines.into_inner()[1..], ["late"]);
}

#[test]
fn children_that_are_left_are_ended_after_a_while() {
    let (clock, lines, folder) = (Clock::new(), RefCell::new(Vec::new()), tempfile::tempdir().unwrap());
    let at = |name: &str| folder.path().join(name);
    let script = "(trap 'echo > term; exit' TERM; echo > ready; while :; do sleep 0.1; done) >/dev/null 2>&1 &
        echo $$; echo $!; exit 0";
    let (polls, almost) = (Cell::new(0), GRACE.checked_sub(Duration::from_millis(1)).unwrap());
    let mut on_line = |line: &str| lines.borrow_mut().push(line.to_owned());
    let is_interrupted = || {
        let has_ended = lines.borrow().first().is_some_and(|pid| is_reaped(pid));
        if has_ended && at("ready").exists() {
            polls.set(polls.get() + 1);
        }
        match polls.get() {
            1 => clock.passed.set(almost),
            5 => clock.passed.set(GRACE),
            _ => {}
        }
        // One more, because the clock is read first.
        assert!(polls.get() < 7, "it is not ended when it is time");
        false
    };
    let now = || {
        // It ignores SIGINT, which is sent in the first seconds. SIGTERM ends it, so SIGKILL is never due.
        if clock.passed.get() >= GRACE {
            clock.passed.set((clock.passed.get() + Duration::from_secs(1)).min(3 * GRACE));
        }
        clock.now()
    };
    let ended = shell_by(&now, folder.path(), script, &LIMITS, &is_interrupted, &mut on_line);
    assert_eq!((ended.end, ended.seconds, polls.get()), (End::Code(0), 0.0, 6));
    assert!(at("term").exists() && !is_alive(&lines.into_inner()[1]));
}

#[test]
fn children_that_left_the_group_are_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let script = "setsid sh -c 'echo $$; : > away; exec sleep 300' & until [ -e away ]; do sleep 0.01; done; exit 0";
    let mut lines = Vec::new();
    let mut on_line = |line: &str| lines.push(line.to_owned());
    let ended = shell_by(&Instant::now, folder.path(), script, &LIMITS, &|| false, &mut on_line);
    assert_eq!((ended.end, lines.len()), (End::Code(0), 1));
    assert!(is_alive(&lines[0]), "it goes on by itself");
    assert!(Command::new("kill").arg(&lines[0]).status().unwrap().success());
}

/// Starts this test in a separate process, which is the parent to kill.
#[test]
fn a_killed_parent_takes_the_program_along() {
    const PARENT: &str = "SLURM_TEST_OF_KILLING";
    if let Ok(path) = std::env::var(PARENT) {
        let (ended, _) = shell(&format!("echo $$ > '{path}'; exec sleep 300"), &LIMITS, &|| false);
        panic!("the program ends before its parent: {:?}", ended.end);
    }
    let soon = |holds: &dyn Fn() -> bool| {
        let begin = Instant::now();
        while !holds() && begin.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(20));
        }
        holds()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pid");
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", std::thread::current().name().unwrap()])
        .env(PARENT, &path)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let pid = || std::fs::read_to_string(&path).unwrap_or_default();
    assert!(soon(&|| pid().ends_with('\n')), "the parent starts the program");
    assert!(is_alive(&pid()));
    parent.kill().unwrap();
    parent.wait().unwrap();
    assert!(soon(&|| !is_alive(&pid())), "the program goes on without its parent");
}
