//! Arguments of a call: a list of objects, or an object of values by name.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess};

use super::lenient::{Lenient, leniently};
use super::values::{Text, deserialize_leniently};

/// An argument of a call.
#[derive(Clone, Debug, Default)]
pub struct Arg {
    pub type_name: Text,
    pub name: Text,
    pub value: Text,
}

/// The arguments in order.
#[derive(Clone, Debug, Default)]
pub struct Args(pub Vec<Arg>);

deserialize_leniently!(Arg, Args);

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

/// The last value of a repeated key counts. Calls are numbered after parsing, so arguments must never make the parser refuse a call.
impl<'de> Lenient<'de> for Arg {
    fn of_object<A: MapAccess<'de>>(mut members: A) -> Result<Self, A::Error> {
        let mut arg = Self::default();
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

impl<'de> Lenient<'de> for Args {
    fn of_list<A: SeqAccess<'de>>(mut elements: A) -> Result<Self, A::Error> {
        let mut args = Vec::new();
        while let Some(arg) = elements.next_element()? {
            args.push(arg);
        }
        Ok(Self(args))
    }

    fn of_object<A: MapAccess<'de>>(mut members: A) -> Result<Self, A::Error> {
        let mut args = Vec::new();
        while let Some((name, value)) = members.next_entry::<String, Text>()? {
            args.push(Arg { name: Text(Some(name)), value, ..Arg::default() });
        }
        Ok(Self(args))
    }
}

#[cfg(test)]
mod tests {
    use crate::rocprofv3_json::layouts::Activity;
    use crate::rocprofv3_json::parsing::row::Row;

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
                let call: Row<Activity> = serde_json::from_str(&text).unwrap();
                let text = |text: &super::Text| text.filled().unwrap_or_default().to_owned();
                let args: Vec<String> =
                    call.args.iter().map(|arg| format!("{}={}", text(&arg.name), text(&arg.value))).collect();
                assert_eq!(args.join(" "), expected, "{json}");
                assert_eq!((call.get("end"), call.get("correlation_id")), (Some(9), Some(7)), "{json}");
            }
        }
    }
}
