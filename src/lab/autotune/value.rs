//! Values of parameters.

use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// A value of a parameter. Values are the same where their texts are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Flag(bool),
    Integer(i64),
    Number(f64),
    Text(String),
}

impl Value {
    /// From a document; `None` of null, lists, objects, and numbers that are too large.
    pub(crate) fn of_json(value: &serde_json::Value) -> Option<Self> {
        match value {
            serde_json::Value::Bool(flag) => Some(Self::Flag(*flag)),
            serde_json::Value::String(text) => Some(Self::Text(text.clone())),
            serde_json::Value::Number(number) => number
                .as_i64()
                .map(Self::Integer)
                .or_else(|| number.as_f64().filter(|number| number.is_finite() && !fits(*number)).map(Self::Number))
                .or_else(|| number.as_f64().filter(|number| fits(*number)).map(|number| Self::Integer(number as i64))),
            _ => None,
        }
    }

    /// From a computed number, which is an integer where it has no fraction.
    pub(crate) fn of_number(number: f64) -> Self {
        if fits(number) { Self::Integer(number as i64) } else { Self::Number(number) }
    }

    /// As a number; texts and flags have none.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(*integer as f64),
            Self::Number(number) => Some(*number),
            Self::Flag(_) | Self::Text(_) => None,
        }
    }

    /// Numbers by size, and before everything else, which is by text.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        match (self.number(), other.number()) {
            (Some(one), Some(two)) => one.total_cmp(&two),
            (one, two) => two.is_some().cmp(&one.is_some()).then_with(|| self.to_string().cmp(&other.to_string())),
        }
    }
}

/// Whether a number is an integer that a float holds exactly.
fn fits(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0
}

impl Display for Value {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(formatter, "{flag}"),
            Self::Integer(integer) => write!(formatter, "{integer}"),
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}
