//! The text of a space as a tree, from JSON or TOML: integers are exact, and each key occurs once.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::value::Value;

pub type Object = BTreeMap<String, Tree>;

#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    Value(Value),
    /// A value that a parameter cannot have, by its name in messages: null, nan, a date.
    Other(String),
    List(Vec<Tree>),
    Object(Object),
}

impl Tree {
    pub(crate) fn of_json(text: &str) -> Result<Self, String> {
        let tree = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match large_integer(text) {
            Some(number) => Err(format!("the integer {number} has more than 64 bits; write it as a text, in quotes")),
            None => Ok(tree),
        }
    }

    pub(crate) fn of_toml(text: &str) -> Result<Self, String> {
        let table: toml::Table = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        Ok(Self::from(toml::Value::Table(table)))
    }

    fn of_float(number: f64) -> Self {
        if number.is_nan() {
            return Self::Other("nan".to_owned());
        }
        if number.is_finite() { Self::Value(Value::Number(number)) } else { Self::Other(number.to_string()) }
    }
}

impl From<toml::Value> for Tree {
    fn from(value: toml::Value) -> Self {
        match value {
            toml::Value::String(text) => Self::Value(Value::Text(text)),
            toml::Value::Integer(integer) => Self::Value(Value::Integer(integer.into())),
            toml::Value::Float(number) => Self::of_float(number),
            toml::Value::Boolean(flag) => Self::Value(Value::Flag(flag)),
            toml::Value::Datetime(time) if time.date.is_none() => Self::Other(format!("the time {time}")),
            toml::Value::Datetime(time) => Self::Other(format!("the date {time}")),
            toml::Value::Array(list) => Self::List(list.into_iter().map(Self::from).collect()),
            toml::Value::Table(table) => {
                Self::Object(table.into_iter().map(|(key, value)| (key, Self::from(value))).collect())
            }
        }
    }
}

impl Display for Tree {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(Value::Text(text)) => write!(formatter, "the text `{text}`"),
            Self::Value(value) => write!(formatter, "{value}"),
            Self::Other(name) => formatter.write_str(name),
            Self::List(_) => formatter.write_str("a list"),
            Self::Object(_) => formatter.write_str("an object"),
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("a document")
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Tree, E> {
        Ok(Tree::Value(Value::Flag(flag)))
    }

    fn visit_i64<E: Error>(self, integer: i64) -> Result<Tree, E> {
        Ok(Tree::Value(Value::Integer(integer.into())))
    }

    fn visit_u64<E: Error>(self, integer: u64) -> Result<Tree, E> {
        Ok(Tree::Value(Value::Integer(integer.into())))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Tree, E> {
        Ok(Tree::of_float(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::Value(Value::Text(text.to_owned())))
    }

    fn visit_unit<E: Error>(self) -> Result<Tree, E> {
        Ok(Tree::Other("null".to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(entry) = access.next_element()? {
            list.push(entry);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Tree, A::Error> {
        let mut object = Object::new();
        while let Some((key, value)) = access.next_entry::<String, Tree>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{key}` is there twice")));
            }
            object.insert(key, value);
        }
        Ok(Tree::Object(object))
    }
}

/// The first integer outside of texts that does not fit into 64 bits: the JSON reader would turn it into a float.
fn large_integer(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let start = rest.find(|first: char| first == '"' || first == '-' || first.is_ascii_digit())?;
        rest = rest.get(start..)?;
        if let Some(inner) = rest.strip_prefix('"') {
            rest = behind_text(inner);
            continue;
        }
        let is_part = |character: char| character.is_ascii_alphanumeric() || "+-.".contains(character);
        let end = rest.find(|character| !is_part(character)).unwrap_or(rest.len());
        let (number, behind) = rest.split_at(end);
        let is_integer = number.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
        if is_integer && number.parse::<i64>().is_err() && number.parse::<u64>().is_err() {
            return Some(number);
        }
        rest = behind;
    }
}

/// The text after a closing quote.
fn behind_text(inner: &str) -> &str {
    let mut is_escaped = false;
    let end = inner.find(|character| {
        let is_end = character == '"' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        is_end
    });
    end.and_then(|end| inner.get(end + 1..)).unwrap_or_default()
}
