//! Storage for the values of a column.

use super::value::{UnexpectedType, Value, integer_of, real_of};

/// Values of a column that were of another type than expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypeMismatches {
    /// Count and first row id of reals, texts and blobs.
    pub found: [Option<(i64, i64)>; 3],
}

impl TypeMismatches {
    /// Counts a value.
    pub fn count(&mut self, odd: UnexpectedType, id: i64) {
        let [reals, texts, blobs] = &mut self.found;
        let place = match odd {
            UnexpectedType::Real => reals,
            UnexpectedType::Text => texts,
            UnexpectedType::Blob => blobs,
        };
        place.get_or_insert((0, id)).0 += 1;
    }

    /// Adds the counts of later rows.
    pub fn add(&mut self, later: &Self) {
        for (own, later) in self.found.iter_mut().zip(&later.found) {
            if let Some((count, first)) = later {
                own.get_or_insert((0, *first)).0 += count;
            }
        }
    }
}

/// Numbers of some rows, with room for the maximum number of rows.
#[derive(Debug)]
pub struct Numbers<'a, T> {
    values: &'a mut [T],
    /// Whether each row has a value; empty while all rows have one.
    pub valid: Vec<bool>,
    /// Values of other types.
    pub type_mismatches: TypeMismatches,
}

impl<'a, T: Copy + Default> Numbers<'a, T> {
    pub fn new(values: &'a mut [T]) -> Self {
        Self { values, valid: Vec::new(), type_mismatches: TypeMismatches::default() }
    }

    #[inline]
    fn put(&mut self, row: usize, value: T) {
        if let Some(place) = self.values.get_mut(row) {
            *place = value;
        }
        if !self.valid.is_empty() {
            self.valid.push(true);
        }
    }

    fn put_null(&mut self, row: usize) {
        if self.valid.is_empty() {
            self.valid.reserve(self.values.len());
            self.valid.resize(row, true);
        }
        self.valid.push(false);
    }

    fn put_unexpected(&mut self, row: usize, id: i64, (value, odd): (Option<T>, Option<UnexpectedType>)) {
        match value {
            Some(value) => self.put(row, value),
            None => self.put_null(row),
        }
        if let Some(odd) = odd {
            self.type_mismatches.count(odd, id);
        }
    }
}

/// Texts of some rows.
#[derive(Debug, Default)]
pub struct Texts {
    /// The concatenated texts.
    pub bytes: String,
    /// End of the text of each row in the bytes.
    pub ends: Vec<usize>,
    /// Whether each row has a text; empty while all rows have one.
    pub valid: Vec<bool>,
    /// Values of an unexpected type.
    pub type_mismatches: TypeMismatches,
}

impl Texts {
    fn put(&mut self, text: Option<&str>) {
        if text.is_none() && self.valid.is_empty() {
            self.valid.resize(self.ends.len(), true);
            self.valid.push(false);
        } else if !self.valid.is_empty() {
            self.valid.push(text.is_some());
        }
        self.bytes.push_str(text.unwrap_or_default());
        self.ends.push(self.bytes.len());
    }

    /// The texts, empty for rows without one.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| self.bytes.get(begin..*end).unwrap_or_default())
    }

    /// The texts; `None` for rows without one.
    pub(crate) fn optional_texts(&self) -> impl Iterator<Item = Option<&str>> {
        let is_valid = |row: usize| self.valid.is_empty() || self.valid.get(row) == Some(&true);
        self.texts().enumerate().map(move |(row, text)| is_valid(row).then_some(text))
    }

    fn put_value(&mut self, id: i64, value: Value<'_>, text_of_blob: fn(&[u8]) -> Option<String>) {
        match value {
            Value::Text(bytes) if let Ok(text) = std::str::from_utf8(bytes) => self.put(Some(text)),
            other => {
                let (text, odd) = super::value::text_of(other, text_of_blob);
                self.put(text.as_deref());
                if let Some(odd) = odd {
                    self.type_mismatches.count(odd, id);
                }
            }
        }
    }
}

/// Values of a column for some rows.
#[derive(Debug)]
pub enum Cells<'a> {
    Integer(Numbers<'a, i64>),
    Real(Numbers<'a, f64>),
    Text(Texts),
}

impl Cells<'_> {
    /// Adds an integer.
    #[inline]
    pub(crate) fn put_integer(&mut self, row: usize, id: i64, integer: i64) {
        match self {
            Self::Integer(numbers) => numbers.put(row, integer),
            Self::Real(numbers) => numbers.put(row, integer as f64),
            Self::Text(texts) => texts.put_value(id, Value::Integer(integer), |_| None),
        }
    }

    /// Adds a value of any type.
    pub(crate) fn put_value(
        &mut self,
        row: usize,
        id: i64,
        value: Value<'_>,
        text_of_blob: fn(&[u8]) -> Option<String>,
    ) {
        match self {
            Self::Integer(numbers) => numbers.put_unexpected(row, id, integer_of(value)),
            Self::Real(numbers) => numbers.put_unexpected(row, id, real_of(value)),
            Self::Text(texts) => texts.put_value(id, value, text_of_blob),
        }
    }

    /// Values of other types than expected.
    pub(crate) fn type_mismatches(&self) -> &TypeMismatches {
        match self {
            Self::Integer(numbers) => &numbers.type_mismatches,
            Self::Real(numbers) => &numbers.type_mismatches,
            Self::Text(texts) => &texts.type_mismatches,
        }
    }
}
