//! Reads the members of a call as those of a call alone, and its arguments on the way.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer, SeqAccessDeserializer, StringDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::lenient::Args;
use super::records::{Activity, CallWithArgs};
use super::values::Text;

const ARGS: &str = "args";

impl<'de: 'a, 'a> Deserialize<'de> for CallWithArgs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CallVisitor(PhantomData))
    }
}

struct CallVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for CallVisitor<'a> {
    type Value = CallWithArgs<'a>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a call")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<CallWithArgs<'a>, A::Error> {
        let mut args = None;
        let call = Activity::deserialize(MapAccessDeserializer::new(Tap { members, args: &mut args }))?;
        Ok(CallWithArgs { call, args: args.unwrap_or_default() })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<CallWithArgs<'a>, A::Error> {
        let call = Activity::deserialize(SeqAccessDeserializer::new(elements))?;
        Ok(CallWithArgs { call, args: Args::default() })
    }
}

/// The members but for the arguments, which it keeps.
struct Tap<'t, 'a, A> {
    members: A,
    args: &'t mut Option<Args<'a>>,
}

impl<'de: 'a, 'a, A: MapAccess<'de>> MapAccess<'de> for Tap<'_, 'a, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        loop {
            let Some(Text(key)) = self.members.next_key::<Text<'de>>()? else { return Ok(None) };
            match key.unwrap_or_default() {
                key if key == ARGS => {
                    if self.args.replace(self.members.next_value()?).is_some() {
                        return Err(A::Error::duplicate_field(ARGS));
                    }
                }
                Cow::Borrowed(key) => return seed.deserialize(BorrowedStrDeserializer::new(key)).map(Some),
                Cow::Owned(key) => return seed.deserialize(StringDeserializer::new(key)).map(Some),
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.members.next_value_seed(seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_understood_with_its_arguments_if_and_only_if_it_is_without() {
        for (text, understood) in [
            (r#"{"args": [1], "kind": 2, "x": 1e999}"#, true),
            (r#"{"args": [1e999], "kind": 2}"#, false),
            (r#"{"args": [{"name": "a", "other": 1e999}], "kind": 2}"#, true),
            (r#"{"args": [{"name": "a", "name": "b"}], "\u006bind": 2}"#, true),
            (r#"{"args": [], "args": [], "kind": 2}"#, false),
            (r#"{"kind": 2, "kind": 2, "args": []}"#, false),
            ("[2]", true),
            ("2", false),
        ] {
            let call = serde_json::from_str::<Activity>(text);
            let with_args = serde_json::from_str::<CallWithArgs<'_>>(text);
            assert_eq!((call.is_ok(), with_args.is_ok()), (understood, understood), "{text} {call:?} {with_args:?}");
            assert!(with_args.is_ok_and(|with_args| with_args.call.kind.0 == Some(2)) || !understood, "{text}");
        }
    }
}
