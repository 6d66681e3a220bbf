//! Where the inputs are, and how the program is run: inside the process of the test, or as a process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

use serde_json::Value;

use crate::cases::EVERY_CASE;

/// A folder that is not there, and that no program can make.
pub const NOWHERE: &str = "/dev/null/none";

/// Output of a run and how it ended.
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Fixtures that are not traces.
pub const NO_TRACES: [&str; 4] = ["capture", "code_object", "kernel_names", "source"];

/// A fixed environment, with neither settings nor sessions of the user.
const ENVIRONMENT: [(&str, &str); 4] =
    [("COLUMNS", "100"), ("NO_COLOR", "1"), ("XDG_CONFIG_HOME", NOWHERE), ("XDG_STATE_HOME", NOWHERE)];
/// Variables that are about the tests. The program takes all others that start like these as settings.
const OF_TESTS: [&str; 7] = [
    EVERY_CASE,
    "WAVESIEVE_DATA",
    "WAVESIEVE_HIP",
    "WAVESIEVE_REQUIRE_TOOLS",
    "WAVESIEVE_SKIPPED",
    "WAVESIEVE_TEST_MODEL",
    TEST_PROCESSES,
];
/// Makes every run a process.
const TEST_PROCESSES: &str = "WAVESIEVE_TEST_PROCESSES";
/// Verbs that start the program again, speak through its standard input, or hand signals on.
const VERBS_OF_PROCESSES: [&str; 5] = ["interactive", "lab", "mcp", "sessions", "workflow"];

/// Gives this process the environment of [`program`] before `main`, while no other thread can read it: runs inside share it.
#[used]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
static PREPARED: extern "C" fn() = prepare;

extern "C" fn prepare() {
    let is_setting = |name: &str| name.starts_with("WAVESIEVE_") && !OF_TESTS.contains(&name);
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_setting(&name.to_string_lossy())) {
        // SAFETY: no other thread exists before `main`.
        unsafe { std::env::remove_var(name) };
    }
    for (name, value) in ENVIRONMENT {
        // SAFETY: no other thread exists before `main`.
        unsafe { std::env::set_var(name, value) };
    }
}

/// The binary in the project's root with a fixed environment, for a process of its own.
pub fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wavesieve"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).envs(ENVIRONMENT);
    for name in OF_TESTS {
        command.env_remove(name);
    }
    command
}

/// Runs the program in the project's root with a fixed environment: inside this process, unless the run sets up a whole process.
pub fn run(arguments: &[&str]) -> Run {
    if needs_process(arguments) {
        return finish(program(arguments));
    }
    let outcome = wavesieve::run_in_process(arguments.iter().copied());
    Run { code: outcome.code.into(), stdout: output(outcome.stdout), stderr: messages(outcome.stderr) }
}

/// Whether a run does what the process of a test cannot do for it: pools of threads have their size for as long as a process lives.
fn needs_process(arguments: &[&str]) -> bool {
    let verb = arguments.iter().find(|word| !word.starts_with('-'));
    std::env::var_os(TEST_PROCESSES).is_some()
        || verb.is_some_and(|verb| VERBS_OF_PROCESSES.contains(verb))
        || arguments.iter().any(|word| word.starts_with("--threads") || is_open_file(word))
}

/// Whether a name is that of a file which a process has open: an output of it is not seen inside another process.
fn is_open_file(name: &str) -> bool {
    ["/dev/std", "/dev/fd/", "/proc/self/fd/"].iter().any(|folder| name.starts_with(folder))
}

/// Runs a command to its end, as a process.
pub fn finish(mut command: Command) -> Run {
    let ended: Output = command.output().expect("the binary runs");
    let code = ended.status.code().expect("the binary ends by itself");
    Run { code, stdout: output(ended.stdout), stderr: messages(ended.stderr) }
}

fn output(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("the output is UTF-8")
}

fn messages(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("the messages are UTF-8")
}

/// Runs the program and expects success.
pub fn succeed(arguments: &[&str]) -> String {
    let run = run(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
    run.stdout
}

/// The records of an answer.
pub fn records(arguments: &[&str]) -> Vec<Value> {
    let arguments = [arguments, &["-f", "json"]].concat();
    serde_json::from_str(&succeed(&arguments)).expect("the answer is a JSON array")
}

/// The rows of a statement as lines of CSV, without the header.
pub fn sql_lines(sql: &str, input: &Path) -> Vec<String> {
    let text = succeed(&["sql", "-q", sql, input.to_str().unwrap(), "-f", "csv"]);
    text.lines().skip(1).map(str::to_owned).collect()
}

/// Writes a file into a folder that is made for it.
pub fn write_file(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A single integer of an answer to ad-hoc SQL.
pub fn number(sql: &str, input: &str) -> i64 {
    let records = records(&["sql", sql, input]);
    records[0].as_object().and_then(|record| record.values().next()).and_then(Value::as_i64).expect("one integer")
}

/// A real trace. A test that asks for one is ignored where `build.rs` found none, so that it never passes without.
///
/// # Panics
/// When the trace is absent.
pub fn real(name: &str) -> String {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let root = std::env::var_os("WAVESIEVE_DATA").map_or(default, PathBuf::from);
    let path = root.join(name);
    assert!(path.exists(), "{} is absent: the traces in WAVESIEVE_DATA are not complete", path.display());
    path.to_string_lossy().into_owned()
}

/// Every file below a directory with its size, in order.
pub fn listing(directory: &Path) -> Vec<(PathBuf, u64)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).expect("the directory is there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(listing(&path));
        } else {
            let size = path.metadata().expect("a file").len();
            files.push((path, size));
        }
    }
    files.sort();
    files
}

/// The files of a directory, with what is in them.
pub fn content(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = listing(directory).into_iter();
    files.map(|(path, _)| (path.strip_prefix(directory).unwrap().to_owned(), fs::read(&path).unwrap())).collect()
}

/// Gives a file another time.
pub fn touch(path: &Path) {
    fs::File::options().append(true).open(path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
}
