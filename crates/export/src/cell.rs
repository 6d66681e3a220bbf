//! Values of a frame, one at a time.

use polars::prelude::{AnyValue, Column};
use serde::Serialize;
use serde_json::Value;

/// A value as text formats write it. JSON cannot express numbers that are not finite.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// Missing.
    Null,
    /// Whole number.
    Integer(i64),
    /// Number.
    Float(f64),
    /// Truth value.
    Bool(bool),
    Text(String),
}

impl Cell {
    /// The value of a column in a row.
    pub fn new(column: &Column, row: usize) -> Self {
        match column.get(row).unwrap_or(AnyValue::Null) {
            AnyValue::Null => Self::Null,
            AnyValue::Int64(value) => Self::Integer(value),
            AnyValue::Float64(value) => Self::Float(value),
            AnyValue::Boolean(value) => Self::Bool(value),
            other => match other.get_str() {
                Some(text) => Self::Text(text.to_owned()),
                None => other.extract::<i64>().map_or_else(|| Self::Text(other.to_string()), Self::Integer),
            },
        }
    }

    /// The value as plain text, empty when missing.
    pub fn plain(&self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::Bool(value) => value.to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    /// The value in JSON.
    pub fn json(self) -> Value {
        serde_json::json!(self)
    }
}
