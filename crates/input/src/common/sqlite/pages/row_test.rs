//! Tests that select rows, if they can be decided without SQLite.

use super::value::Value;

/// A test of a row. `C` is the name type of columns; ids are listed in rising order. If the test does not support the type of a value, only
/// SQLite knows the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowTest<C> {
    /// Two columns are equal; false if one is null.
    Same(C, C),
    /// Two columns differ, or one is null.
    Different(C, C),
    /// A column is at most this number, or null.
    AtMost(C, i64),
    /// A column is at least this number, or null.
    AtLeast(C, i64),
    /// The difference from the first column to the second is at least this number, or one is null.
    LastsAtLeast(C, C, i64),
    /// A column is one of these; false if it is null.
    OneOf(C, Vec<i64>),
    /// A column is one of these, or null.
    OneOfOrNull(C, Vec<i64>),
    /// A column is not one of these, or null.
    NoneOf(C, Vec<i64>),
    /// One of the columns is neither null, nor empty, nor `{}`.
    SaysSomething(Vec<C>),
}

impl<C> RowTest<C> {
    /// The tested columns.
    pub fn columns(&self) -> Vec<&C> {
        match self {
            Self::Same(one, other) | Self::Different(one, other) | Self::LastsAtLeast(one, other, _) => {
                vec![one, other]
            }
            Self::AtMost(column, _)
            | Self::AtLeast(column, _)
            | Self::OneOf(column, _)
            | Self::OneOfOrNull(column, _)
            | Self::NoneOf(column, _) => vec![column],
            Self::SaysSomething(columns) => columns.iter().collect(),
        }
    }

    /// The same test with other names for the columns.
    pub fn map<D>(&self, name: impl Fn(&C) -> D) -> RowTest<D> {
        match self {
            Self::Same(one, other) => RowTest::Same(name(one), name(other)),
            Self::Different(one, other) => RowTest::Different(name(one), name(other)),
            Self::AtMost(column, most) => RowTest::AtMost(name(column), *most),
            Self::AtLeast(column, least) => RowTest::AtLeast(name(column), *least),
            Self::LastsAtLeast(start, end, least) => RowTest::LastsAtLeast(name(start), name(end), *least),
            Self::OneOf(column, ids) => RowTest::OneOf(name(column), ids.clone()),
            Self::OneOfOrNull(column, ids) => RowTest::OneOfOrNull(name(column), ids.clone()),
            Self::NoneOf(column, ids) => RowTest::NoneOf(name(column), ids.clone()),
            Self::SaysSomething(columns) => RowTest::SaysSomething(columns.iter().map(name).collect()),
        }
    }

    /// Whether a row passes; `None` if only SQLite knows.
    pub fn holds<'v>(&self, value: impl Fn(&C) -> Value<'v>) -> Option<bool> {
        let integer = |column: &C| match value(column) {
            Value::Null => Some(None),
            Value::Integer(integer) => Some(Some(integer)),
            Value::Real(_) | Value::Text(_) | Value::Blob(_) => None,
        };
        Some(match self {
            Self::Same(one, other) => both(integer(one)?, integer(other)?).is_some_and(|(one, other)| one == other),
            Self::Different(one, other) => both(integer(one)?, integer(other)?).is_none_or(|(one, other)| one != other),
            Self::AtMost(column, most) => integer(column)?.is_none_or(|integer| integer <= *most),
            Self::AtLeast(column, least) => integer(column)?.is_none_or(|integer| integer >= *least),
            Self::LastsAtLeast(start, end, least) => both(integer(start)?, integer(end)?)
                .is_none_or(|(start, end)| i128::from(end) - i128::from(start) >= i128::from(*least)),
            Self::OneOf(column, ids) => integer(column)?.is_some_and(|id| ids.binary_search(&id).is_ok()),
            Self::OneOfOrNull(column, ids) => integer(column)?.is_none_or(|id| ids.binary_search(&id).is_ok()),
            Self::NoneOf(column, ids) => integer(column)?.is_none_or(|id| ids.binary_search(&id).is_err()),
            Self::SaysSomething(columns) => {
                let says = columns.iter().map(|column| has_content(value(column)));
                let mut unknown = false;
                let any = says.into_iter().any(|says| {
                    unknown |= says.is_none();
                    says == Some(true)
                });
                if unknown && !any {
                    return None;
                }
                any
            }
        })
    }
}

fn has_content(value: Value<'_>) -> Option<bool> {
    match value {
        Value::Null => Some(false),
        // SQL counts the characters of a text up to the first NUL.
        Value::Text(text) => Some(text != b"{}" && text.first().is_some_and(|first| *first != 0)),
        Value::Blob(bytes) => Some(!bytes.is_empty()),
        Value::Integer(_) | Value::Real(_) => None,
    }
}

fn both(one: Option<i64>, other: Option<i64>) -> Option<(i64, i64)> {
    one.zip(other)
}
