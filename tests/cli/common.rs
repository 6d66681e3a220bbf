//! Where the inputs are, and how the binary is run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

use serde_json::Value;

/// A folder that is not there, and that no program can make.
pub const NOWHERE: &str = "/dev/null/none";

/// What a run printed and how it ended.
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Fixtures that are no traces.
pub const NO_TRACES: [&str; 3] = ["capture", "code_object", "source"];

/// The binary in the project's root with a fixed environment, and neither settings nor sessions of the user.
pub fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wavesieve"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).env("COLUMNS", "100").env("NO_COLOR", "1");
    command.env("XDG_CONFIG_HOME", NOWHERE).env("XDG_STATE_HOME", NOWHERE);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("WAVESIEVE_")) {
        command.env_remove(name);
    }
    command
}

/// Runs the binary in the project's root with a fixed environment.
pub fn run(arguments: &[&str]) -> Run {
    finish(program(arguments))
}

/// Runs a command to its end.
pub fn finish(mut command: Command) -> Run {
    let output: Output = command.output().expect("the binary runs");
    Run {
        code: output.status.code().expect("the binary ends by itself"),
        stdout: String::from_utf8(output.stdout).expect("the output is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("the messages are UTF-8"),
    }
}

/// Runs the binary and expects success.
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
