//! The inputs of a question, as named by the user and as passed to the tools.

use wavesieve_model::analysis::counter_plan::quoted;

/// Inputs from the command line. A model cannot name any.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    named: Vec<String>,
    /// Resolved paths, without links and patterns.
    paths: Vec<String>,
}

impl Inputs {
    /// Resolves named inputs.
    pub fn new(named: &[String]) -> Self {
        Self { named: named.to_vec(), paths: named.iter().flat_map(|name| resolved(name)).collect() }
    }

    /// The paths for the tools.
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// The inputs in the user's spelling, for a command line.
    pub fn words(&self) -> String {
        joined(&self.named)
    }

    /// A command line of a tool, with the inputs in the user's spelling.
    pub(crate) fn shown_in(&self, command: &str) -> String {
        let paths = joined(&self.paths);
        // A path may be a prefix of another one.
        let ends = |rest: &str| rest.is_empty() || rest.starts_with(' ');
        let mut parts = command
            .match_indices(&paths)
            .filter_map(|(start, _)| Some((command.get(..start)?, command.get(start + paths.len()..)?)));
        match parts.find(|(_, rest)| !paths.is_empty() && ends(rest)) {
            Some((before, rest)) => format!("{before}{}{rest}", self.words()),
            None => command.to_owned(),
        }
    }
}

fn joined(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<String>>().join(" ")
}

/// The paths that a name, or a pattern, resolves to.
fn resolved(name: &str) -> Vec<String> {
    let text = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
    if let Ok(path) = std::fs::canonicalize(name) {
        return vec![text(path)];
    }
    let found = glob::glob(name).into_iter().flatten().filter_map(Result::ok);
    let found: Vec<String> = found.filter_map(|path| path.canonicalize().ok()).map(text).collect();
    if found.is_empty() { vec![name.to_owned()] } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_inputs_as_they_were_named() {
        let inputs = Inputs::new(&["../../fixtures/two_nodes/*".to_owned(), "../../fixtures/planted".to_owned()]);
        assert_eq!(inputs.paths().len(), 3);
        let command = format!("wavesieve info {} --rank 0", joined(inputs.paths()));
        assert_eq!(
            inputs.shown_in(&command),
            "wavesieve info '../../fixtures/two_nodes/*' ../../fixtures/planted --rank 0"
        );
        let inputs = Inputs::new(&["../../fixtures/two_nodes".to_owned()]);
        let path = inputs.paths().join(" ");
        let command = format!("wavesieve compare --base {path}_json --new {path}");
        assert_eq!(
            inputs.shown_in(&command),
            format!("wavesieve compare --base {path}_json --new ../../fixtures/two_nodes")
        );
    }
}
