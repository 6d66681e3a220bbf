//! Commands that a finding recommends.

use serde::Serialize;

use wavesieve_model::analysis::counter_plan::quoted;

/// A command that collects what a finding requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Command {
    /// Program, such as `rocprofv3`.
    pub tool: String,
    pub description: String,
    /// Words of the command in order, the program first, not quoted.
    pub words: Vec<String>,
}

impl Command {
    /// The command as a shell takes it: words that need it are quoted.
    pub fn line(&self) -> String {
        self.words.iter().map(|word| quoted(word)).collect::<Vec<String>>().join(" ")
    }
}
