//! Columns of tables, and names that occur in them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::{DataFrame, DataType};
use wavesieve_model::analysis::kernel_names::ReadableNames;
use wavesieve_tables::columns::frames::{collected, values_by_text};
use wavesieve_tables::columns::requests::Request;
use wavesieve_tables::columns::values::{BoolValues, I64Values};
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Reads columns of tables of a process together, with the chosen rows.
pub fn read_all(
    trace: &Trace,
    member: &TraceProcess,
    tables: &[(&'static str, &[&'static str])],
) -> Result<BTreeMap<&'static str, DataFrame>> {
    let columns = |columns: &[&'static str]| columns.iter().copied().collect();
    let request: Request = tables.iter().map(|(table, names)| (*table, columns(names))).collect();
    let frames = trace.process_frames(member, &request)?;
    frames.into_iter().map(|(table, frame)| Ok((table, collected(&frame)?))).collect()
}

/// Reads columns of a table of a process, with the chosen rows.
pub fn read(
    trace: &Trace,
    member: &TraceProcess,
    table: &'static str,
    columns: &[&'static str],
) -> Result<Option<DataFrame>> {
    Ok(read_all(trace, member, &[(table, columns)])?.remove(table))
}

/// Integers of a column.
pub fn integers(frame: &DataFrame, name: &str) -> Result<I64Values> {
    Ok(I64Values::new(frame.column(name)?.i64()?))
}

/// Truth values of a column.
pub fn flags(frame: &DataFrame, name: &str) -> Result<BoolValues> {
    Ok(BoolValues::new(frame.column(name)?.bool()?))
}

/// Texts that are stored once.
#[derive(Debug, Default)]
pub struct Texts {
    list: Vec<String>,
    known: BTreeMap<String, u32>,
}

impl Texts {
    /// Starts with these texts.
    pub fn new(first: &[&str]) -> Self {
        let mut texts = Self::default();
        for text in first {
            texts.index(text);
        }
        texts
    }

    /// The index of a text.
    pub fn index(&mut self, text: &str) -> u32 {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let next = u32::try_from(self.list.len()).unwrap_or(0);
        self.list.push(text.to_owned());
        self.known.insert(text.to_owned(), next);
        next
    }

    /// The texts in order.
    pub fn into_list(self) -> Vec<String> {
        self.list
    }

    /// The indexes of the texts of a dictionary column, after `form` changed them.
    pub fn of_column(
        &mut self,
        frame: &DataFrame,
        name: &str,
        form: impl Fn(&str) -> String,
    ) -> Result<Vec<Option<u32>>> {
        let own = RefCell::new(self);
        Ok(values_by_text(frame.column(name)?, |text| own.borrow_mut().index(&form(text)))?)
    }

    /// The indexes of the texts of a column with many different ones.
    pub fn of_texts(&mut self, frame: &DataFrame, name: &str) -> Result<Vec<Option<u32>>> {
        let texts = frame.column(name)?.cast(&DataType::String)?;
        Ok(texts.str()?.iter().map(|text| text.map(|text| self.index(text))).collect())
    }
}

/// The readable names of the kernels in a column.
pub fn readable(frame: &DataFrame, name: &str) -> Result<ReadableNames> {
    let found = RefCell::new(std::collections::BTreeSet::new());
    values_by_text(frame.column(name)?, |text| {
        found.borrow_mut().insert(text.to_owned());
    })?;
    Ok(ReadableNames::new(found.borrow().iter().map(String::as_str)))
}
