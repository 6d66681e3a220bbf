//! Starts or resumes a session.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::json;

use super::driver::{Machine, Tools};
use super::error::{Halt, MachineError};
use super::measure::has_times;
use super::model::narrator;
use super::state::{Phase, Plan, State};
use crate::interactive::LoopOptions;
use crate::interactive::checkpoints::Repository;
use crate::interactive::face::{Choice, Console, Level, Question, Reply};
use crate::interactive::programs::{Application, Profiling};
use crate::interactive::sessions::{EntryKind, Session, SessionKind, SessionLock, Store};

/// Default number of runs of a measurement.
const RUNS: u32 = 3;
/// Maximum number of sessions of the same folder that are offered.
const OFFERED: usize = 9;
/// The exit code if parts of a trace could not be read.
const PARTIAL: u8 = 5;
/// The exit code after Ctrl-C, the same as in shells.
const INTERRUPTED: u8 = 130;

/// Runs a session until it ends or the user leaves it. Returns the exit code.
///
/// # Errors
/// When the options cannot be used, or the session cannot continue; it is saved then.
pub fn run(options: &LoopOptions, store: &Store, face: &mut Console, tools: &Tools<'_>) -> Result<u8, MachineError> {
    if options.is_plan {
        return planned(options, store, face);
    }
    let old = match &options.resume {
        Some(id) => Some(id.clone()),
        None => offered(options, store, face)?,
    };
    let (session, lock, is_resumed) = match old {
        Some(id) => {
            let (session, lock) = taken_up(&id, store, tools)?;
            (session, lock, true)
        }
        None => {
            let (session, lock) = created(options, store, tools)?;
            (session, lock, false)
        }
    };
    face.set_session(&session.session_id);
    let session = with_source(session, options, face)?;
    let session = if is_resumed { with_inputs(session, options)? } else { session };
    let state = state(&session, options, is_resumed)?;
    let application = Application::of_words(session.application.clone());
    let work = store.work_directory(&session.session_id);
    let narrator = narrator(tools, &work)?;
    let mut machine = Machine {
        narrator,
        repository: None,
        analyzed: None,
        yes: options.yes,
        face,
        store,
        tools,
        session,
        state,
        application,
        _lock: lock,
    };
    machine.open_repository();
    machine.save()?;
    let fields = json!({
        "session": machine.session.session_id,
        "kind": machine.session.kind,
        "resumed": is_resumed,
        "phase": machine.state.phase,
    });
    machine.event("session", fields);
    machine.say(Level::Note, format!("session {}", machine.session.session_id));
    let result = machine.run();
    machine.end(result)
}

fn planned(options: &LoopOptions, store: &Store, face: &mut Console) -> Result<u8, MachineError> {
    check_commands(options)?;
    let application = Application::of_words(options.application.clone());
    let here = std::env::current_dir().map_err(anyhow::Error::from)?;
    let id = store.create(options.kind, &here, SystemTime::now()).session_id;
    let directory = options.trace_dir.clone().unwrap_or_else(|| store.work_directory(&id).join("traces"));
    let command = match &options.profile {
        Some(line) => Profiling::of_line(line, &application, &directory)?,
        None => Profiling::first(&application, &directory),
    };
    let runs = if has_times(&command) { options.runs.unwrap_or(RUNS) } else { 1 };
    let mut rows = vec![
        ("application", application.line()),
        ("kind", application.kind.description().to_owned()),
        ("command", command.line()),
        ("runs", runs.to_string()),
    ];
    rows.extend(options.build.iter().map(|line| ("build", line.clone())));
    rows.extend(options.test.iter().map(|line| ("test", line.clone())));
    rows.extend(options.patch.iter().map(|path| ("patch", path.display().to_string())));
    for (name, value) in rows {
        face.say(Level::Text, &format!("{name}: {value}"));
    }
    Ok(0)
}

/// Rejects commands that cannot be run before any of them runs.
fn check_commands(options: &LoopOptions) -> Result<(), MachineError> {
    let application = Application::of_words(options.application.clone());
    for line in options.build.iter().chain(&options.test) {
        Application::of_line(line).map_err(|error| MachineError::Usage(error.to_string()))?;
    }
    if let Some(line) = &options.profile {
        let command = Profiling::of_line(line, &application, Path::new("traces"));
        command.map_err(|error| MachineError::Usage(error.to_string()))?;
    }
    Ok(())
}

