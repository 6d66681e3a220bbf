//! Errors of finding and opening inputs; the caller chooses the exit code by the variant.

use thiserror::Error;

/// Failure to find or recognize inputs.
#[derive(Debug, Error)]
pub enum InputError {
    /// A named path or pattern matches nothing.
    #[error(
        "{path}: no such file, directory or match; check the path, and quote patterns only if the shell should not expand them"
    )]
    NoSuchFile {
        /// The path or pattern as given.
        path: String,
    },
    /// An index of databases lists a file that does not exist.
    #[error(
        "{index} lists {file}, which does not exist; restore it, or write the index again with `wavesieve package`"
    )]
    NotListed {
        /// The index.
        index: String,
        /// The missing file, as a path from the current folder.
        file: String,
    },
    /// An address that does not name a dataset. The message has the problem and the fix, and leaves out possible secrets.
    #[error("{0}")]
    Address(String),
    /// No input holds a trace.
    #[error("{}", explain(.reasons))]
    NoTrace {
        /// Path and reason for every inspected input.
        reasons: Vec<(String, String)>,
    },
    /// Every trace among the inputs is too damaged to read.
    #[error("{}", explain(.reasons))]
    Damaged {
        /// Path and cause.
        reasons: Vec<(String, String)>,
    },
    /// Anything else.
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}

fn explain(reasons: &[(String, String)]) -> String {
    match reasons {
        [] => "no trace found; name rocpd or RPD databases, rocprofv3 JSON or CSV files, PyTorch traces, stats_*.csv of --att, workload \
               folders of rocprofiler-compute, directories that hold them, or a dataset"
            .to_owned(),
        [(path, reason)] => format!("{path}: {reason}"),
        many => {
            let lines: Vec<String> = many.iter().map(|(path, reason)| format!("  {path}: {reason}")).collect();
            format!("no trace among the inputs:\n{}", lines.join("\n"))
        }
    }
}
