//! The fields of a record, read with the layout of its kind.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};

use super::args::{Arg, Args};
use super::values::Int;
use crate::rocprofv3_json::layout::{Layout, MAX_FIELDS, Members, Place, Records, Target};

/// A value for every field of a layout.
pub(crate) type Values = [Option<i64>; MAX_FIELDS];

/// A record of the kind `R`.
#[derive(Debug)]
pub(crate) struct Row<R> {
    /// Values in the order of the layout.
    pub values: Values,
    pub args: Vec<Arg>,
    records: PhantomData<fn(R)>,
}

impl<R: Records> Row<R> {
    /// The value of a field.
    pub fn get(&self, field: &str) -> Option<i64> {
        self.values.get(R::layout().position(field)?).copied().flatten()
    }
}

impl<'de, R: Records> Deserialize<'de> for Row<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let layout = R::layout();
        let mut found = Found::default();
        deserializer.deserialize_any(MembersSeed { members: &layout.members, is_record: true, found: &mut found })?;
        Ok(Self { values: found.values(layout), args: found.args.0, records: PhantomData })
    }
}

/// Values, each with the rank of its path among the paths of its field. The value with the lowest rank counts.
#[derive(Default)]
struct Found {
    values: [Option<(u8, i64)>; MAX_FIELDS],
    args: Args,
}

impl Found {
    fn put(&mut self, targets: &[Target], value: Option<i64>) {
        let Some(value) = value else { return };
        for target in targets {
            if let Some(place) = self.values.get_mut(target.field)
                && place.is_none_or(|(rank, _)| target.rank < rank)
            {
                *place = Some((target.rank, value));
            }
        }
    }

    fn values(&self, layout: &Layout) -> Values {
        let mut values = self.values.map(|found| found.map(|(_, value)| value));
        for (value, field) in values.iter_mut().zip(layout.fields) {
            *value = value.filter(|value| !(field.zero_is_none && *value == 0));
        }
        values
    }
}

/// Reads an object that may hold fields.
struct MembersSeed<'m, 'f> {
    members: &'m Members,
    /// Whether it is the record itself, which must not be missing.
    is_record: bool,
    found: &'f mut Found,
}

impl MembersSeed<'_, '_> {
    /// Handles a value that is not an object.
    fn other<E: Error>(&self, found: Unexpected<'_>) -> Result<(), E> {
        if self.members.is_loose { Ok(()) } else { Err(E::invalid_type(found, self)) }
    }
}

impl<'de> DeserializeSeed<'de> for MembersSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for MembersSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut seen = 0_u64;
        while let Some(known) = members.next_key_seed(Key(self.members))? {
            let Some((at, (key, place))) = known.and_then(|at| Some((at, self.members.members.get(at)?))) else {
                members.next_value::<IgnoredAny>()?;
                continue;
            };
            if seen >> at & 1 == 1 {
                return Err(A::Error::duplicate_field(key));
            }
            seen |= 1 << at;
            match place {
                Place::Integer(targets) => self.found.put(targets, members.next_value::<Int>()?.0),
                Place::Count(targets) => {
                    let args: Args = members.next_value()?;
                    self.found.put(targets, i64::try_from(args.0.len()).ok());
                    self.found.args = args;
                }
                Place::Object(inner) => {
                    members.next_value_seed(MembersSeed { members: inner, is_record: false, found: self.found })?;
                }
            }
        }
        Ok(())
    }

    /// A list has no members, and is not a record.
    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        if self.is_record {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.found.put(&self.members.bare, Some(value));
        self.other(Unexpected::Signed(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.found.put(&self.members.bare, Some(value as i64));
        self.other(Unexpected::Unsigned(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.other(Unexpected::Float(value))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.other(Unexpected::Bool(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.other(Unexpected::Str(value))
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        if self.is_record { self.other(Unexpected::Unit) } else { Ok(()) }
    }
}

/// The position of a key among the known keys.
struct Key<'m>(&'m Members);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<usize>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<usize>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Option<usize>, E> {
        Ok(self.0.position(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rocprofv3_json::layouts::{Activity, Dispatch};

    #[test]
    fn records_are_refused_for_what_is_no_object_and_for_fields_that_repeat() {
        for (text, understood) in [
            (r#"{"args": [1], "kind": 2, "x": 1e999}"#, true),
            (r#"{"args": [1e999], "kind": 2}"#, false),
            (r#"{"args": [{"name": "a", "other": 1e999}], "kind": 2}"#, true),
            (r#"{"args": [{"name": "a", "name": "b"}], "\u006bind": 2}"#, true),
            (r#"{"args": [], "args": [], "kind": 2}"#, false),
            (r#"{"kind": 2, "kind": 2, "args": []}"#, false),
            (r#"{"x": 2, "x": 2, "correlation_id": [1], "kind": 2}"#, true),
            ("[2]", false),
            ("null", false),
            ("2", false),
        ] {
            let call = serde_json::from_str::<Row<Activity>>(text);
            assert_eq!(call.is_ok(), understood, "{text} {call:?}");
            assert!(call.is_ok_and(|call| [Some(2), None].contains(&call.get("kind"))) || !understood, "{text}");
        }
        for (text, understood) in [
            (r#"{"dispatch_info": 5}"#, false),
            (r#"{"dispatch_info": {"grid_size": "1"}}"#, false),
            (r#"{"dispatch_info": {"grid_size": null}, "correlation_id": 1.5}"#, true),
            (r#"{"dispatch_info": null, "correlation_id": null}"#, true),
        ] {
            assert_eq!(serde_json::from_str::<Row<Dispatch>>(text).is_ok(), understood, "{text}");
        }
    }
}
