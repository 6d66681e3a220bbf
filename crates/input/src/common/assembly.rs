//! Columns that readers of several formats build in the same way.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use super::{SymbolNames, TableBuilder};
use wavesieve_model::schema::facts::AgentFacts;
use wavesieve_model::schema::{ColumnType, table};
use wavesieve_tables::columns::frames::{categorical, dictionary_column, text_column_from_dictionary};

/// Columns that name the kernel of a dispatch.
pub(crate) const KERNEL_NAMES: &[&str] = &["kernel_id", "kernel_name", "short_name", "category"];

/// The owners of arguments, and the position of each argument in its owner.
#[derive(Default)]
pub(crate) struct Args {
    /// Indexes into the kinds of owners.
    pub kinds: Vec<usize>,
    pub owners: Vec<i64>,
    pub positions: Vec<i64>,
}

/// Distinct texts, and the index of the text of each row.
#[derive(Default)]
pub(crate) struct Dictionary {
    pub texts: Vec<Option<String>>,
    pub places: Vec<Option<usize>>,
}

impl Dictionary {
    /// Builds a dictionary from the number of each row; `text` gives the text of a number.
    pub fn of(numbers: impl Iterator<Item = Option<i64>>, text: impl Fn(Option<i64>) -> Option<String>) -> Self {
        let mut dictionary = Self::default();
        let mut known: BTreeMap<Option<i64>, usize> = BTreeMap::new();
        for number in numbers {
            let place = *known.entry(number).or_insert_with(|| {
                dictionary.texts.push(text(number));
                dictionary.texts.len() - 1
            });
            dictionary.places.push(Some(place));
        }
        dictionary
    }

    /// A dictionary in which each row has its own text.
    pub fn of_rows(texts: Vec<Option<String>>) -> Self {
        Self { places: (0..texts.len()).map(Some).collect(), texts }
    }
}

impl TableBuilder<'_> {
    /// Adds integers that every row has.
    pub(crate) fn put_numbers(&mut self, name: &'static str, numbers: impl IntoIterator<Item = i64>) {
        self.put(name, Int64Chunked::from_iter_values("".into(), numbers.into_iter()).into_series());
    }

    /// Adds the ids that define the rows of a table.
    pub(crate) fn put_ids(&mut self, name: &'static str, ids: impl ExactSizeIterator<Item = i64>) {
        self.set_height(ids.len());
        self.put_numbers(name, ids);
    }

    /// Adds a column by the index of each row's text.
    pub(crate) fn put_texts_at(
        &mut self,
        name: &'static str,
        texts: &[Option<String>],
        places: impl Iterator<Item = Option<usize>>,
    ) -> Result<()> {
        let make = if self.is_plain_text(name) { text_column_from_dictionary } else { dictionary_column };
        self.put_with(name, || Ok(make(name, texts, places)?))
    }

    /// Works like [`Self::put_texts_at`], with a dictionary that is only built if the column is requested.
    pub(crate) fn put_dictionary(&mut self, name: &'static str, make: impl FnOnce() -> Dictionary) -> Result<()> {
        if self.wants(&[name]) {
            let Dictionary { texts, places } = make();
            self.put_texts_at(name, &texts, places.into_iter())?;
        }
        Ok(())
    }

    /// Adds the text of each row.
    pub(crate) fn put_texts<T: AsRef<str>>(
        &mut self,
        name: &'static str,
        texts: impl Iterator<Item = Option<T>>,
    ) -> Result<()> {
        let is_plain_text = self.is_plain_text(name);
        self.put_with(name, || {
            let texts = StringChunked::from_iter_options(name.into(), texts).into_series();
            Ok(if is_plain_text { texts } else { texts.cast(&categorical())? }.into_column())
        })
    }

    /// Whether a column is declared as plain text, and not as a dictionary.
    fn is_plain_text(&self, name: &str) -> bool {
        let declared = table(self.table_name()).and_then(|table| table.column(name));
        declared.is_some_and(|column| column.column_type == ColumnType::Str)
    }

    /// Adds the names of dispatched kernels, by the index of each row's symbol.
    pub(crate) fn put_kernel_names(
        &mut self,
        symbols: &SymbolNames,
        places: impl Iterator<Item = Option<usize>> + Clone,
    ) -> Result<()> {
        let wanted = self.wanted();
        let forms = symbols.forms(self.context.categories, &|name| wanted.contains(name));
        for (name, texts) in forms.dispatch_columns() {
            self.put_texts_at(name, texts, places.clone())?;
        }
        Ok(())
    }

    /// Adds the kernels of the table `kernel_symbols`.
    pub(crate) fn put_symbols(&mut self, ids: impl ExactSizeIterator<Item = i64>, symbols: &SymbolNames) -> Result<()> {
        self.put_ids("kernel_id", ids);
        self.put_symbol_names(symbols)
    }

    /// Adds all of the table `args`. `owners` are the kinds of rows with arguments; each argument has one of them.
    pub(crate) fn put_args(
        &mut self,
        owners: &[&str],
        args: Args,
        names: impl FnOnce() -> Dictionary,
        values: impl FnOnce() -> Dictionary,
    ) -> Result<()> {
        self.set_height(args.owners.len());
        let owners: Vec<Option<String>> = owners.iter().map(|owner| Some((*owner).to_owned())).collect();
        self.put_texts_at("owner", &owners, args.kinds.into_iter().map(Some))?;
        self.put_numbers("owner_id", args.owners);
        self.put_numbers("position", args.positions);
        self.put_dictionary("name", names)?;
        self.put_dictionary("value", values)
    }
}

/// A GPU with a known number and no other facts.
pub(crate) fn numbered_gpu(number: i64) -> AgentFacts {
    AgentFacts {
        agent_id: number,
        agent_type: "GPU".to_owned(),
        absolute_index: Some(number),
        type_index: Some(number),
        name: "unknown".to_owned(),
        ..AgentFacts::default()
    }
}

/// The integer in a text, hexadecimal after `0x`; handles may use all bits.
pub(crate) fn handle(text: &str) -> Option<i64> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(u64::cast_signed),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::handle;

    #[test]
    fn handles() {
        assert_eq!(handle("0x0"), Some(0));
        assert_eq!(handle("0x4a11db20"), Some(0x4a11_db20));
        assert_eq!(handle("0xffffffffffffffff"), Some(-1));
        assert_eq!(handle(""), None);
    }
}
