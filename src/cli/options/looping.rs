//! Options of verbs that run a session: the source of answers, measurements, and changes of source code.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;

use super::global::GlobalArguments;
use super::llm::{LlmArguments, check_own};
use crate::cli::command_line::CommandLine;
use crate::cli::exit::{Failure, refuse};
use wavesieve_engine::Registry;
use wavesieve_lab::interactive::LoopOptions;
use wavesieve_lab::interactive::face::{Console, ConsoleOptions, FaceError};
use wavesieve_lab::interactive::machine::{self, MachineError, Tools};
use wavesieve_lab::interactive::sessions::{SessionError, SessionKind, Store};

/// Variables that name an editor; the first one that is set counts.
const EDITORS: [&str; 2] = ["VISUAL", "EDITOR"];

/// Where sessions are.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Session")]
pub(crate) struct StoreArguments {
    /// Directory of sessions [default: $WAVESIEVE_SESSIONS, or wavesieve/sessions below $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "DIR")]
    sessions: Option<PathBuf>,
}

impl StoreArguments {
    pub(crate) fn given(&self) -> Option<&'static str> {
        self.sessions.as_ref().map(|_| "--sessions")
    }

    pub(crate) fn store(&self) -> Result<Store, Failure> {
        Ok(Store::new(self.sessions.clone())?)
    }
}

/// Where answers come from, and where events go.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Session")]
pub(crate) struct FaceArguments {
    /// Answers, one a line, in place of a person: `QUESTION: answer` for that question alone, as events name it, or just the
    /// answer. Lines that begin with # count for nothing. At the end of the file the session is saved and left
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// Take the default answer to every question that --answers leaves open; ask nobody
    #[arg(long)]
    yes: bool,
    /// Append what happens to this file, as JSON lines; - for standard output, and texts then go to standard error
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
}

impl FaceArguments {
    /// Opens the console; it handles Ctrl-C until it is dropped.
    pub(crate) fn console(&self, global: &GlobalArguments) -> Result<Console, Failure> {
        let is_error = self.events.as_ref().is_some_and(|path| path.as_os_str() == "-");
        let (answers, events) = (self.answers.clone(), self.events.clone());
        let color = global.color_of(is_error);
        Ok(Console::open(&ConsoleOptions { answers, yes: self.yes, events, color, quiet: global.quiet })?)
    }

    pub(crate) fn given(&self) -> Option<&'static str> {
        let options = [(self.answers.is_some(), "--answers"), (self.yes, "--yes"), (self.events.is_some(), "--events")];
        options.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }

    /// Returns whether the user is never asked.
    pub(crate) fn yes(&self) -> bool {
        self.yes
    }
}

/// How changes are made and measured.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Changes")]
pub(crate) struct ChangeArguments {
    /// Source code: a directory or file; repeatable. Changes stay below the first directory
    #[arg(long, value_name = "PATH")]
    source_dir: Vec<PathBuf>,
    /// Command that builds the program after a change; what does not build is not measured
    #[arg(long, value_name = "CMD")]
    build: Option<String>,
    /// Command that tests the program after a change; what fails is not measured
    #[arg(long, value_name = "CMD")]
    test: Option<String>,
    /// Unified diff to try as a change; repeatable, one after the other
    #[arg(long, value_name = "FILE")]
    patch: Vec<PathBuf>,
    /// Runs of the program before and after a change [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: Option<u32>,
    /// Seconds that one command may take [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    time_limit: Option<u64>,
    /// Directory for traces [default: a folder of the session]
    #[arg(long, value_name = "DIR")]
    trace_dir: Option<PathBuf>,
}

impl ChangeArguments {
    /// The defaults, with source code.
    pub(crate) fn of_source(source: Option<PathBuf>) -> Self {
        Self { source_dir: source.into_iter().collect(), ..Self::default() }
    }
}

/// Options of a command in addition to the options of all sessions.
#[derive(Debug, Default)]
pub(crate) struct LoopRequest {
    pub kind: SessionKind,
    pub inputs: Vec<PathBuf>,
    pub application: Vec<String>,
    pub resume: Option<String>,
    pub iterations: Option<u32>,
    pub profile: Option<String>,
    pub is_plan: bool,
}

/// Options of all loops.
#[derive(Args, Clone, Debug)]
pub(crate) struct LoopArguments {
    #[command(flatten)]
    changes: ChangeArguments,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    face: FaceArguments,
    #[command(flatten)]
    llm: LlmArguments,
}

impl LoopArguments {
    pub(crate) fn run(
        &self,
        request: LoopRequest,
        registry: &Registry,
        command: &CommandLine<'_>,
        global: &GlobalArguments,
    ) -> Result<u8, Failure> {
        let (changes, face) = (&self.changes, &self.face);
        run_loop(request, changes, &self.store, face, &self.llm, registry, command, global)
    }
}

#[expect(clippy::too_many_arguments, reason = "the groups of options of the verbs that run a loop")]
pub(crate) fn run_loop(
    request: LoopRequest,
    changes: &ChangeArguments,
    store: &StoreArguments,
    face: &FaceArguments,
    llm: &LlmArguments,
    registry: &Registry,
    command: &CommandLine<'_>,
    global: &GlobalArguments,
) -> Result<u8, Failure> {
    let sources = changes.source_dir.iter().map(|path| ("--source-dir", path));
    let patches = changes.patch.iter().map(|path| ("--patch", path));
    if let Some((option, path)) = sources.chain(patches).find(|(_, path)| !path.exists()) {
        refuse!("{option} {} does not exist; name one that does", path.display());
    }
    // Wrong model options are reported before anything is created.
    llm.narrator(global)?;
    let store = store.store()?;
    let mut console = face.console(global)?;
    let narrator = |conversation: &Path| llm.narrator_of_session(conversation, global);
    let check = |words: &[String]| check_own(command, words);
    let tools = Tools { registry, check_own: &check, narrator: &narrator, listener: &(), now: &SystemTime::now };
    let options = LoopOptions {
        kind: request.kind,
        inputs: request.inputs,
        source_paths: changes.source_dir.clone(),
        application: request.application,
        resume: request.resume,
        build: changes.build.clone(),
        test: changes.test.clone(),
        patch: changes.patch.clone(),
        editor: editor(),
        runs: changes.runs,
        iterations: request.iterations,
        time_limit_s: changes.time_limit,
        trace_dir: changes.trace_dir.clone(),
        profile: request.profile,
        is_plan: request.is_plan,
        yes: face.yes(),
    };
    let code = machine::run(&options, &store, &mut console, &tools)?;
    console.finish()?;
    Ok(code)
}

fn editor() -> Option<String> {
    let set = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    EDITORS.into_iter().find_map(set)
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Read { .. } | SessionError::Write { .. } | SessionError::Remove { .. } => {
                Self::Other(error.into())
            }
            other => Self::Usage(other.to_string()),
        }
    }
}

impl From<FaceError> for Failure {
    fn from(error: FaceError) -> Self {
        match error {
            // A closed output is recognized by it.
            FaceError::Output(error) => Self::Other(error.into()),
            FaceError::Input { .. } => Self::Other(error.into()),
            other => Self::Usage(other.to_string()),
        }
    }
}

impl From<MachineError> for Failure {
    fn from(error: MachineError) -> Self {
        match error {
            MachineError::Session(error) => error.into(),
            MachineError::Face(error) => error.into(),
            MachineError::Model(error) => error.into(),
            error if error.is_usage() => Self::Usage(error.to_string()),
            // The failure is its cause, as everywhere else.
            MachineError::Other(error) => Self::Other(error),
            other => Self::Other(other.into()),
        }
    }
}
