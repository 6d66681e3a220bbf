//! Values in the actual spellings of files: numbers as text, handles as objects, nulls, and unexpected types.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess};
use serde_json::{Map, Value};

use super::lenient::{Lenient, leniently};

/// An integer, if the value is one: a number, a text of a number (decimal or hexadecimal), or an object with a `handle`. Integers above
/// 2^63 keep their bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Int(pub Option<i64>);

/// A number, if the value is one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Real(pub Option<f64>);

/// A text. Numbers are spelled out; other values are missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(pub Option<String>);

/// The record of an agent, without its long lists, which are not needed. It has no members if it is not an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AgentRecord(pub Map<String, Value>);

/// Lists that take a hundred kilobytes for every agent.
const LONG_LISTS: &[&str] = &["caches", "io_links"];

impl Int {
    /// The value, unless it is 0, which means a missing id.
    pub(crate) fn nonzero(self) -> Option<i64> {
        self.0.filter(|value| *value != 0)
    }
}

impl Text {
    /// The text, unless it is empty or missing.
    pub fn filled(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }

    /// Works like [`Text::filled`], and returns the owned text.
    pub fn into_filled(self) -> Option<String> {
        self.0.filter(|text| !text.is_empty())
    }
}

/// Reads null as empty.
///
/// # Errors
/// When the value is not null, and does not have this type.
pub fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn integer_of_real(real: f64) -> Option<i64> {
    const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
    const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;
    match real {
        _ if real.fract() != 0.0 || !(-TWO_TO_63..TWO_TO_64).contains(&real) => None,
        _ if real < TWO_TO_63 => Some(real as i64),
        _ => Some((real as u64) as i64),
    }
}

fn integer_of_text(text: &str) -> Option<i64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|value| value as i64),
        None => text
            .parse()
            .ok()
            .or_else(|| text.parse().ok().map(|value: u64| value as i64))
            .or_else(|| text.parse().ok().and_then(integer_of_real)),
    }
}

/// The value of `handle` or `value` in an object.
fn handle<'de, A: MapAccess<'de>, T: Deserialize<'de>>(mut members: A) -> Result<Option<T>, A::Error> {
    let mut found = None;
    while let Some(key) = members.next_key::<String>()? {
        if found.is_none() && (key == "handle" || key == "value") {
            found = Some(members.next_value()?);
        } else {
            members.next_value::<IgnoredAny>()?;
        }
    }
    Ok(found)
}

macro_rules! deserialize_leniently {
    ($($type:ty),*) => {$(
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                leniently(deserializer)
            }
        }
    )*};
}
pub(crate) use deserialize_leniently;

deserialize_leniently!(Int, Real, Text, AgentRecord);

impl<'de> Lenient<'de> for Int {
    fn of_integer(value: i128) -> Self {
        Self(Some(value as i64))
    }

    fn of_real(value: f64) -> Self {
        Self(integer_of_real(value))
    }

    fn of_truth(value: bool) -> Self {
        Self(Some(i64::from(value)))
    }

    fn of_text(value: &str) -> Self {
        Self(integer_of_text(value))
    }

    fn of_object<A: MapAccess<'de>>(members: A) -> Result<Self, A::Error> {
        Ok(handle(members)?.unwrap_or_default())
    }
}

impl<'de> Lenient<'de> for Real {
    fn of_integer(value: i128) -> Self {
        Self(Some(value as f64))
    }

    fn of_real(value: f64) -> Self {
        Self(Some(value))
    }

    fn of_truth(value: bool) -> Self {
        Self(Some(f64::from(u8::from(value))))
    }

    fn of_text(value: &str) -> Self {
        Self(value.trim().parse().ok().filter(|value: &f64| value.is_finite()))
    }

    fn of_object<A: MapAccess<'de>>(members: A) -> Result<Self, A::Error> {
        Ok(handle(members)?.unwrap_or_default())
    }
}

impl Lenient<'_> for Text {
    fn of_integer(value: i128) -> Self {
        Self(Some(value.to_string()))
    }

    fn of_real(value: f64) -> Self {
        Self(Some(value.to_string()))
    }

    fn of_truth(value: bool) -> Self {
        Self(Some(value.to_string()))
    }

    fn of_text(value: &str) -> Self {
        Self(Some(value.to_owned()))
    }
}

impl<'de> Lenient<'de> for AgentRecord {
    fn of_object<A: MapAccess<'de>>(mut members: A) -> Result<Self, A::Error> {
        let mut kept = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if LONG_LISTS.contains(&key.as_str()) {
                members.next_value::<IgnoredAny>()?;
            } else {
                kept.insert(key, members.next_value()?);
            }
        }
        Ok(Self(kept))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(json: &str) -> Option<i64> {
        serde_json::from_str::<Int>(json).unwrap().0
    }

    #[test]
    fn integers_in_every_spelling() {
        for (json, expected) in [
            ("5", Some(5)),
            ("-5", Some(-5)),
            ("18446744073709551615", Some(-1)),
            ("5.0", Some(5)),
            ("5.5", None),
            ("1e3", Some(1000)),
            ("18446744073709551616", None),
            ("\"0x00007f0000000010\"", Some(0x7f00_0000_0010)),
            ("\"0xffffffffffffffff\"", Some(-1)),
            ("\" 12 \"", Some(12)),
            ("\"\"", None),
            ("\"nan\"", None),
            ("null", None),
            ("true", Some(1)),
            ("[1, [2]]", None),
            (r#"{"handle": 7}"#, Some(7)),
            (r#"{"ptr": {"x": 1}, "value": 3}"#, Some(3)),
            ("{}", None),
        ] {
            assert_eq!(int(json), expected, "{json}");
        }
    }

    #[test]
    fn texts_and_reals() {
        assert_eq!(serde_json::from_str::<Text>("12").unwrap().filled(), Some("12"));
        assert_eq!(serde_json::from_str::<Text>("\"a\\nb\"").unwrap().filled(), Some("a\nb"));
        assert_eq!(serde_json::from_str::<Text>("{\"a\": []}").unwrap().filled(), None);
        assert_eq!(serde_json::from_str::<Real>("\"nan\"").unwrap().0, None);
        assert_eq!(serde_json::from_str::<Real>("\"2.5\"").unwrap().0, Some(2.5));
    }
}