/// A new session. Its paths do not depend on the folder from which it is resumed.
fn created(options: &LoopOptions, store: &Store, tools: &Tools<'_>) -> Result<(Session, SessionLock), MachineError> {
    let here = std::env::current_dir().map_err(anyhow::Error::from)?;
    let absolute = |path: &Path| path.canonicalize().unwrap_or_else(|_| here.join(path));
    if options.kind == SessionKind::Workflow && options.application.is_empty() {
        return Err(MachineError::Usage("no application is named; write it after `--`".to_owned()));
    }
    check_paths(options)?;
    check_commands(options)?;
    let mut sources: Vec<PathBuf> = options.source_paths.iter().map(|path| absolute(path)).collect();
    if let Some(lost) = options.source_paths.iter().find(|path| !path.exists()) {
        return Err(MachineError::Usage(format!("--source-dir {} does not exist; check the path", lost.display())));
    }
    if sources.is_empty() && options.kind == SessionKind::Workflow {
        sources.push(here.clone());
    }
    let root = match sources.first() {
        Some(source) if source.is_dir() => source.clone(),
        Some(source) => source.parent().map_or_else(|| here.clone(), Path::to_owned),
        None => here.clone(),
    };
    let (mut session, lock) = store.begin(options.kind, &root, (tools.now)())?;
    session.source_paths = sources;
    session.inputs = options.inputs.iter().map(|path| absolute(path)).collect();
    session.application.clone_from(&options.application);
    Ok((session, lock))
}

/// Rejects inputs and patches that do not exist, before a session is made or changed.
fn check_paths(options: &LoopOptions) -> Result<(), MachineError> {
    match options.inputs.iter().find(|path| !is_there(path)).or(options.patch.iter().find(|path| !path.exists())) {
        Some(path) => Err(MachineError::Usage(format!("{} does not exist; check the path", path.display()))),
        None => Ok(()),
    }
}

/// Returns whether a path exists, or any path matches the pattern.
pub fn is_there(path: &Path) -> bool {
    path.exists() || glob::glob(&path.to_string_lossy()).is_ok_and(|mut found| found.next().is_some())
}

/// The session with newly named inputs, if any. They are analyzed instead of the earlier ones.
fn with_inputs(session: Session, options: &LoopOptions) -> Result<Session, MachineError> {
    check_paths(options)?;
    if options.inputs.is_empty() {
        return Ok(session);
    }
    if session.kind == SessionKind::Workflow {
        let text = "session {} measures a program, and takes no INPUT; leave it out, or begin a new session";
        return Err(MachineError::Usage(text.replace("{}", &session.session_id)));
    }
    let here = std::env::current_dir().map_err(anyhow::Error::from)?;
    let inputs = options.inputs.iter().map(|path| path.canonicalize().unwrap_or_else(|_| here.join(path))).collect();
    Ok(Session { inputs, ..session })
}

/// A resumed session. A session of another program gets a new id here, and its file stays unchanged.
fn taken_up(id: &str, store: &Store, tools: &Tools<'_>) -> Result<(Session, SessionLock), MachineError> {
    let (_, is_other) = store.find(id)?;
    let session = store.load(id)?;
    if session.kind == SessionKind::Workflow && session.application.is_empty() {
        return Err(MachineError::Usage(format!("session {id} names no application; begin a new one")));
    }
    if !is_other && session.format > 0 {
        let lock = store.lock(&session.session_id)?;
        // Another process may have saved a later state before it released the session.
        return Ok((store.load(id)?, lock));
    }
    let (own, lock) = store.begin(session.kind, &session.root, (tools.now)())?;
    let taken = Session {
        session_id: own.session_id,
        created_at: own.created_at,
        // The last analyzed inputs are analyzed again.
        inputs: match session.inputs.is_empty() {
            true => session
                .history
                .iter()
                .rev()
                .map(|entry| entry.db_paths.clone())
                .find(|paths| !paths.is_empty())
                .unwrap_or_default(),
            false => session.inputs.clone(),
        },
        last_updated: own.last_updated,
        format: own.format,
        // The next step of the other program is unknown.
        state: serde_json::Value::Null,
        ..session
    };
    Ok((taken, lock))
}

