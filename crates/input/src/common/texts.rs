//! Texts that rows refer to by id.

use polars::prelude::*;

use super::id_index::IdIndex;

/// Texts by id.
pub struct Texts {
    ids: Vec<i64>,
    index: IdIndex,
    values: Vec<Option<String>>,
}

impl Texts {
    /// Builds the texts from a column of ids and a column of values.
    pub fn new(ids: &Int64Chunked, values: &StringChunked) -> Self {
        let index = index_of(ids);
        let values = values.iter().map(|value| value.map(str::to_owned)).collect();
        Self { ids: ids.iter().flatten().collect(), index, values }
    }

    /// All texts in order of position.
    pub fn values(&self) -> &[Option<String>] {
        &self.values
    }

    /// Position of an id in [`Texts::values`].
    pub fn position(&self, id: Option<i64>) -> Option<usize> {
        id.and_then(|id| self.index.position(id))
    }

    /// Ids of the texts that pass a test.
    pub(crate) fn ids_where(&self, test: impl Fn(&str) -> bool) -> Vec<i64> {
        let texts = self.ids.iter().zip(&self.values);
        texts.filter(|(_, text)| text.as_deref().is_some_and(&test)).map(|(id, _)| *id).collect()
    }

    pub fn get(&self, id: Option<i64>) -> Option<&str> {
        self.position(id).and_then(|position| self.values.get(position)).and_then(Option::as_deref)
    }
}

/// An index over a column of ids without nulls.
pub fn index_of(ids: &Int64Chunked) -> IdIndex {
    match ids.cont_slice() {
        Ok(ids) => IdIndex::new(ids),
        Err(_) => IdIndex::new(&ids.iter().flatten().collect::<Vec<i64>>()),
    }
}
