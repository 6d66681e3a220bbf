//! Texts by number, so that events are made of numbers.

use std::cell::RefCell;
use std::collections::BTreeMap;

use polars::prelude::*;

use wavesieve_tables::columns::frames::values_by_text;

/// The texts of a process.
#[derive(Debug, Default)]
pub struct Texts {
    ids: BTreeMap<String, u32>,
    texts: Vec<String>,
}

impl Texts {
    /// The number of a text.
    pub fn id(&mut self, text: &str) -> u32 {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = self.texts.len() as u32;
        self.ids.insert(text.to_owned(), id);
        self.texts.push(text.to_owned());
        id
    }

    pub fn text(&self, id: u32) -> &str {
        self.texts.get(id as usize).map(String::as_str).unwrap_or_default()
    }

    /// The numbers of the texts of a column.
    ///
    /// # Errors
    /// When the column holds no texts.
    pub fn of_column(&mut self, column: &Column) -> PolarsResult<Vec<Option<u32>>> {
        let texts = RefCell::new(self);
        values_by_text(column, |text| texts.borrow_mut().id(text))
    }
}
