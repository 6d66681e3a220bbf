//! Options of a session.

use std::path::PathBuf;

use super::sessions::SessionKind;

/// Options of a session.
pub struct LoopOptions {
    /// Whether the session starts with traces or with a program.
    pub kind: SessionKind,
    /// Traces to start with.
    pub inputs: Vec<PathBuf>,
    /// Files and folders with source code; the first one determines the repository.
    pub source_paths: Vec<PathBuf>,
    /// The program to profile and its arguments.
    pub application: Vec<String>,
    /// Identifier or path of the session to resume.
    pub resume: Option<String>,
    /// The command that builds the program after a change.
    pub build: Option<String>,
    /// The command that tests the program after a change.
    pub test: Option<String>,
    /// Patch files with changes to measure, one after the other.
    pub patch: Vec<PathBuf>,
    /// The editor command, from $VISUAL or $EDITOR.
    pub editor: Option<String>,
    /// Runs of each state of the program; `None` for the default.
    pub runs: Option<u32>,
    /// Maximum number of iterations.
    pub iterations: Option<u32>,
    /// Seconds that one command may take.
    pub time_limit_s: Option<u64>,
    /// The folder for traces, in place of the session's folder.
    pub trace_dir: Option<PathBuf>,
    /// The first command, in place of the default for the program.
    pub profile: Option<String>,
    /// Whether commands are only printed.
    pub is_plan: bool,
    /// Whether every question gets its default answer.
    pub yes: bool,
}
