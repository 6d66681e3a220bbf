//! Git calls that do not depend on the environment or the settings of the user.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::error::GitError;

/// The author of commits.
const NAME: &str = "wavesieve";
const ADDRESS: &str = "wavesieve@localhost";
/// Overrides for settings that would run programs of the user, write elsewhere, or change the output.
const SETTINGS: [&str; 11] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.logAllRefUpdates=false",
    "core.quotePath=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
];
/// Environment variables: no prompts, nothing fetched, paths without patterns, and no lock of the user's index.
const ENVIRONMENT: [(&str, &str); 10] = [
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_PAGER", "cat"),
    ("GIT_AUTHOR_NAME", NAME),
    ("GIT_AUTHOR_EMAIL", ADDRESS),
    ("GIT_COMMITTER_NAME", NAME),
    ("GIT_COMMITTER_EMAIL", ADDRESS),
];

pub struct Git {
    command: Command,
    task: &'static str,
}

impl Git {
    /// Prepares a call in a folder; `task` names its purpose, after "cannot".
    pub fn new(folder: &Path, task: &'static str) -> Self {
        let mut command = Command::new("git");
        let of_git = std::env::vars_os().map(|(name, _)| name);
        for name in of_git.filter(|name| name.as_encoded_bytes().starts_with(b"GIT_")) {
            command.env_remove(name);
        }
        command.env_remove("LANGUAGE").envs(ENVIRONMENT);
        command.arg("-C").arg(folder).arg("--no-pager");
        command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        // An interruption of this program must not end git in the middle of a reference update.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { command, task }
    }

    pub fn args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(mut self, args: I) -> Self {
        self.command.args(args);
        self
    }

    pub(super) fn index(mut self, index: &Path) -> Self {
        self.command.env("GIT_INDEX_FILE", index);
        self
    }

    /// Treats the folder as outside of any repository, so that settings and filters of a repository do not apply.
    pub(crate) fn without_repository(mut self, folder: &Path) -> Self {
        if let Some(above) = folder.parent() {
            self.command.env("GIT_CEILING_DIRECTORIES", above);
        }
        self
    }

    pub(super) fn stdin(mut self, file: File) -> Self {
        self.command.stdin(file);
        self
    }

    /// Passes bytes to git in a file: a pipe could fill up while git waits for a reader of its output.
    pub(super) fn input(self, bytes: &[u8]) -> Result<Self, GitError> {
        let file = temporary(bytes).map_err(|error| GitError::failed(self.task, error))?;
        Ok(self.stdin(file))
    }

    /// Runs git to its end, whatever its exit code.
    pub fn output(mut self) -> io::Result<Output> {
        self.command.output()
    }

    pub(super) fn run(mut self) -> Result<Vec<u8>, GitError> {
        let output = self.command.output().map_err(|error| GitError::failed(self.task, error))?;
        if output.status.success() { Ok(output.stdout) } else { Err(GitError::failed(self.task, reason_of(&output))) }
    }

    pub(super) fn line(self) -> Result<String, GitError> {
        let task = self.task;
        let text = String::from_utf8(self.run()?).map_err(|error| GitError::failed(task, error))?;
        Ok(text.trim_end().to_owned())
    }

    /// Starts git. The caller reads its output; its messages are dropped.
    pub(super) fn spawn(mut self) -> Result<std::process::Child, GitError> {
        self.command.stderr(Stdio::null()).spawn().map_err(|error| GitError::failed(self.task, error))
    }
}

/// The reason for a failure in the words of git: the line that reports it, or otherwise the last line.
pub fn reason_of(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let said = |line: &&str| line.starts_with("fatal: ") || line.starts_with("error: ");
    let line = text.lines().find(said).or_else(|| text.lines().rfind(|line| !line.trim().is_empty()));
    match line {
        Some(line) => line.trim_start_matches("fatal: ").trim_start_matches("error: ").trim().to_owned(),
        None => format!("git ended with {}", output.status),
    }
}

fn temporary(bytes: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}
