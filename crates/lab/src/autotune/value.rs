//! Values of parameters.

use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};

use serde::{Serialize, Serializer};

/// A value of a parameter. Values are equal if their texts are equal.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Flag(bool),
    Integer(i128),
    Number(f64),
    Text(String),
    /// A number whose typed text differs from its printed form, such as the version 6.10.
    Typed {
        text: String,
        number: f64,
    },
}

impl Value {
    /// Makes a value from the command line, and keeps its text. It is a number if JSON has it as a number.
    pub fn typed(text: &str) -> Self {
        let as_text = || Self::Text(text.to_owned());
        let Ok(known) = serde_json::from_str::<serde_json::Number>(text) else { return as_text() };
        // The JSON reader is not exact to the last bit of longer numbers.
        let Some(number) = text.trim().parse().ok().filter(|number: &f64| number.is_finite()) else { return as_text() };
        let value = known
            .as_i64()
            .map(|integer| Self::Integer(integer.into()))
            .or_else(|| known.as_u64().map(|integer| Self::Integer(integer.into())))
            .unwrap_or(Self::Number(number));
        if value.to_string() == text { value } else { Self::Typed { text: text.to_owned(), number } }
    }

    /// Makes a value from a computed number: an integer if it has no fraction.
    pub fn of_number(number: f64) -> Self {
        if fits(number) { Self::Integer(number as i128) } else { Self::Number(number) }
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(*integer as f64),
            Self::Number(number) | Self::Typed { number, .. } => Some(*number),
            Self::Flag(_) | Self::Text(_) => None,
        }
    }

    /// The value as an integer, if it is written as one.
    pub fn integer(&self) -> Option<i128> {
        if let Self::Integer(integer) = self { Some(*integer) } else { None }
    }

    /// Orders numbers by size, and other values after them by text.
    pub fn order(&self, other: &Self) -> Ordering {
        let by_text = || self.to_string().cmp(&other.to_string());
        match (self.number(), other.number()) {
            // An integer that equals a float after conversion may still differ from it.
            (Some(one), Some(two)) => {
                one.total_cmp(&two).then_with(|| self.integer().cmp(&other.integer())).then_with(by_text)
            }
            (one, two) => two.is_some().cmp(&one.is_some()).then_with(by_text),
        }
    }
}

/// Returns whether a number is an integer that a float holds exactly.
fn fits(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0
}

/// Formats numbers as JSON does.
impl Display for Value {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(formatter, "{flag}"),
            Self::Integer(integer) => write!(formatter, "{integer}"),
            Self::Number(number) => match serde_json::Number::from_f64(*number) {
                Some(printed) => write!(formatter, "{printed}"),
                None => write!(formatter, "{number}"),
            },
            Self::Text(text) | Self::Typed { text, .. } => formatter.write_str(text),
        }
    }
}

/// Writes numbers as numbers if they print as they were typed, otherwise as texts.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Integer(integer) => serializer.serialize_i128(*integer),
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Text(text) | Self::Typed { text, .. } => serializer.serialize_str(text),
        }
    }
}
