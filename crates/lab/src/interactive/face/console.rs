//! The user interface on a terminal, a pipe or a file with answers.

use std::io;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::SystemTime;

use serde_json::{Value, json};

use super::answers::Answers;
use super::error::FaceError;
use super::events::Events;
use super::interruptions::Interruptions;
use super::lines::{Line, Lines};
use super::prompt::prompt;
use super::question::{Level, Question, Reply};
use super::screen::Screen;

/// Options of a [`Console`].
#[derive(Clone, Debug, Default)]
pub struct ConsoleOptions {
    /// The file with answers; by default a user or a pipe answers.
    pub answers: Option<PathBuf>,
    /// Whether defaults answer the questions that no file answers.
    pub yes: bool,
    /// Destination of events; with `-` for standard output, texts go to standard error.
    pub events: Option<PathBuf>,
    pub color: bool,
    pub quiet: bool,
}

/// Asks and reports in lines of text.
pub struct Console {
    pub(super) screen: Screen,
    pub(super) events: Option<Events>,
    pub(super) answers: Option<Answers>,
    pub(super) lines: Option<Lines>,
    pub(super) is_yes: bool,
    /// Whether a user types, so that the answer is visible already.
    pub(super) is_typed: bool,
    pub(super) interruptions: Interruptions,
}

impl Console {
    /// Opens the user interface of the process, which handles its Ctrl-C from now on.
    ///
    /// # Errors
    /// When the files cannot be opened.
    pub fn open(options: &ConsoleOptions) -> Result<Self, FaceError> {
        let answers = options.answers.as_deref().map(Answers::read).transpose()?;
        let events = options.events.as_deref().map(Events::open).transpose()?;
        let is_person = answers.is_none() && !options.yes;
        let is_error = options.events.as_ref().is_some_and(|path| path.as_os_str() == "-");
        Ok(Self {
            screen: Screen::new(is_error, options.color, options.quiet),
            events,
            answers,
            lines: is_person.then(|| Lines::new(|| io::stdin().lock())),
            is_yes: options.yes,
            is_typed: is_person && io::stdin().is_terminal(),
            interruptions: Interruptions::of_program(),
        })
    }

    /// Finishes the output.
    ///
    /// # Errors
    /// When not all of the output could be written.
    pub fn finish(mut self) -> Result<(), FaceError> {
        self.screen.end();
        self.screen.take_error().map_or(Ok(()), |error| Err(FaceError::Output(error)))
    }

    /// The reply to a question; the default if the answer is empty.
    fn reply(&mut self, question: &Question) -> Result<Reply, FaceError> {
        if self.interruptions.is_set() {
            return Ok(Reply::Interrupted);
        }
        let by_default = || question.default.clone().map_or(Reply::End, Reply::Line);
        let scripted = match &mut self.answers {
            Some(answers) => answers.answer(question)?,
            None => None,
        };
        let answer = match (scripted, self.is_yes) {
            (Some(answer), _) => answer,
            (None, true) => return Ok(by_default()),
            (None, false) => match self.read(question)? {
                Reply::Line(answer) => answer,
                other => return Ok(other),
            },
        };
        let answer = if question.is_long { answer.trim_end() } else { answer.trim() };
        Ok(match &question.default {
            Some(default) if answer.is_empty() => Reply::Line(default.clone()),
            _ => Reply::Line(answer.to_owned()),
        })
    }

    /// Reads a line of the input, or all lines until an empty one.
    fn read(&mut self, question: &Question) -> Result<Reply, FaceError> {
        let Some(lines) = &mut self.lines else { return Ok(Reply::End) };
        let check = self.interruptions.check();
        let mut next = || lines.next(&check).map_err(|error| FaceError::Input { asked: question.id, error });
        let mut answer = match next()? {
            Line::Text(text) => text,
            Line::End => return Ok(Reply::End),
            Line::Interrupted => return Ok(Reply::Interrupted),
        };
        while question.is_long && !answer.is_empty() {
            match next()? {
                Line::Text(text) if text.trim().is_empty() => break,
                Line::End => break,
                Line::Text(text) => {
                    answer.push('\n');
                    answer.push_str(&text);
                }
                Line::Interrupted => return Ok(Reply::Interrupted),
            }
        }
        Ok(Reply::Line(answer))
    }

