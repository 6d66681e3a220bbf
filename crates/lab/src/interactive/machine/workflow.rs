//! The workflow: measure, analyze, change, measure again.

use serde_json::json;

use super::driver::Machine;
use super::error::Halt;
use super::findings::{Analyzed, Item, Recommended, commands};
use super::records::EditStatus;
use super::state::{Origin, Phase};
use crate::interactive::face::Level;
use crate::interactive::programs::{Application, Profiling};
use wavesieve_engine::findings::Priority;

/// Findings that the menu numbers.
const MENU_ITEMS: usize = 9;

impl Machine<'_> {
    pub(super) fn confirm_command(&mut self) -> Result<Phase, Halt> {
        let kind = self.application.kind;
        let many = if self.application.has_many_processes { ", several processes" } else { "" };
        self.say(Level::Heading, "Workflow");
        self.say(Level::Text, format!("application: {} ({}{many})", self.application.line(), kind.description()));
        let first = match &self.state.plan.profile {
            Some(line) => Profiling::of_line(line, &self.application, &self.trace_directory())?,
            None => Profiling::first(&self.application, &self.trace_directory()),
        };
        let runs = self.wanted_runs(&first);
        self.say(Level::Text, format!("command: {}", first.line()));
        self.say(Level::Text, format!("runs: {runs}"));
        self.event(
            "planned",
            json!({ "application": self.application.line(), "kind": kind, "command": first.line(), "runs": runs }),
        );
        self.state.command = Some(first.clone());
        if self.confirm("confirm", "Run it?", true)? {
            return Ok(Phase::Measure);
        }
        self.say(Level::Note, format!("nothing was run; to run it yourself: {}", first.line()));
        Ok(Phase::Finished)
    }

    pub(super) fn workflow_menu(&mut self) -> Result<Phase, Halt> {
        if !self.refresh()? {
            return Ok(Phase::Next);
        }
        let items = self.items();
        if self.over_budget() {
            self.say(Level::Note, "as many measurements as --iterations allows are made");
            return Ok(Phase::Finished);
        }
        let open: Vec<Item> =
            items.iter().filter(|item| item.priority < Priority::Info).take(MENU_ITEMS).cloned().collect();
        self.say(Level::Heading, "What to do");
        for (place, item) in open.iter().enumerate() {
            let at = item
                .place
                .as_ref()
                .map(|(file, line)| format!(" ({}:{line})", self.named(file).display()))
                .unwrap_or_default();
            self.say(Level::Text, format!("{}. [{}] {}{at}", place + 1, item.priority.word(), item.title));
        }
        if open.is_empty() {
            self.say(Level::Text, "no finding costs time that could be saved; a deeper measurement may show more");
        }
        let numbers: Vec<String> = (1..=open.len()).map(|number| number.to_string()).collect();
        let mut choices: Vec<(&str, &str)> =
            numbers.iter().map(|number| (number.as_str(), "pursue this finding")).collect();
        if open.len() > 1 && self.has_model() {
            choices.push(("a", "let the model address all of them"));
        }
        if !self.state.plan.patches.is_empty() {
            choices.push(("p", "apply the next patch"));
        }
        if self.deeper().is_some() {
            choices.push(("d", "measure deeper, by the recommended command"));
        }
        if self.state.next_checkpoint > 0 {
            choices.push(("b", "go back to a checkpoint"));
        }
        choices.push(("n", "choose the next command"));
        choices.push(("q", "stop here; the session can be resumed"));
        let default = self.default_choice(&open);
        let answer = self.choose("menu", "Choose", &choices, Some(default))?;
        match answer.as_str() {
            "q" => Err(Halt::Quit),
            "n" => Ok(Phase::Next),
            "b" => {
                self.roll_back()?;
                Ok(Phase::Menu)
            }
            "d" => self.measured_by(self.deeper()),
            "p" => Ok(self.take_patch()),
            "a" => self.by_model(&open),
            number => {
                let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                match place.and_then(|place| open.get(place)) {
                    Some(item) => self.pursue(&item.clone()),
                    None => Ok(Phase::Menu),
                }
            }
        }
    }

    /// The choice without a user: patches first, then findings for a model, then the end.
    fn default_choice(&self, open: &[Item]) -> &'static str {
        if !self.state.plan.patches.is_empty() {
            return "p";
        }
        let tried = |item: &Item| self.state.asked_about.contains(&item.id);
        match open.iter().position(|item| !tried(item)) {
            Some(place) if self.has_model() && !self.state.plan.is_exhausted(self.state.next_measurement) => {
                ["1", "2", "3", "4", "5", "6", "7", "8", "9"].get(place).copied().unwrap_or("n")
            }
            _ => "n",
        }
    }

    /// Returns whether a session without a user has made all its measurements, and no edit waits for a verdict.
    fn over_budget(&self) -> bool {
        self.yes && self.state.plan.is_exhausted(self.state.next_measurement)
    }

    pub(crate) fn take_patch(&mut self) -> Phase {
        let Some(file) = self.state.plan.patches.first().cloned() else { return Phase::Menu };
        self.state.origin = Some(Origin::Patch { file });
        Phase::Propose
    }

    pub(crate) fn pursue(&mut self, item: &Item) -> Result<Phase, Halt> {
        self.say(Level::Heading, item.title.clone());
        self.say(Level::Text, item.explanation.clone());
        if let Some(pct) = item.saving_pct {
            self.say(Level::Text, format!("may save at most {pct:.1}% of the traced GPU time"));
        }
        for advice in &item.advice {
            self.say(Level::Text, format!("  - {advice}"));
        }
        for command in &item.commands {
            self.say(Level::Text, format!("  $ {}", command.line()));
        }
        let mut choices = Vec::new();
        if self.has_model() {
            choices.push(("e", "let the model write an edit"));
        }
        if item.place.is_some() && self.state.plan.editor.is_some() {
            choices.push(("o", "open the editor at the place"));
        }
        choices.push(("f", "apply a patch file"));
        // Commands of other tools are for the user; the choice names the command that it runs.
        let runnable = self.runnable(&item.commands);
        let label = runnable.map(|place| match place {
            0 => "run the first command".to_owned(),
            place => {
                let line = item.commands.get(place).map(Recommended::line).unwrap_or_default();
                format!("run command {}: {line}", place + 1)
            }
        });
        if let Some(label) = &label {
            choices.push(("r", label.as_str()));
        }
        choices.push(("m", "back to the menu"));
        let default = if self.has_model() { "e" } else { "m" };
        let answer = self.choose("pursue", "How?", &choices, Some(default))?;
        match answer.as_str() {
            "e" => self.by_model(std::slice::from_ref(item)),
            "o" => {
                if let Some((file, line)) = &item.place {
                    self.state.origin = Some(Origin::Editor { file: self.named(file), line: *line });
                }
                Ok(Phase::Propose)
            }
            "f" => {
                let path = self.text("patch.path", "Path of the patch", Some(String::new()), false)?;
                if path.is_empty() {
                    return Ok(Phase::Menu);
                }
                self.state.origin = Some(Origin::Patch { file: path.into() });
                Ok(Phase::Propose)
            }
            "r" => {
                self.ask_for_application()?;
                let command = runnable.and_then(|place| item.commands.get(place));
                let Some(command) = command.filter(|_| !self.application.words.is_empty()) else {
                    self.say(Level::Note, "nothing was run: the program is not known");
                    return Ok(Phase::Menu);
                };
                let command = Profiling::of_words(&command.words, &self.application, &self.trace_directory())?;
                self.measured_by(Some(command))
            }
            _ => Ok(Phase::Menu),
        }
    }

    /// The index of the first command that the profiler accepts.
    fn runnable(&self, commands: &[Recommended]) -> Option<usize> {
        // Any program serves to check that; the real one may not be known yet.
        let any = Application::of_words(vec!["./app".to_owned()]);
        let directory = self.trace_directory();
        commands.iter().position(|one| Profiling::of_words(&one.words, &any, &directory).is_ok())
    }

    /// The most urgent recommended command that collects data that no measurement has, then PC samples.
    pub fn deeper(&self) -> Option<Profiling> {
        let earlier: Vec<Profiling> = self.state.measurements.iter().map(|one| one.command.clone()).collect();
        let directory = self.trace_directory();
        let sampled = self.analyzed.as_ref().map(Analyzed::sampling).unwrap_or_default();
        commands(&self.items())
            .iter()
            .chain(&sampled)
            .filter_map(|one| Profiling::of_words(&one.words, &self.application, &directory).ok())
            .find(|command| !command.repeats(&earlier))
    }

    pub(super) fn next_command(&mut self) -> Result<Phase, Halt> {
        let deeper = self.deeper();
        let is_ready = self.state.open_edit().is_some_and(|edit| edit.status == EditStatus::Ready);
        // An edit is compared with measurements by the same command.
        let same = self.state.measurements.iter().rev().find(|one| one.is_times).map(|one| one.command.clone());
        let same = same.or_else(|| self.state.command.clone());
        let mut choices = vec![("1", "measure with the same command again"), ("2", "edit the command")];
        if let Some(command) = &deeper {
            self.say(Level::Text, format!("recommended: {}", command.line()));
            choices.push(("3", "the recommended command"));
        }
        choices.push(("n", "stop"));
        let default = if is_ready { "1" } else { "n" };
        let answer = self.choose("next", "Next command", &choices, Some(default))?;
        match answer.as_str() {
            "1" => {
                self.state.command = same;
                Ok(Phase::Measure)
            }
            "2" => {
                self.edit_command()?;
                Ok(Phase::Measure)
            }
            "3" => self.measured_by(deeper),
            _ => {
                // The built program must match the files.
                if self.state.is_stale && self.state.plan.build.is_some() {
                    self.rebuild()?;
                }
                Ok(Phase::Finished)
            }
        }
    }

    pub fn items(&self) -> Vec<Item> {
        self.analyzed.as_ref().map(|analyzed| analyzed.items.clone()).unwrap_or_default()
    }
}
