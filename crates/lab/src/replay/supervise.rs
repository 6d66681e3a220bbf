//! A replay in a separate process, which may crash or hang.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::outcome::{Outcome, Status};
use super::request::Request;
use crate::interactive::programs::{End, Limits, run};
use wavesieve_agent::child::program;
use wavesieve_files::regular::{self, LARGE_BYTES};

/// Maximum bytes of the process's output that are passed on.
const MOST_OUTPUT: u64 = 1 << 20;
const REPEATED: usize = 5;

/// Limits of a replay.
pub struct Supervision<'a> {
    /// Time limit in seconds.
    pub seconds: u64,
    /// Maximum number of processes to start while an address is taken: each process has another address layout.
    pub attempts: u32,
    /// Variables to set for it.
    pub environment: &'a [(String, String)],
    pub is_interrupted: &'a dyn Fn() -> bool,
}

/// Replays a capture in a new process.
///
/// # Errors
/// When no process can get its task. Failures inside the process are outcomes.
pub fn replay(request: &Request, supervision: &Supervision<'_>, on_line: &mut dyn FnMut(&str)) -> Result<Outcome> {
    let mut attempt = 1;
    loop {
        let mut outcome = replay_once(request, supervision, on_line)?;
        if outcome.status != Status::Taken || attempt >= supervision.attempts {
            if attempt > 1 {
                outcome.notes.push(format!(
                    "an address was taken in {} of {attempt} attempts",
                    attempt - u32::from(outcome.status != Status::Taken)
                ));
            }
            return Ok(outcome);
        }
        attempt += 1;
    }
}

fn replay_once(request: &Request, supervision: &Supervision<'_>, on_line: &mut dyn FnMut(&str)) -> Result<Outcome> {
    let directory = tempfile::tempdir().context("cannot make a temporary directory")?;
    let task = directory.path().join("request.json");
    let answer = answer_path(&task);
    let here = std::env::current_dir().context("cannot find the current directory")?;
    std::fs::write(&task, serde_json::to_vec(request)?).with_context(|| format!("cannot write {}", task.display()))?;
    let program = program().context("cannot find this program")?;
    let words = [program.as_path(), Path::new("lab"), Path::new("replay"), Path::new("--worker"), &task];
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let limits = Limits { seconds: Some(supervision.seconds), output_bytes: MOST_OUTPUT };
    let ended = run(&words, supervision.environment, &here, &limits, supervision.is_interrupted, on_line);
    let given =
        regular::read(&answer, LARGE_BYTES).ok().and_then(|bytes| serde_json::from_slice::<Outcome>(&bytes).ok());
    let reason = match ended.end {
        End::Code(0) => "the process that replays ended without an answer".to_owned(),
        End::Code(code) => format!("the process that replays ended with code {code}"),
        End::Signal(number) => {
            format!("the process that replays was ended by signal {number}: the runtime or the kernel crashed")
        }
        End::TimeLimit => {
            format!("the replay did not end within {} s; give more with --time-limit", supervision.seconds)
        }
        End::Interrupted => "interrupted".to_owned(),
        End::NotFound(_) => format!("cannot start {}", program.display()),
        End::NotStarted(reason) => reason,
    };
    if let Some(outcome) = given {
        return Ok(outcome);
    }
    let lines: Vec<&str> = ended.tail.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(REPEATED)..).unwrap_or_default();
    let message = if last.is_empty() { reason } else { format!("{reason}; its last output: {}", last.join(" | ")) };
    Ok(Outcome {
        capture: request.capture.clone(),
        status: Status::Failed,
        message: Some(message),
        ..Outcome::default()
    })
}

/// The path of the answer to a task.
pub fn answer_path(task: &Path) -> PathBuf {
    task.with_extension("answer.json")
}
