//! The session without a fixed order: the user profiles, analyzes and changes at will.

use std::path::PathBuf;

use super::driver::Machine;
use super::error::Halt;
use super::findings::{Analyzed, Item, commands};
use super::model::confirmed_commands;
use super::session::is_there;
use super::state::{Origin, Phase};
use crate::interactive::face::Level;
use crate::interactive::programs::{Application, Profiling};
use wavesieve_report::document::Section;

/// Maximum number of commands of a model that are offered.
const MOST_COMMANDS: usize = 5;
/// Extensions of files that are not programs.
const NO_PROGRAMS: [&str; 9] = ["sh", "py", "md", "txt", "cpp", "hip", "cu", "h", "hpp"];

impl Machine<'_> {
    pub(super) fn begin_interactive(&mut self) -> Result<Phase, Halt> {
        // Named inputs count, even if the session has measured something since.
        let named: Vec<PathBuf> = self.session.inputs.iter().filter(|path| is_there(path)).cloned().collect();
        if !named.is_empty() {
            self.analyzed = Some(self.analyzed_of(&named)?);
        }
        if self.refresh()? {
            let analyzed = self.analyzed.take();
            if let Some(analyzed) = &analyzed {
                self.show(analyzed);
                self.merge_items(&analyzed.items);
            }
            self.analyzed = analyzed;
        }
        Ok(Phase::Menu)
    }

    pub(super) fn main_menu(&mut self) -> Result<Phase, Halt> {
        let saved: Vec<(String, String)> =
            self.session.persistent_menu_items.iter().map(|item| (item.priority.clone(), item.title.clone())).collect();
        self.say(Level::Heading, "Menu");
        for (place, (priority, title)) in saved.iter().enumerate() {
            self.say(Level::Text, format!("{}. [{priority}] {title}", place + 1));
        }
        let numbers: Vec<String> = (1..=saved.len()).map(|number| number.to_string()).collect();
        let mut choices = vec![("p", "profile the program"), ("a", "analyse a trace")];
        choices.push(if self.has_model() {
            ("o", "ask the model what to optimise")
        } else {
            ("o", "what to optimise")
        });
        if self.has_model() {
            choices.push(("e", "let the model edit a file"));
        }
        if self.state.next_checkpoint > 0 {
            choices.push(("b", "go back to a checkpoint"));
        }
        choices.extend(numbers.iter().map(|number| (number.as_str(), "pursue this finding")));
        choices.extend([("s", "save"), ("q", "save and quit")]);
        let answer = self.choose("menu", "Choose", &choices, Some("q"))?;
        match answer.as_str() {
            "q" => Err(Halt::Quit),
            "s" => {
                self.save()?;
                self.say(Level::Good, format!("saved as {}", self.session.session_id));
                Ok(Phase::Menu)
            }
            "p" => self.profile(),
            "a" => self.analyze_again(),
            "o" => self.optimize(),
            "e" => {
                let items = self.items();
                self.by_model(&items)
            }
            "b" => {
                self.roll_back()?;
                Ok(Phase::Menu)
            }
            number => {
                let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                let detail =
                    place.and_then(|place| self.session.persistent_menu_items.get(place)).map(|one| one.detail.clone());
                match detail.and_then(|detail| serde_json::from_value::<Item>(detail).ok()) {
                    Some(item) => {
                        self.refresh()?;
                        self.pursue(&item)
                    }
                    None => {
                        self.say(
                            Level::Note,
                            "another program saved this finding without its details; analyse the trace again",
                        );
                        Ok(Phase::Menu)
                    }
                }
            }
        }
    }

    fn profile(&mut self) -> Result<Phase, Halt> {
        self.refresh()?;
        self.ask_for_application()?;
        if self.application.words.is_empty() {
            return Ok(Phase::Menu);
        }
        let directory = self.trace_directory();
        let first = Profiling::first(&self.application, &directory);
        let mut all = vec![first];
        let sampled = self.analyzed.as_ref().map(Analyzed::sampling).unwrap_or_default();
        for command in commands(&self.items()).into_iter().chain(sampled) {
            if let Ok(command) = Profiling::of_words(&command.words, &self.application, &directory)
                && !all.contains(&command)
            {
                all.push(command);
            }
        }
        for (place, command) in all.iter().enumerate() {
            self.say(Level::Text, format!("{}. {}", place + 1, command.line()));
        }
        let numbers: Vec<String> = (1..=all.len()).map(|number| number.to_string()).collect();
        let mut choices: Vec<(&str, &str)> =
            numbers.iter().map(|number| (number.as_str(), "run this command")).collect();
        choices.push(("m", "back to the menu"));
        let answer = self.choose("profile.command", "Which command?", &choices, Some("1"))?;
        let place = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let Some(command) = place.and_then(|place| all.get(place)) else { return Ok(Phase::Menu) };
        self.state.measuring = None;
        self.measured_by(Some(command.clone()))
    }

    /// Asks for the program to profile, if it is not known.
    pub(crate) fn ask_for_application(&mut self) -> Result<(), Halt> {
        if !self.application.words.is_empty() {
            return Ok(());
        }
        let recorded = self.analyzed.as_ref().map(|analyzed| analyzed.analysis.collected.program.clone());
        let recorded = recorded.filter(|words| !words.is_empty()).map(|words| Application::of_words(words).line());
        let default = recorded.or_else(|| first_program(&self.session.root)).unwrap_or_default();
        loop {
            let text = "Program to profile, with its arguments";
            let line = self.text("application", text, Some(default.clone()), false)?;
            if line.is_empty() {
                return Ok(());
            }
            match Application::of_line(&line) {
                Ok(application) => {
                    self.session.application = application_words(&application);
                    self.application = application;
                    return Ok(());
                }
                Err(error) => self.say(Level::Error, error.to_string()),
            }
            if self.yes {
                return Ok(());
            }
        }
    }

    /// Analyzes another trace, or the same one again.
    fn analyze_again(&mut self) -> Result<Phase, Halt> {
        let path = self.text("analyze.path", "Path of a trace (empty: the one at hand)", Some(String::new()), false)?;
        let inputs = if path.is_empty() { self.session.inputs.clone() } else { vec![PathBuf::from(&path)] };
        match self.analyzed_of(&inputs) {
            Ok(analyzed) => {
                self.session.inputs = inputs;
                self.show(&analyzed);
                self.merge_items(&analyzed.items);
                self.analyzed = Some(analyzed);
            }
            Err(Halt::Error(error)) => self.say(Level::Error, format!("cannot analyse it: {error}")),
            Err(other) => return Err(other),
        }
        Ok(Phase::Menu)
    }

    /// Shows optimization advice: from the model, or from the findings alone.
    fn optimize(&mut self) -> Result<Phase, Halt> {
        if !self.refresh()? {
            self.say(Level::Note, "there is nothing to analyse yet; profile the program first");
            return Ok(Phase::Menu);
        }
        if self.has_model() {
            return match self.narrate()? {
                Some(section) => self.run_suggested(&section),
                None => Ok(Phase::Menu),
            };
        }
        let items = self.items();
        let urgent: Vec<&Item> =
            items.iter().filter(|item| item.priority <= wavesieve_engine::findings::Priority::Medium).collect();
        if urgent.is_empty() {
            self.say(Level::Text, "no finding costs time that could be saved");
        }
        for item in urgent {
            self.say(Level::Text, format!("[{}] {}", item.priority.word(), item.title));
            for advice in item.advice.iter().take(3) {
                self.say(Level::Text, format!("  - {advice}"));
            }
        }
        self.say(Level::Note, "a model can write the edits: name one with --llm, such as --llm local for Ollama");
        Ok(Phase::Menu)
    }

    /// Offers to run suggested commands of a model that the profiler accepts.
    fn run_suggested(&mut self, section: &Section) -> Result<Phase, Halt> {
        let directory = self.trace_directory();
        // Any program serves to check whether the profiler accepts the rest; the real one may not be known yet.
        let any = Application::of_words(vec!["./app".to_owned()]);
        let lines: Vec<String> = confirmed_commands(section)
            .into_iter()
            .filter(|line| Profiling::of_line(line, &any, &directory).is_ok())
            .take(MOST_COMMANDS)
            .collect();
        if lines.is_empty() {
            return Ok(Phase::Menu);
        }
        for (place, line) in lines.iter().enumerate() {
            self.say(Level::Text, format!("{}. {line}", place + 1));
        }
        let numbers: Vec<String> = (1..=lines.len()).map(|number| number.to_string()).collect();
        let mut choices: Vec<(&str, &str)> =
            numbers.iter().map(|number| (number.as_str(), "run this command")).collect();
        choices.push(("m", "back to the menu"));
        let answer = self.choose("model.command", "Run a command of the model?", &choices, Some("m"))?;
        let place = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let Some(line) = place.and_then(|place| lines.get(place)) else { return Ok(Phase::Menu) };
        self.ask_for_application()?;
        if self.application.words.is_empty() {
            return Ok(Phase::Menu);
        }
        let command = Profiling::of_line(line, &self.application, &self.trace_directory())?;
        self.measured_by(Some(command))
    }

    /// Proposes an edit of a file by the model.
    pub(crate) fn by_model(&mut self, items: &[Item]) -> Result<Phase, Halt> {
        let Some(file) = self.choose_file(items)? else {
            self.state.asked_about.extend(items.iter().map(|item| item.id.clone()));
            return Ok(Phase::Menu);
        };
        let findings: Vec<String> = items.iter().map(|item| item.id.clone()).collect();
        self.state.asked_about.extend(findings.iter().cloned());
        self.state.origin = Some(Origin::Model { findings, file });
        self.state.repairs = 0;
        self.state.failure = None;
        Ok(Phase::Propose)
    }
}

/// The words of an application with its environment in front, in the form that a session stores.
fn application_words(application: &Application) -> Vec<String> {
    let environment = application.environment.iter().map(|(key, value)| format!("{key}={value}"));
    environment.chain(application.words.iter().cloned()).collect()
}

/// The first file of a folder, by name, that is executable and not hidden, a script or source.
fn first_program(folder: &std::path::Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(Result::ok)
        .filter(|entry| {
            entry.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
        })
        .filter(|entry| {
            let path = entry.path();
            let extension =
                path.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_lowercase();
            !NO_PROGRAMS.contains(&extension.as_str())
        })
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    names.first().map(|name| format!("./{name}"))
}