/// The session with newly named source files, if any. Reports a source folder that is gone.
fn with_source(session: Session, options: &LoopOptions, face: &mut Console) -> Result<Session, MachineError> {
    let here = std::env::current_dir().map_err(anyhow::Error::from)?;
    let mut session = session;
    if options.resume.is_some() && !options.source_paths.is_empty() {
        let absolute = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| here.join(path));
        session.source_paths = options.source_paths.iter().map(absolute).collect();
        if !session.root.is_dir()
            && let Some(first) = session.source_paths.first().filter(|path| path.is_dir())
        {
            session.root.clone_from(first);
        }
    }
    if session.root.is_dir() {
        return Ok(session);
    }
    let lost = session.root.display();
    let text = format!("the source folder {lost} of the session is not there; name one with --source-dir");
    if session.kind == SessionKind::Workflow {
        return Err(MachineError::Usage(text));
    }
    face.say(Level::Warning, &text);
    session.root = here;
    Ok(session)
}

/// Offers sessions of the same folder to continue.
fn offered(options: &LoopOptions, store: &Store, face: &mut Console) -> Result<Option<String>, MachineError> {
    if options.kind == SessionKind::Workflow || options.yes {
        return Ok(None);
    }
    let Some(source) = options.source_paths.first() else { return Ok(None) };
    let root = source.canonicalize().unwrap_or_else(|_| source.clone());
    let mut sessions: Vec<Session> =
        store.of_root(&root).into_iter().filter(|session| session.kind == SessionKind::Interactive).collect();
    sessions.truncate(OFFERED);
    if sessions.is_empty() {
        return Ok(None);
    }
    let rows: Vec<Vec<String>> = sessions
        .iter()
        .enumerate()
        .map(|(place, session)| {
            let runs = session.history.iter().filter(|entry| entry.kind == EntryKind::ProfilingRun).count();
            vec![
                (place + 1).to_string(),
                session.session_id.clone(),
                runs.to_string(),
                (session.history.len() - runs).to_string(),
                session.persistent_menu_items.len().to_string(),
            ]
        })
        .collect();
    face.table(&["", "session", "runs", "changes", "findings"], &rows);
    let mut choices: Vec<Choice> =
        (1..=sessions.len()).map(|number| Choice::new(number.to_string(), "go on with this session")).collect();
    choices.push(Choice::new("n", "a new session"));
    let question = Question {
        id: "resume",
        text: "Sessions of this folder".to_owned(),
        choices,
        default: Some("n".to_owned()),
        is_long: false,
    };
    let mut refused: Option<String> = None;
    loop {
        let answer = match (face.ask(&question)?, refused.take()) {
            (Reply::Line(answer), _) => answer,
            (Reply::End, Some(text)) => {
                return Err(MachineError::Usage(format!("{text}, and no other answer follows")));
            }
            (Reply::End | Reply::Interrupted, _) => return Ok(None),
        };
        let answer = answer.trim().to_lowercase();
        let place = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let chosen = place.and_then(|place| sessions.get(place)).map(|session| session.session_id.clone());
        if chosen.is_some() || answer == "n" {
            return Ok(chosen);
        }
        let keys: Vec<&str> = question.choices.iter().map(|choice| choice.key.as_str()).collect();
        let text = format!("{answer:?} is none of the answers; type {}", keys.join(", "));
        face.say(Level::Warning, &text);
        refused = Some(text);
    }
}

