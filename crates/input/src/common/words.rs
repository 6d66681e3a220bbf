//! Texts of rows as codes into a list of distinct texts.

use std::borrow::Cow;
use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::Column;

use wavesieve_tables::columns::frames::{dictionary_column, text_column_from_dictionary};

/// Texts in the order of the rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    known: BTreeMap<String, usize>,
    /// Position in [`Words::list`] for every row.
    pub codes: Vec<Option<usize>>,
    last: Option<(String, usize)>,
}

impl Words {
    /// Adds the text of a row.
    pub fn push(&mut self, word: Option<Cow<'_, str>>) {
        let code = word.map(|word| self.code(&word));
        self.codes.push(code);
    }

    /// Position of a text in [`Words::list`]. Rows often have the text of the previous row.
    pub fn code(&mut self, word: &str) -> usize {
        if let Some((_, code)) = self.last.as_ref().filter(|(last, _)| last == word) {
            return *code;
        }
        let code = self.known.get(word).copied().unwrap_or_else(|| {
            self.known.insert(word.to_owned(), self.known.len());
            self.known.len() - 1
        });
        self.last = Some((word.to_owned(), code));
        code
    }

    /// Appends the rows of other words.
    pub fn append(&mut self, other: Self) {
        let words = other.list();
        let codes: Vec<usize> = words.iter().flatten().map(|word| self.code(word)).collect();
        self.codes.extend(other.codes.iter().map(|code| code.and_then(|code| codes.get(code).copied())));
    }

    /// Rows without text.
    pub fn nulls(height: usize) -> Self {
        Self { codes: vec![None; height], ..Self::default() }
    }

    /// The distinct texts.
    pub fn list(&self) -> Vec<Option<String>> {
        let mut words = vec![None; self.known.len()];
        for (word, code) in &self.known {
            if let Some(place) = words.get_mut(*code) {
                *place = Some(word.clone());
            }
        }
        words
    }

    /// The texts as a dictionary-encoded column.
    pub fn categories(&self, name: &str) -> Result<Column> {
        Ok(dictionary_column(name, &self.list(), self.codes.iter().copied())?)
    }

    pub fn texts(&self, name: &str) -> Result<Column> {
        Ok(text_column_from_dictionary(name, &self.list(), self.codes.iter().copied())?)
    }
}
