//! The command of a configuration.

use super::error::AutotuneError;
use super::space::Space;

/// Words in which `{name}` stands for the value of a parameter. Other braces stay, and `{{name}}` is the text `{name}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    words: Vec<Vec<Piece>>,
    texts: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Parameter(String),
}

impl Template {
    /// Makes a template from the words of a command.
    ///
    /// # Errors
    /// When the command is empty, names an unknown parameter, or leaves a parameter out.
    pub fn new(words: &[String], space: &Space) -> Result<Self, AutotuneError> {
        if words.is_empty() {
            return Err(AutotuneError::EmptyCommand);
        }
        let template = Self { words: words.iter().map(|word| pieces(word)).collect(), texts: words.to_vec() };
        let used: Vec<&str> = template
            .words
            .iter()
            .flatten()
            .filter_map(|piece| match piece {
                Piece::Parameter(name) => Some(name.as_str()),
                Piece::Text(_) => None,
            })
            .collect();
        let names: Vec<&str> = space.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        if let Some(name) = used.iter().find(|name| !names.contains(name)) {
            return Err(AutotuneError::UnknownPlaceholder { name: (*name).to_owned(), known: names.join(", ") });
        }
        match names.iter().find(|name| !used.contains(name)) {
            Some(name) => Err(AutotuneError::UnusedParameter { name: (*name).to_owned() }),
            None => Ok(template),
        }
    }

    /// The command as it was given.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Returns whether all configurations run the same program.
    pub(crate) fn has_fixed_program(&self) -> bool {
        let is_fixed = |piece: &Piece| matches!(piece, Piece::Text(_));
        self.words.first().is_some_and(|first| first.iter().all(is_fixed))
    }

    /// The words for a configuration. A value stays within its word, whatever characters it has.
    pub fn words(&self, space: &Space, configuration: usize) -> Vec<String> {
        let value = |name: &str| {
            let found = space.values(configuration).find(|(known, _)| *known == name);
            found.map(|(_, value)| value.to_string()).unwrap_or_default()
        };
        let word = |pieces: &Vec<Piece>| {
            let texts = pieces.iter().map(|piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Parameter(name) => value(name),
            });
            texts.collect::<String>()
        };
        self.words.iter().map(word).collect()
    }
}

fn pieces(word: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = word;
    while let Some((before, behind)) = rest.split_once('{') {
        text.push_str(before);
        let is_escaped = behind.starts_with('{');
        let inner = behind.strip_prefix('{').unwrap_or(behind);
        let end = if is_escaped { "}}" } else { "}" };
        match inner.split_once(end) {
            Some((name, after)) if is_name(name) => {
                if is_escaped {
                    text.push('{');
                    text.push_str(name);
                    text.push('}');
                } else {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                    pieces.push(Piece::Parameter(name.to_owned()));
                }
                rest = after;
            }
            _ => {
                text.push('{');
                rest = behind;
            }
        }
    }
    text.push_str(rest);
    pieces.push(Piece::Text(text));
    pieces
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}
