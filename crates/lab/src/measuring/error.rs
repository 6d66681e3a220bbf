//! Reasons why a program could not be measured.

use std::path::PathBuf;

use thiserror::Error;

use crate::interactive::programs::{End, ProgramError, why};

const LAST_LINES: usize = 12;

/// Reasons why a program could not be measured.
#[derive(Debug, Error)]
pub enum MeasureError {
    /// No valid command could be made.
    #[error(transparent)]
    Command(#[from] ProgramError),
    /// The user interrupted it.
    #[error("the measurement was interrupted")]
    Interrupted,
    /// The program or the profiler failed.
    #[error("cannot measure `{line}`: {}{}", why(end, *limit_s), last_lines(tail))]
    Ended {
        /// The command.
        line: String,
        /// Its end.
        end: End,
        /// The time limit in seconds.
        limit_s: Option<u64>,
        /// The end of its output.
        tail: String,
    },
    /// It ended well, but wrote nothing to read.
    #[error(
        "`{line}` wrote no trace below {}; check that the program runs on a GPU and that its processes end by themselves",
        directory.display()
    )]
    NoTrace {
        /// The command.
        line: String,
        /// Where traces were expected.
        directory: PathBuf,
    },
    /// Nothing ran on a GPU.
    #[error("`{line}` recorded no kernel; check that the program runs on a GPU")]
    NoKernels {
        /// The command.
        line: String,
    },
    /// No kernel has a requested name.
    #[error("no kernel of `{line}` matches `{pattern}`; its kernels are {found}")]
    NoMatch {
        /// The command.
        line: String,
        /// The pattern for names.
        pattern: String,
        /// Some of the existing names.
        found: String,
    },
    /// The traces cannot be read, or cannot be stored.
    #[error("{0:#}")]
    Other(#[from] anyhow::Error),
}

fn last_lines(tail: &str) -> String {
    let lines: Vec<&str> = tail.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.iter().skip(lines.len().saturating_sub(LAST_LINES));
    last.map(|line| format!("\n  {line}")).collect()
}
