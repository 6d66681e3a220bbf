//! Values that accept any JSON in their place, so that they never make the parser refuse their record.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A value that accepts any JSON. By default, all JSON gives an empty value.
pub(crate) trait Lenient<'de>: Default {
    fn of_integer(_: i128) -> Self {
        Self::default()
    }

    fn of_real(_: f64) -> Self {
        Self::default()
    }

    fn of_truth(_: bool) -> Self {
        Self::default()
    }

    fn of_text(_: &str) -> Self {
        Self::default()
    }

    fn of_list<A: SeqAccess<'de>>(mut elements: A) -> Result<Self, A::Error> {
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    fn of_object<A: MapAccess<'de>>(mut members: A) -> Result<Self, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

/// Reads a value from any JSON.
///
/// # Errors
/// When the text is not JSON, or a number is out of range.
pub(crate) fn leniently<'de, D: Deserializer<'de>, T: Lenient<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(LenientVisitor(PhantomData))
}

struct LenientVisitor<T>(PhantomData<T>);

impl<'de, T: Lenient<'de>> Visitor<'de> for LenientVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        Ok(T::of_integer(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        Ok(T::of_integer(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        Ok(T::of_real(value))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<T, E> {
        Ok(T::of_truth(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<T, E> {
        Ok(T::of_text(value))
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<T, A::Error> {
        T::of_list(elements)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
        T::of_object(members)
    }
}
