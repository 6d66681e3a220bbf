//! Files that recommended commands need.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::driver::Machine;
use super::error::Halt;
use super::state::Phase;
use crate::interactive::face::Level;
use crate::interactive::programs::Profiling;
use wavesieve_agent::child::program;

/// Flags of rocprofv3 that take a file with counter definitions.
const DEFINITIONS: [&str; 2] = ["-E", "--extra-counters"];

impl Machine<'_> {
    /// Makes a command the next one to measure, once its files exist.
    pub(crate) fn measured_by(&mut self, command: Option<Profiling>) -> Result<Phase, Halt> {
        let Some(mut command) = command else { return Ok(Phase::Menu) };
        let place = command.words.iter().position(|word| DEFINITIONS.contains(&word.as_str()));
        if let Some(value) = place.and_then(|place| command.words.get_mut(place + 1))
            && !self.state.plan.folder.join(&*value).is_file()
        {
            let Some(path) = self.written_definitions(value) else {
                let text = format!("{value} is not there; make it with `wavesieve plan -f definitions -o {value}`");
                self.say(Level::Error, text);
                return Ok(Phase::Menu);
            };
            *value = path;
        }
        self.state.command = Some(command);
        Ok(Phase::Measure)
    }

    /// Writes a definitions file into the session's folder, by the command that the findings recommend for it.
    fn written_definitions(&mut self, name: &str) -> Option<String> {
        let items = self.items();
        let makes = |words: &[String]| {
            words.first().is_some_and(|word| word == "wavesieve") && words.last().is_some_and(|word| word == name)
        };
        let command = items.iter().flat_map(|item| &item.commands).find(|command| makes(&command.words))?;
        let folder = self.store.work_directory(&self.session.session_id).join("definitions");
        std::fs::create_dir_all(&folder).ok()?;
        let file = Path::new(name).file_name()?.to_str()?;
        let path = folder.join(format!("{}-{file}", self.state.next_measurement));
        let arguments = command.words.iter().skip(1).take(command.words.len().saturating_sub(2));
        let mut own = Command::new(program().ok()?);
        own.args(arguments).arg(&path).current_dir(&self.state.plan.folder);
        let done = own.output().ok()?;
        self.event("definitions", json!({ "path": path, "code": done.status.code() }));
        path.is_file().then(|| path.display().to_string())
    }
}
