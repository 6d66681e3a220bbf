//! The parts of a kernel's declaration.

use super::model::{Parameter, Template};
use super::pieces::{Piece, close, is_angle, joined, split, text};
use super::types::parameter;
use crate::scan::c_kernels::is_attribute;

/// Words that are not function names, though parentheses may follow.
const NO_NAMES: [&str; 14] = [
    "void",
    "auto",
    "static",
    "inline",
    "extern",
    "const",
    "constexpr",
    "decltype",
    "operator",
    "sizeof",
    "requires",
    "if",
    "for",
    "while",
];

/// The facts that a declaration states.
#[derive(Debug, Default)]
pub(super) struct Declaration {
    pub name: String,
    /// The index of the name among the pieces.
    pub place: usize,
    /// Scopes before the name.
    pub scopes: Vec<String>,
    pub template: Option<Template>,
    pub qualifiers: Vec<String>,
    pub is_c: bool,
    pub launch_bounds: Option<String>,
    pub parameters: Vec<Parameter>,
}

/// Parses a declaration, without the text after it. `None` if it has no name with parameters.
pub(super) fn declaration(pieces: &[Piece]) -> Option<Declaration> {
    let mut found = Declaration::default();
    let mut names: Vec<String> = Vec::new();
    let mut at = 0;
    let mut parameters = None;
    while at < pieces.len() {
        let (word, is_word) = (text(pieces, at), pieces.get(at).is_some_and(Piece::is_word));
        let next = text(pieces, at + 1);
        match word {
            "template" if next == "<" => {
                let end = close(pieces, at + 1)?;
                template_head(pieces.get(at + 2..end)?, found.template.get_or_insert_default(), &mut names);
                at = end;
                if text(pieces, at + 1) == "requires" {
                    let end = constraint(pieces, at + 2);
                    let template = found.template.get_or_insert_default();
                    template.constraint = Some(joined(pieces.get(at + 2..end)?));
                    at = end - 1;
                }
            }
            "extern" if next == "\"C\"" => {
                found.is_c = true;
                at += 1;
            }
            "[" => {
                let end = close(pieces, at)?;
                found.qualifiers.push(joined(pieces.get(at..=end)?));
                at = end;
            }
            _ if is_word && next == "(" && is_attribute(word.as_bytes()) => {
                let end = close(pieces, at + 1)?;
                if word == "__launch_bounds__" {
                    found.launch_bounds = Some(joined(pieces.get(at + 2..end)?));
                }
                found.qualifiers.push(joined(pieces.get(at..=end)?));
                at = end;
            }
            _ if is_word && parameters.is_none() && !NO_NAMES.contains(&word) => {
                let after = if next == "<" { close(pieces, at + 1)? + 1 } else { at + 1 };
                match text(pieces, after) {
                    "::" => {
                        found.scopes.push(word.to_owned());
                        at = after;
                    }
                    "(" => {
                        let end = close(pieces, after)?;
                        if is_macro(pieces, end) {
                            found.qualifiers.push(joined(pieces.get(at..=end)?));
                        } else {
                            found.name = word.to_owned();
                            found.place = at;
                            if after > at + 1 {
                                let arguments = joined(pieces.get(at + 2..after - 1)?);
                                found.template.get_or_insert_default().arguments = Some(arguments);
                            }
                            parameters = Some(after + 1..end);
                        }
                        at = end;
                    }
                    _ => {
                        found.qualifiers.push(joined(pieces.get(at..after)?));
                        at = after - 1;
                    }
                }
            }
            _ if is_word && parameters.is_none() => found.qualifiers.push(word.to_owned()),
            // A function is a parameter or a result.
            "(" if parameters.is_none() => return None,
            _ => {}
        }
        at += 1;
    }
    let listed = split(pieces.get(parameters?)?, ",");
    found.parameters = listed.into_iter().map(|one| parameter(one, &names)).collect();
    if let [only] = found.parameters.as_slice()
        && only.kind == "void"
    {
        found.parameters.clear();
    }
    Some(found)
}

/// Returns whether the parentheses that end at an index belong to an attribute macro: another word with parentheses
/// follows that can be the name. Macros after the name are in capitals, or are attributes.
fn is_macro(pieces: &[Piece], end: usize) -> bool {
    let mut next = end + 1;
    while pieces.get(next).is_some_and(Piece::is_word) {
        let word = text(pieces, next);
        if text(pieces, next + 1) == "(" || is_angle(pieces, next + 1) {
            if !is_attribute(word.as_bytes()) {
                return word.chars().any(char::is_lowercase);
            }
            let Some(close) = close(pieces, next + 1) else { return false };
            next = close;
        }
        next += 1;
    }
    false
}

/// The end of a constraint that starts at an index.
fn constraint(pieces: &[Piece], begin: usize) -> usize {
    let mut at = begin;
    while at < pieces.len() {
        match text(pieces, at) {
            "(" => at = close(pieces, at).unwrap_or(pieces.len()) + 1,
            "!" => {
                at += 1;
                continue;
            }
            _ => {
                while at < pieces.len() {
                    at += 1;
                    if text(pieces, at) == "<" {
                        at = close(pieces, at).unwrap_or(pieces.len()) + 1;
                    }
                    if text(pieces, at) != "::" {
                        break;
                    }
                    at += 1;
                }
            }
        }
        let is_joined = matches!((text(pieces, at), text(pieces, at + 1)), ("&", "&") | ("|", "|"));
        if !is_joined {
            break;
        }
        at += 2;
    }
    at.min(pieces.len())
}

/// Parses the parameters in the brackets of `template <…>`.
fn template_head(pieces: &[Piece], template: &mut Template, names: &mut Vec<String>) {
    for one in split(pieces, ",") {
        template.parameters.push(joined(one));
        let parts = split(one, "=");
        let declared = parts.first().copied().unwrap_or_default();
        // A name follows a type, or `typename` or `class`.
        let is_named = declared.len() > 1 && declared.last().is_some_and(Piece::is_word);
        let (kind, name) = declared.split_at(declared.len() - usize::from(is_named));
        let mut kind: Vec<Piece> = kind.to_vec();
        if let Some(first) = kind.first_mut().filter(|first| first.is("class")) {
            first.text = "typename".to_owned();
        }
        let default = parts.get(1).map(|default| format!(" = {}", joined(default))).unwrap_or_default();
        template.kinds.push(format!("{}{default}", joined(&kind)));
        names.push(name.first().map(|name| name.text.clone()).unwrap_or_default());
    }
}
