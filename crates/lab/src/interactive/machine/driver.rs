//! The state machine: runs one phase after the other, and saves the session between them.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Value, json};

use super::error::{Halt, MachineError};
use super::findings::Analyzed;
use super::state::{Phase, State};
use crate::interactive::checkpoints::Repository;
use crate::interactive::face::{Choice, Console, Level, Question, Reply};
use crate::interactive::programs::{Application, Limits};
use crate::interactive::sessions::{Session, SessionKind, SessionLock, Store};
use wavesieve_agent::llm::{Listener, LlmError, Narrator};
use wavesieve_engine::Registry;

const SHOWN_OUTPUT: u64 = 16 << 20;

/// Characters of an invalid answer that a message repeats.
const LONGEST_ECHO: usize = 40;

/// Functions of the surrounding program that the machine needs.
pub struct Tools<'a> {
    pub registry: &'a Registry,
    /// Returns the problem with a command of this program, if it has one.
    pub check_own: &'a dyn Fn(&[String]) -> Option<String>,
    /// Opens a model with its conversation file; `None` if no model was requested.
    pub narrator: &'a dyn Fn(&Path) -> Result<Option<Narrator>, LlmError>,
    /// Shows the progress of a model.
    pub listener: &'a dyn Listener,
    /// The time, for the session's records.
    pub now: &'a dyn Fn() -> SystemTime,
}

pub struct Machine<'a> {
    pub face: &'a mut Console,
    pub store: &'a Store,
    pub tools: &'a Tools<'a>,
    pub session: Session,
    pub state: State,
    pub application: Application,
    pub narrator: Option<Narrator>,
    pub repository: Option<Repository>,
    pub analyzed: Option<Analyzed>,
    /// Whether the default answers every question.
    pub yes: bool,
    pub _lock: SessionLock,
}

impl Machine<'_> {
    pub fn run(&mut self) -> Result<(), Halt> {
        while self.state.phase != Phase::Finished {
            let phase = self.state.phase;
            self.event("phase", json!({ "phase": phase }));
            let next = match self.face.is_interrupted() {
                true => Err(Halt::Interrupted),
                false => self.step(),
            };
            // Saved work survives any later failure.
            if let Ok(next) = &next {
                self.state.phase = *next;
            }
            self.save()?;
            next?;
        }
        Ok(())
    }

    fn step(&mut self) -> Result<Phase, Halt> {
        let is_workflow = self.session.kind == SessionKind::Workflow;
        match self.state.phase {
            Phase::Confirm if is_workflow => self.confirm_command(),
            Phase::Confirm => self.begin_interactive(),
            Phase::Measure => self.measure(),
            Phase::Analyze => self.analyze(),
            Phase::Judge => self.judge(),
            Phase::Menu if is_workflow => self.workflow_menu(),
            Phase::Menu => self.main_menu(),
            Phase::Propose => self.propose(),
            Phase::Review => self.review(),
            Phase::Apply => self.apply(),
            Phase::Build => self.build(),
            Phase::Test if is_workflow => self.test(),
            // An edit that builds and passes is measured if there is a program to measure.
            Phase::Test => self.test().map(|next| if next == Phase::Next { Phase::Menu } else { next }),
            Phase::Next if is_workflow => self.next_command(),
            Phase::Next => Ok(Phase::Menu),
            Phase::Finished => Ok(Phase::Finished),
        }
    }

    pub fn save(&mut self) -> Result<(), MachineError> {
        self.session.state = serde_json::to_value(&self.state).map_err(anyhow::Error::from)?;
        self.store.save(&mut self.session, (self.tools.now)())?;
        Ok(())
    }

    pub fn timestamp(&self) -> String {
        wavesieve_model::text::time::utc((self.tools.now)())
    }

    pub fn event(&mut self, name: &str, fields: Value) {
        self.face.event(name, fields);
    }

    pub fn say(&mut self, level: Level, text: impl AsRef<str>) {
        self.face.say(level, text.as_ref());
    }

    /// Asks a question; `None` at the end of the input.
    pub fn ask(&mut self, question: &Question) -> Result<Option<String>, Halt> {
        match self.face.ask(question)? {
            Reply::Line(line) => Ok(Some(line)),
            Reply::End => Ok(None),
            Reply::Interrupted => Err(Halt::Interrupted),
        }
    }

    /// Asks for one of some choices by its key, again after any other answer. At the end of the input the session stays
    /// where it is.
    pub fn choose(
        &mut self,
        id: &'static str,
        text: impl Into<String>,
        choices: &[(&str, &str)],
        default: Option<&str>,
    ) -> Result<String, Halt> {
        let choices: Vec<Choice> = choices.iter().map(|(key, label)| Choice::new(*key, *label)).collect();
        let question =
            Question { id, text: text.into(), choices, default: default.map(ToOwned::to_owned), is_long: false };
        loop {
            let answer = self.ask(&question)?.ok_or(Halt::Quit)?;
            let answer: String = answer.chars().take(LONGEST_ECHO).collect::<String>().to_lowercase();
            let named = question.choices.iter().find(|choice| choice.key == answer);
            if let Some(choice) = named {
                return Ok(choice.key.clone());
            }
            let keys: Vec<&str> = question.choices.iter().map(|choice| choice.key.as_str()).collect();
            self.say(Level::Warning, format!("{answer:?} is none of the answers; type {}", keys.join(", ")));
        }
    }

    pub fn confirm(&mut self, id: &'static str, text: impl Into<String>, default: bool) -> Result<bool, Halt> {
        let default = if default { "y" } else { "n" };
        let question = Question {
            id,
            text: text.into(),
            choices: vec![Choice::new("y", "yes"), Choice::new("n", "no")],
            default: Some(default.to_owned()),
            is_long: false,
        };
        loop {
            let answer = self.ask(&question)?.ok_or(Halt::Quit)?;
            match answer.to_lowercase().as_str() {
                "y" | "yes" => return Ok(true),
                "n" | "no" => return Ok(false),
                other => self.say(Level::Warning, format!("{other:?} is neither yes nor no; type y or n")),
            }
        }
    }

    pub fn text(
        &mut self,
        id: &'static str,
        text: impl Into<String>,
        default: Option<String>,
        is_long: bool,
    ) -> Result<String, Halt> {
        let question = Question { id, text: text.into(), choices: Vec::new(), default, is_long };
        self.ask(&question)?.ok_or(Halt::Quit)
    }

    /// The folder that paths of edits are relative to.
    pub fn root(&self) -> PathBuf {
        self.repository.as_ref().map_or_else(|| self.session.root.clone(), |repository| repository.root().to_owned())
    }

    pub fn limits(&self) -> Limits {
        Limits { seconds: self.state.plan.time_limit_s, output_bytes: SHOWN_OUTPUT }
    }

    pub fn trace_directory(&self) -> PathBuf {
        let own = || self.store.work_directory(&self.session.session_id);
        match &self.state.plan.trace_dir {
            Some(directory) => directory.join(&self.session.session_id),
            None => own().join("traces"),
        }
    }
}
