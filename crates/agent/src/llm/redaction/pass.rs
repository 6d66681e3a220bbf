//! Redacts the final bytes of a request.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::Value;

use super::map::{KnownName, Name, TokenMap};
use super::nested::{self, texts};
use super::rules::Rules;

/// Protocol fields whose values are not private: a model name can look like a path.
pub(super) const FIELDS_OF_PROTOCOLS: [&str; 3] = ["role", "type", "model"];

/// Maximum number of passes over a text. They repeat until nothing changes, and each leaves less to find.
const MOST_PASSES: usize = 16;

/// Redacts private data.
#[derive(Clone, Debug)]
pub struct Redactor {
    rules: Rules,
    map: TokenMap,
    /// Texts that the model wrote, or that repeat nothing else, in the form of requests.
    returned: BTreeSet<String>,
}

/// A text in the form that is stored on this machine, with its names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remembered {
    pub text: String,
    pub names: Vec<KnownName>,
}

/// A part of a text.
enum Piece {
    Text(String),
    Token(String),
}

impl Redactor {
    /// Makes a redactor with known names.
    pub fn new(rules: Rules, map: TokenMap) -> Self {
        Self { rules, map, returned: BTreeSet::new() }
    }

    /// The map of tokens.
    pub fn map(&self) -> &TokenMap {
        &self.map
    }

    /// Lets a text go back unchanged: a guess of the model that came back as a token would be confirmed. It applies
    /// only to a whole text of a body, and to the texts within it if it is JSON.
    pub fn returns(&mut self, text: &str) {
        if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str::<Value>(text) {
            self.returned.extend(texts(&value));
            self.returned.extend(strings(&value));
            // In the form that protocols write again.
            self.returned.insert(value.to_string());
        }
        self.returned.insert(text.to_owned());
    }

    /// [`Self::returns`] for a text of which a part may go back, while the rest comes from this program.
    pub(crate) fn returns_in(&mut self, part: &str, whole: &str) {
        if self.returned.contains(part) {
            self.returns(whole);
        }
    }

    /// Makes names of an earlier request known again.
    pub fn learn(&mut self, names: &[KnownName]) {
        names.iter().for_each(|name| self.map.learn(name));
    }

    /// A text in the form that is stored on this machine: with real names if they will be found again, and without
    /// secrets.
    pub fn remembered(&mut self, text: &str) -> Remembered {
        let safe = self.text(text);
        let safe = self.map.bracketed(&safe);
        let names = self.map.names_in(&safe);
        let as_it_is = (!self.map.has_secret(&safe)).then(|| self.map.restored(text));
        let candidates = as_it_is.into_iter().chain([self.map.restored(&safe)]);
        let found = candidates.into_iter().find(|candidate| self.text(candidate) == safe);
        Remembered { text: found.unwrap_or(safe), names }
    }

    /// The map, to add names that become known later.
    pub(crate) fn map_mut(&mut self) -> &mut TokenMap {
        &mut self.map
    }

    /// Redacts the bytes of a request. JSON is searched text by text, so that no escape hides anything; other bytes are
    /// one text.
    pub fn bytes(&mut self, bytes: &[u8]) -> Vec<u8> {
        match serde_json::from_slice::<Value>(bytes) {
            Ok(mut value) => {
                // A path in one text may reveal a person that an earlier text mentions.
                texts(&value).iter().for_each(|text| self.meet(text));
                self.value(&mut value);
                value.to_string().into_bytes()
            }
            Err(_) => self.text(&String::from_utf8_lossy(bytes)).into_bytes(),
        }
    }