    /// Prints an answer that was not typed, and ends the line of the question.
    fn echo(&mut self, question: &Question, reply: &Reply) {
        let shown = match reply {
            Reply::Line(_) if self.is_typed => return,
            Reply::Line(text) if question.is_long => text.lines().map(|line| format!("\n  {line}")).collect(),
            Reply::Line(text) => text.clone(),
            Reply::End => "(no answer)".to_owned(),
            Reply::Interrupted => "(interrupted)".to_owned(),
        };
        let lines: Vec<String> = shown.split('\n').map(super::plain).collect();
        self.screen.write(&(lines.join("\n") + "\n"));
    }

    /// Asks a question; the question and its answer are also events.
    ///
    /// # Errors
    /// When the next answer belongs to another question, or the output cannot be written.
    pub fn ask(&mut self, question: &Question) -> Result<Reply, FaceError> {
        self.end();
        let choices: Vec<Value> =
            question.choices.iter().map(|choice| json!({ "key": choice.key, "label": choice.label })).collect();
        let (id, text, default) = (question.id, &question.text, &question.default);
        self.event("question", json!({ "id": id, "text": text, "choices": choices, "default": default }));
        let is_shown = !self.screen.is_quiet() || self.lines.is_some();
        if is_shown {
            let prompt = prompt(question, self.screen.width());
            let lines: String = prompt.lines.iter().map(|line| format!("{line}\n")).collect();
            self.screen.write(&(lines + &prompt.before_answer));
        }
        if let Some(error) = self.screen.take_error() {
            return Err(FaceError::Output(error));
        }
        self.interruptions.set_asking(true);
        let reply = self.reply(question);
        self.interruptions.set_asking(false);
        let reply = reply.inspect_err(|_| {
            if is_shown {
                self.screen.write("\n");
            }
        })?;
        if is_shown {
            self.echo(question, &reply);
        }
        let (answer, how) = match &reply {
            Reply::Line(text) => (Some(text), "answered"),
            Reply::End => (None, "end"),
            Reply::Interrupted => (None, "interrupted"),
        };
        self.event("answer", json!({ "id": id, "answer": answer, "how": how }));
        Ok(reply)
    }

    /// Reports a text of one or more lines.
    pub fn say(&mut self, level: Level, text: &str) {
        self.screen.say(level, text);
    }

    /// Prints rows below their head: aligned, and cut to the width of the terminal.
    pub fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
        self.screen.table(head, rows);
    }

    /// Prints a unified diff, or its start.
    pub fn diff(&mut self, diff: &str) {
        self.screen.diff(diff);
    }

    /// Prints a line of a child process.
    pub fn output(&mut self, line: &str) {
        self.screen.output(line);
    }

    /// Shows that something runs until [`Self::end`].
    pub fn begin(&mut self, text: &str) {
        self.screen.begin(text);
    }

    /// Shows that a server is awaited until [`Self::end`]. Ctrl-C then ends the program, whose session is saved.
    pub fn begin_request(&mut self, text: &str) {
        self.interruptions.set_idle(true);
        self.screen.begin(text);
    }

    /// Ends the display of [`Self::begin`] or [`Self::begin_request`].
    pub fn end(&mut self) {
        self.interruptions.set_idle(false);
        self.screen.end();
    }

    /// Names the session in all later events.
    pub fn set_session(&mut self, id: &str) {
        if let Some(events) = &mut self.events {
            events.set_session(id);
        }
    }

    /// Reports an event to other programs.
    pub fn event(&mut self, name: &str, fields: Value) {
        let Some(events) = &mut self.events else { return };
        if let Err(error) = events.write(name, fields, SystemTime::now()) {
            // The work continues without a log that cannot be written.
            self.events = None;
            self.screen.say(Level::Error, &format!("cannot write events: {error}; no more are written"));
        }
    }

    /// Returns whether Ctrl-C was pressed since the last [`Self::forgive`].
    pub fn is_interrupted(&self) -> bool {
        self.interruptions.is_set()
    }

    /// Returns a function that reports whether Ctrl-C was pressed. The runner of a child can keep it while the console
    /// prints lines.
    pub fn interruption(&self) -> Box<dyn Fn() -> bool> {
        self.interruptions.check()
    }

    /// Continues after Ctrl-C.
    pub fn forgive(&mut self) {
        self.interruptions.forgive();
    }
}