/// The state of a session. Newly named options take precedence in a resumed session.
fn state(session: &Session, options: &LoopOptions, is_resumed: bool) -> Result<State, MachineError> {
    let mut state = State::read(&session.state).map_err(|error| {
        MachineError::Usage(format!(
            "the state of session {} cannot be read: {error}; export it with `wavesieve sessions export`, and begin a new one",
            session.session_id
        ))
    })?;
    let here = std::env::current_dir().map_err(anyhow::Error::from)?;
    let absolute = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| here.join(path));
    let named = Plan {
        build: options.build.clone(),
        test: options.test.clone(),
        editor: options.editor.clone(),
        patches: options.patch.iter().map(absolute).collect(),
        runs: options.runs.unwrap_or(RUNS),
        iterations: options.iterations,
        time_limit_s: options.time_limit_s,
        trace_dir: options.trace_dir.as_ref().map(absolute),
        profile: options.profile.clone(),
        folder: here.clone(),
    };
    if !is_resumed {
        state.plan = named;
        return Ok(state);
    }
    let plan = &mut state.plan;
    plan.build = named.build.or_else(|| plan.build.take());
    plan.test = named.test.or_else(|| plan.test.take());
    plan.editor = named.editor.or_else(|| plan.editor.take());
    plan.iterations = named.iterations.or(plan.iterations);
    plan.time_limit_s = named.time_limit_s.or(plan.time_limit_s);
    plan.trace_dir = named.trace_dir.or_else(|| plan.trace_dir.take());
    plan.profile = named.profile.or_else(|| plan.profile.take());
    plan.patches.extend(named.patches);
    if !plan.folder.is_dir() {
        plan.folder = named.folder;
    }
    plan.runs = match options.runs {
        Some(runs) => runs,
        None if plan.runs == 0 => named.runs,
        None => plan.runs,
    };
    // Newly named inputs are analyzed, unless a step is under way.
    if !options.inputs.is_empty() && matches!(state.phase, Phase::Menu | Phase::Finished) {
        state.phase = Phase::Confirm;
    }
    if state.phase == Phase::Finished {
        // A program that was never measured is confirmed again: there is nothing to compare with.
        let is_begun = session.kind == SessionKind::Interactive || !state.measurements.is_empty();
        state.phase = if is_begun { Phase::Menu } else { Phase::Confirm };
    }
    Ok(state)
}

impl Machine<'_> {
    /// Opens the repository of the source. Without one there are no commits, but checkpoints still keep their texts.
    fn open_repository(&mut self) {
        let folder = self.session.repository.clone().unwrap_or_else(|| self.session.root.clone());
        match Repository::open(&folder) {
            Ok(repository) => {
                self.session.repository = Some(repository.root().to_owned());
                if self.state.baseline_commit.is_none() {
                    self.state.baseline_commit = repository.head().ok();
                }
                if let Ok(Some(highest)) = repository.highest(&self.session.session_id) {
                    self.state.next_checkpoint = self.state.next_checkpoint.max(highest + 1);
                }
                self.repository = Some(repository);
            }
            Err(reason) => self.say(Level::Note, format!("checkpoints have no commits: {reason}")),
        }
    }

    /// Rebuilds the program if its files were reverted since the last build, or warns that the build does not match
    /// them.
    fn leave_built(&mut self, result: &Result<(), Halt>) {
        if !self.state.is_stale {
            return;
        }
        let is_left = matches!(result, Ok(()) | Err(Halt::Quit | Halt::Error(MachineError::Face(_))));
        let failure = match (&self.state.plan.build, is_left) {
            (Some(_), true) => match self.rebuild() {
                Ok(()) => return,
                Err(halt) => format!(": {halt}"),
            },
            _ => String::new(),
        };
        let text = "files were taken back since the program was built: what is built is not what they say; build it";
        self.say(Level::Warning, format!("{text}{failure}"));
    }

    fn end(&mut self, result: Result<(), Halt>) -> Result<u8, MachineError> {
        let id = self.session.session_id.clone();
        self.leave_built(&result);
        let is_damaged = self.analyzed.as_ref().is_some_and(|analyzed| !analyzed.damage.is_empty());
        let done = if is_damaged { PARTIAL } else { 0 };
        let (word, code) = match &result {
            Ok(()) => ("finished", done),
            Err(Halt::Quit) => ("left", done),
            Err(Halt::Interrupted) => ("interrupted", INTERRUPTED),
            Err(Halt::Error(_)) => ("failed", 1),
        };
        self.save()?;
        self.summarize();
        self.event("ended", json!({ "how": word, "phase": self.state.phase }));
        if self.state.phase != Phase::Finished {
            self.say(Level::Note, format!("saved; go on with `wavesieve sessions resume {id}`"));
        }
        match result {
            Err(Halt::Error(error)) => Err(error),
            _ => Ok(code),
        }
    }
}