    /// Redacts data before it becomes text, in which line breaks and tabs would be letters.
    pub fn data(&mut self, data: &mut Value) {
        match data {
            // Slashes in names within range paths are escaped.
            Value::String(text) => *text = self.text(&text.replace("\\/", "/")),
            Value::Array(values) => values.iter_mut().for_each(|value| self.data(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.data(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The kind of a known name that is still in the bytes.
    pub fn leak(&self, bytes: &[u8]) -> Option<String> {
        let left = |text: &str| {
            let mut names = self.map.names().iter();
            names.find(|name| find_name(text, name).is_some()).map(|name| name.token.clone())
        };
        match serde_json::from_slice::<Value>(bytes) {
            Ok(mut value) => {
                self.leave_out_returned(&mut value);
                texts(&value).iter().find_map(|text| left(text))
            }
            Err(_) => left(&String::from_utf8_lossy(bytes)),
        }
    }

    fn leave_out_returned(&self, value: &mut Value) {
        match value {
            Value::String(text) if self.returned.contains(text) => text.clear(),
            Value::Array(values) => values.iter_mut().for_each(|value| self.leave_out_returned(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.leave_out_returned(value)),
            _ => {}
        }
    }

    fn value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) if self.returned.contains(text) => {}
            Value::String(text) => *text = nested::redacted(self, text).unwrap_or_else(|| self.text(text)),
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(value)),
            Value::Object(fields) => {
                for (name, value) in fields.iter_mut() {
                    let is_of_protocol = value.is_string() && FIELDS_OF_PROTOCOLS.contains(&name.as_str());
                    if !is_of_protocol {
                        self.value(value);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Adds people that paths in a text reveal.
    pub fn meet(&mut self, text: &str) {
        self.rules.people_in(text).iter().for_each(|name| self.map.person(name));
    }

    /// Redacts a text.
    pub fn text(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        self.meet(&text);
        // The rest on either side of a token may match again.
        for _ in 0..MOST_PASSES {
            let passed = self.pass(&text);
            if passed == text {
                break;
            }
            text = passed;
        }
        text
    }

    fn pass(&mut self, text: &str) -> String {
        let mut pieces = vec![Piece::Text(text.to_owned())];
        let small = text.to_ascii_lowercase();
        let stands = |name: &&Name| match &name.anywhere {
            Some(anywhere) => small.contains(anywhere),
            None => text.contains(&name.text),
        };
        let names: Vec<Name> = self.map.names().iter().filter(stands).cloned().collect();
        let (late, early): (Vec<Name>, Vec<Name>) = names.into_iter().partition(|name| name.is_late);
        for name in early {
            pieces = each(pieces, |text| split_name(&text, &name));
        }
        let Self { rules, map, .. } = self;
        for rule in &rules.rules {
            pieces = each(pieces, |text| {
                let tokens = map.places(&text);
                let mut parts = Vec::new();
                let mut end = 0;
                for found in rule.pattern.captures_iter(&text) {
                    let Some(part) = found.name("it").or_else(|| found.get(0)) else { continue };
                    if part.start() < end || rule.except.as_ref().is_some_and(|except| except.is_match(part.as_str())) {
                        continue;
                    }
                    for place in between(part.range(), &tokens) {
                        let secret = text.get(place.clone()).unwrap_or_default();
                        if secret.trim().is_empty() {
                            continue;
                        }
                        parts.push(Piece::Text(text.get(end..place.start).unwrap_or_default().to_owned()));
                        parts.push(Piece::Token(map.token(&rule.token, secret, rule.is_restored)));
                        end = place.end;
                    }
                }
                parts.push(Piece::Text(text.get(end..).unwrap_or_default().to_owned()));
                parts
            });
        }
        for name in late {
            pieces = each(pieces, |text| split_name(&text, &name));
        }
        let texts = pieces.into_iter().map(|piece| match piece {
            Piece::Text(text) | Piece::Token(text) => text,
        });
        texts.collect()
    }
}

/// All texts of a value as they stand, including those that are JSON.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Splits the texts of the pieces further.
fn each(pieces: Vec<Piece>, mut divide: impl FnMut(String) -> Vec<Piece>) -> Vec<Piece> {
    let mut divided = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match piece {
            Piece::Text(text) if text.is_empty() => {}
            Piece::Text(text) => divided.extend(divide(text)),
            token @ Piece::Token(_) => divided.push(token),
        }
    }
    divided
}

/// The parts of a range outside of all tokens.
fn between(place: Range<usize>, tokens: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut left = Vec::new();
    let mut start = place.start;
    for token in tokens.iter().filter(|token| token.start < place.end && place.start < token.end) {
        if start < token.start {
            left.push(start..token.start);
        }
        start = token.end;
    }
    if start < place.end {
        left.push(start..place.end);
    }
    left
}

fn split_name(text: &str, name: &Name) -> Vec<Piece> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = find_name(rest, name) {
        parts.push(Piece::Text(before.to_owned()));
        parts.push(Piece::Token(name.token.clone()));
        rest = after;
    }
    parts.push(Piece::Text(rest.to_owned()));
    parts
}

/// Returns whether the boundary between two texts is within a token.
fn is_of_token(before: &str, after: &str) -> bool {
    let is_of_token = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    before.trim_end_matches(is_of_token).ends_with('[') && after.trim_start_matches(is_of_token).starts_with(']')
}

/// The texts before and after a name. A name within a longer word counts only if it is searched anywhere.
fn find_name<'a>(text: &'a str, name: &Name) -> Option<(&'a str, &'a str)> {
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    if let Some(anywhere) = &name.anywhere {
        // Only ASCII letters change, so positions stay.
        let small = text.to_ascii_lowercase();
        return small.match_indices(anywhere).find_map(|(start, _)| {
            let (before, after) = (text.get(..start)?, text.get(start + anywhere.len()..)?);
            (!is_of_token(before, after)).then_some((before, after))
        });
    }
    let name = name.text.as_str();
    let (first, last) = (name.chars().next()?, name.chars().next_back()?);
    text.match_indices(name).find_map(|(start, _)| {
        let (before, after) = (text.get(..start)?, text.get(start + name.len()..)?);
        let is_joined_before = is_of_word(first) && before.chars().next_back().is_some_and(is_of_word);
        let is_joined_after = is_of_word(last) && after.chars().next().is_some_and(is_of_word);
        (!is_joined_before && !is_joined_after).then_some((before, after))
    })
}
