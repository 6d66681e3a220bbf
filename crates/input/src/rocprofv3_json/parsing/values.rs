//! Values as files really spell them: numbers as text, handles as objects, nulls, and things that should not be there.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// An integer, if it is one: a number, a text of one (decimal or hexadecimal), or an object with a `handle`. Those
/// above 2^63 keep their bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Int(pub Option<i64>);

/// A number, if it is one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Real(pub Option<f64>);

/// A text; numbers are spelled out, anything else is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text<'a>(pub Option<Cow<'a, str>>);

/// Number of elements of an array or members of an object, whatever they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Length(pub usize);

/// The record of an agent, without its long lists that are not requested. It has no members if it is not an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AgentRecord(pub Map<String, Value>);

/// Lists of a hundred kilobytes for every agent.
const LONG_LISTS: &[&str] = &["caches", "io_links"];

impl Int {
    /// The value unless it is 0, which stands for none in ids.
    pub(crate) fn nonzero(self) -> Option<i64> {
        self.0.filter(|value| *value != 0)
    }
}

impl Text<'_> {
    /// The text, unless it is empty or missing.
    pub fn filled(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }
}

/// Reads null as empty.
///
/// # Errors
/// When the value is neither null nor of this type.
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

/// Passes over the elements of an array.
fn skip<'de, A: SeqAccess<'de>>(mut elements: A) -> Result<usize, A::Error> {
    let mut count = 0;
    while elements.next_element::<IgnoredAny>()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// The value of `handle` or `value` in an object.
fn handle<'de, A: MapAccess<'de>, T: Deserialize<'de>>(mut members: A) -> Result<Option<T>, A::Error> {
    let mut found = None;
    while let Some(key) = members.next_key::<Cow<'de, str>>()? {
        if found.is_none() && (key == "handle" || key == "value") {
            found = Some(members.next_value()?);
        } else {
            members.next_value::<IgnoredAny>()?;
        }
    }
    Ok(found)
}

macro_rules! lenient {
    ($type:ty, $lifetime:lifetime, $visitor:ident, $what:literal, { $($methods:tt)* }) => {
        struct $visitor;

        impl<$lifetime> Visitor<$lifetime> for $visitor {
            type Value = $type;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str($what)
            }

            $($methods)*
        }
    };
}

impl<'de> Deserialize<'de> for Int {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IntVisitor)
    }
}

impl<'de> Deserialize<'de> for Real {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RealVisitor)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

impl<'de> Deserialize<'de> for AgentRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AgentRecordVisitor)
    }
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LengthVisitor)
    }
}

lenient!(Int, 'de, IntVisitor, "an integer", {
    fn visit_i64<E: Error>(self, value: i64) -> Result<Int, E> {
        Ok(Int(Some(value)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Int, E> {
        Ok(Int(Some(value as i64)))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Int, E> {
        Ok(Int(integer_of_real(value)))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Int, E> {
        Ok(Int(Some(i64::from(value))))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Int, E> {
        Ok(Int(integer_of_text(value)))
    }

    fn visit_unit<E: Error>(self) -> Result<Int, E> {
        Ok(Int(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<Int, A::Error> {
        skip(elements).map(|_| Int(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Int, A::Error> {
        Ok(handle::<A, Int>(members)?.unwrap_or_default())
    }
});

lenient!(Real, 'de, RealVisitor, "a number", {
    fn visit_i64<E: Error>(self, value: i64) -> Result<Real, E> {
        Ok(Real(Some(value as f64)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Real, E> {
        Ok(Real(Some(value as f64)))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Real, E> {
        Ok(Real(Some(value)))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Real, E> {
        Ok(Real(Some(f64::from(u8::from(value)))))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Real, E> {
        Ok(Real(value.trim().parse().ok().filter(|value: &f64| value.is_finite())))
    }

    fn visit_unit<E: Error>(self) -> Result<Real, E> {
        Ok(Real(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<Real, A::Error> {
        skip(elements).map(|_| Real(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Real, A::Error> {
        Ok(handle::<A, Real>(members)?.unwrap_or_default())
    }
});

lenient!(Text<'de>, 'de, TextVisitor, "a text", {
    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Borrowed(value))))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(value.to_owned()))))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(value.to_string()))))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(value.to_string()))))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(value.to_string()))))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Borrowed(if value { "true" } else { "false" }))))
    }

    fn visit_unit<E: Error>(self) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<Text<'de>, A::Error> {
        skip(elements).map(|_| Text(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Text<'de>, A::Error> {
        handle::<A, IgnoredAny>(members).map(|_| Text(None))
    }
});

lenient!(AgentRecord, 'de, AgentRecordVisitor, "an agent", {
    fn visit_bool<E: Error>(self, _: bool) -> Result<AgentRecord, E> {
        Ok(AgentRecord::default())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<AgentRecord, E> {
        Ok(AgentRecord::default())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<AgentRecord, E> {
        Ok(AgentRecord::default())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<AgentRecord, E> {
        Ok(AgentRecord::default())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<AgentRecord, E> {
        Ok(AgentRecord::default())
    }

    fn visit_unit<E: Error>(self) -> Result<AgentRecord, E> {
        Ok(AgentRecord::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<AgentRecord, A::Error> {
        skip(elements).map(|_| AgentRecord::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<AgentRecord, A::Error> {
        let mut kept = Map::new();
        while let Some(key) = members.next_key::<Cow<'de, str>>()? {
            if LONG_LISTS.contains(&key.as_ref()) {
                members.next_value::<IgnoredAny>()?;
            } else {
                kept.insert(key.into_owned(), members.next_value()?);
            }
        }
        Ok(AgentRecord(kept))
    }
});

lenient!(Length, 'de, LengthVisitor, "an array", {
    fn visit_bool<E: Error>(self, _: bool) -> Result<Length, E> {
        Ok(Length(0))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Length, E> {
        Ok(Length(0))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Length, E> {
        Ok(Length(0))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Length, E> {
        Ok(Length(0))
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Length, E> {
        Ok(Length(0))
    }

    fn visit_unit<E: Error>(self) -> Result<Length, E> {
        Ok(Length(0))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<Length, A::Error> {
        skip(elements).map(Length)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Length, A::Error> {
        let mut count = 0;
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(Length(count))
    }
});

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
        assert_eq!(serde_json::from_str::<Text<'_>>("12").unwrap().filled(), Some("12"));
        assert_eq!(serde_json::from_str::<Text<'_>>("\"a\\nb\"").unwrap().filled(), Some("a\nb"));
        assert_eq!(serde_json::from_str::<Text<'_>>("{\"a\": []}").unwrap().filled(), None);
        assert_eq!(serde_json::from_str::<Real>("\"nan\"").unwrap().0, None);
        assert_eq!(serde_json::from_str::<Real>("\"2.5\"").unwrap().0, Some(2.5));
        assert_eq!(serde_json::from_str::<Length>("[1, {}, []]").unwrap().0, 3);
    }
}
