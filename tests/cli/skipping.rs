//! Tests that cannot run: they are counted as skipped, never as passed. Unit tests include this file by its path.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::process::Command;
use std::{env, thread};

/// Names the file that gets a line for each test of which something is skipped: `TEST: reason`. `tests/run.sh` prints and counts
/// them.
const LIST: &str = "WAVESIEVE_SKIPPED";
/// At `1`, a test without its tools fails: for machines on which everything has been installed.
const REQUIRED: &str = "WAVESIEVE_REQUIRE_TOOLS";

/// Whether programs are installed. If not, the test that asks is counted as skipped, or fails.
pub(crate) fn has_tools(tools: &[&str]) -> bool {
    let absent = absent(tools);
    if !absent.is_empty() {
        lack(&absent.join(", "));
    }
    absent.is_empty()
}

/// Counts the test that calls this as skipped, as a whole or in part, because something is not installed.
///
/// # Panics
/// Where everything should be.
pub(crate) fn lack(tool: &str) {
    report(&format!("without {tool}"), env::var_os(REQUIRED).as_deref());
}

/// Counts the test that calls this as skipped, as a whole or in part, because this machine or user cannot do it.
pub(crate) fn skip(reason: &str) {
    report(reason, None);
}

fn report(reason: &str, required: Option<&OsStr>) {
    let line = format!("{}: {reason}", thread::current().name().unwrap_or("a test"));
    eprintln!("skipped: {line}");
    if let Err(refusal) = note(&line, env::var_os(LIST).as_deref(), required) {
        panic!("{refusal}");
    }
}

/// Adds a line to the list, once, or says why the test must fail.
pub(crate) fn note(line: &str, list: Option<&OsStr>, required: Option<&OsStr>) -> Result<(), String> {
    if required.is_some_and(|value| value == "1") {
        return Err(format!("{line}; with {REQUIRED}=1 it must be there"));
    }
    let Some(list) = list else { return Ok(()) };
    // A test may ask for a tool several times.
    if fs::read_to_string(list).is_ok_and(|text| text.lines().any(|known| known == line)) {
        return Ok(());
    }
    // One write, because tests run at once.
    let added = OpenOptions::new().create(true).append(true).open(list);
    let added = added.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    added.map_err(|error| format!("{line}; it cannot be added to {}: {error}", list.display()))
}

/// The programs that cannot be started.
pub(crate) fn absent<'a>(tools: &[&'a str]) -> Vec<&'a str> {
    tools.iter().copied().filter(|tool| Command::new(tool).arg("--version").output().is_err()).collect()
}
