//! Members that ought to be objects, read without refusing the record they are in when they are not.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::records::{Arg, Correlation};
use super::values::Text;

/// An object that may be something else.
pub(crate) trait Lenient<'de>: Deserialize<'de> + Default {
    /// The meaning of a number in its place; by default, nothing.
    fn of_number(_: i64) -> Self {
        Self::default()
    }
}

impl<'de> Lenient<'de> for Correlation {
    fn of_number(number: i64) -> Self {
        Self { internal: super::values::Int(Some(number)), ..Self::default() }
    }
}

impl<'de: 'a, 'a> Lenient<'de> for Arg<'a> {}

/// Arguments of a call: a list of objects, or an object of values by name.
#[derive(Clone, Debug, Default)]
pub struct Args<'a>(pub Vec<Arg<'a>>);

/// Arguments of which nothing is kept: what refuses a call with its arguments refuses it without.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CheckedArgs;

impl<'de> Deserialize<'de> for CheckedArgs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Args::deserialize(deserializer).map(|_| Self)
    }
}

/// Reads an object; anything else is empty.
///
/// # Errors
/// When the text is not JSON, or the object repeats a key.
pub(crate) fn loosely<'de, D: Deserializer<'de>, T: Lenient<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(LenientVisitor(PhantomData))
}

struct LenientVisitor<T>(PhantomData<T>);

impl<'de, T: Lenient<'de>> Visitor<'de> for LenientVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<T, A::Error> {
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(T::default())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        Ok(T::of_number(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        Ok(T::of_number(number as i64))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Ok(T::default())
    }
}

/// Keys of an argument.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum ArgKey {
    Type,
    Name,
    Value,
    #[serde(other)]
    Other,
}

impl<'de: 'a, 'a> Deserialize<'de> for Arg<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ArgVisitor(PhantomData))
    }
}

/// The last value of a repeated key counts: calls are numbered by those that are understood, so that
/// nothing in their arguments may refuse a call.
struct ArgVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for ArgVisitor<'a> {
    type Value = Arg<'a>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an argument")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Arg<'a>, A::Error> {
        let mut arg = Arg::default();
        while let Some(key) = members.next_key()? {
            match key {
                ArgKey::Type => arg.type_name = members.next_value()?,
                ArgKey::Name => arg.name = members.next_value()?,
                ArgKey::Value => arg.value = members.next_value()?,
                ArgKey::Other => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(arg)
    }
}

/// An element of a list of arguments.
#[derive(Deserialize)]
#[serde(transparent, bound(deserialize = "'de: 'a"))]
struct Element<'a>(#[serde(deserialize_with = "loosely")] Arg<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Args<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ArgsVisitor(PhantomData))
    }
}

struct ArgsVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for ArgsVisitor<'a> {
    type Value = Args<'a>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of arguments")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Args<'a>, A::Error> {
        let mut args = Vec::new();
        while let Some(Element(arg)) = elements.next_element()? {
            args.push(arg);
        }
        Ok(Args(args))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Args<'a>, A::Error> {
        let mut args = Vec::new();
        while let Some((name, value)) = members.next_entry::<Cow<'de, str>, Text<'a>>()? {
            args.push(Arg { name: Text(Some(name)), value, ..Arg::default() });
        }
        Ok(Args(args))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Args<'a>, E> {
        Ok(Args::default())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Args<'a>, E> {
        Ok(Args::default())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Args<'a>, E> {
        Ok(Args::default())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Args<'a>, E> {
        Ok(Args::default())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Args<'a>, E> {
        Ok(Args::default())
    }

    fn visit_unit<E: Error>(self) -> Result<Args<'a>, E> {
        Ok(Args::default())
    }
}

#[cfg(test)]
mod tests {
    use crate::rocprofv3_json::parsing::records::CallWithArgs;

    #[test]
    fn arguments_in_every_spelling() {
        for (json, expected) in [
            (r#"[{"name": "a", "value": 1, "type": "int"}, {"value": "x"}, 5, null, [1], {}]"#, "a=1 =x = = = ="),
            (r#"{"a": "1", "b": {"c": 2}, "d\n": 3}"#, "a=1 b= d\n=3"),
            (r#"[{"name": "a", "value": 1, "name": "b", "x": {}, "x": 2}]"#, "b=1"),
            (r#"{"a": 1, "a": 2}"#, "a=1 a=2"),
            ("null", ""),
            ("5", ""),
            ("\"a\"", ""),
            ("[]", ""),
        ] {
            for correlation in ["7", r#"{"internal": 7}"#] {
                let text =
                    format!(r#"{{"end_timestamp": 9, "correlation_id": {correlation}, "args": {json}, "x": {{}}}}"#);
                let call: CallWithArgs<'_> = serde_json::from_str(&text).unwrap();
                let text = |text: &super::Text<'_>| text.filled().unwrap_or_default().to_owned();
                let args: Vec<String> =
                    call.args.0.iter().map(|arg| format!("{}={}", text(&arg.name), text(&arg.value))).collect();
                assert_eq!(args.join(" "), expected, "{json}");
                assert_eq!((call.call.end(), call.call.correlation_id.internal.0), (Some(9), Some(7)), "{json}");
            }
        }
    }
}
