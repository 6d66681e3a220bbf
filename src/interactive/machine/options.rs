//! What a session is started with.

use std::path::PathBuf;

use crate::interactive::sessions::Kind;

/// What a session is started with.
#[derive(Clone, Debug)]
pub(crate) struct LoopOptions {
    pub kind: Kind,
    /// Traces to begin with.
    pub inputs: Vec<PathBuf>,
    /// Folders and files of the program's source.
    pub source_paths: Vec<PathBuf>,
    /// The program and its arguments, after words `KEY=VALUE`.
    pub application: Vec<String>,
    /// Id or path of a session to go on with.
    pub resume: Option<String>,
    /// Commands that build and test the program after an edit.
    pub build: Option<String>,
    pub test: Option<String>,
    /// Patches to try, in this order.
    pub patch: Vec<PathBuf>,
    /// Command of the user's editor.
    pub editor: Option<String>,
    /// Runs of a measurement.
    pub runs: u32,
    /// Measurements after which a session without a person ends.
    pub iterations: Option<u32>,
    /// Seconds that one command may take.
    pub time_limit_s: Option<u64>,
    /// Where traces go, if not into the folder of the session.
    pub trace_dir: Option<PathBuf>,
    /// The first command of rocprofv3, if not the usual one.
    pub profile: Option<String>,
    /// Whether the default answers every question.
    pub yes: bool,
}
