//! Options of a loop.

use std::path::PathBuf;

use super::sessions::SessionKind;

/// Options of a loop.
pub struct LoopOptions {
    /// Whether it starts with traces or with a program.
    pub kind: SessionKind,
    /// Traces to start with.
    pub inputs: Vec<PathBuf>,
    /// Files and folders with source code; the first is where the repository is looked for.
    pub source_paths: Vec<PathBuf>,
    /// The program to profile and its arguments.
    pub application: Vec<String>,
    /// Identifier or path of the session to go on with.
    pub resume: Option<String>,
    /// Builds the program after a change.
    pub build: Option<String>,
    /// Tests the program after a change.
    pub test: Option<String>,
    /// Changes to measure, one after the other.
    pub patch: Vec<PathBuf>,
    /// Opens a file, as $VISUAL and $EDITOR do.
    pub editor: Option<String>,
    /// Runs of each state of the program, if that is asked for.
    pub runs: Option<u32>,
    /// Iterations at most.
    pub iterations: Option<u32>,
    /// Seconds that one command may take.
    pub time_limit_s: Option<u64>,
    /// Where traces go, in place of the folder of the session.
    pub trace_dir: Option<PathBuf>,
    /// The first command, in place of the one that fits the program.
    pub profile: Option<String>,
    /// Whether what would run is only printed.
    pub is_plan: bool,
    /// Whether every question is answered by its default.
    pub yes: bool,
}
