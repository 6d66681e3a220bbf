//! How canonical columns are made of the columns of a source: a line for each, the same for all formats.

use anyhow::Result;
use polars::prelude::{Column, Int64Chunked};

use super::table::{TableBuilder, or, or_else, zero_as_null};
use wavesieve_tables::columns::frames::categorical;

/// A source column, the canonical columns that are made of it, and how the first of them is.
pub(crate) type Source<C> = (C, &'static [&'static str], Rule);

/// How a canonical column is made of a source column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// As it is; a missing value of a column that may not be null becomes 0.
    Copied,
    /// With the key of the row for a missing value.
    OrKey,
    /// Without 0, which stands for none.
    NotZero,
    /// A text as it is.
    Text,
    /// A text that few rows differ in.
    Category,
    /// By the code of the table.
    Used,
    /// By the code of the table, of a text.
    UsedText,
}

impl Rule {
    /// Whether the source column is one of texts.
    pub(crate) fn is_of_text(self) -> bool {
        matches!(self, Self::Text | Self::Category | Self::UsedText)
    }
}

/// Columns of some rows as a source has them, by its own names.
pub(crate) trait RawRows<C> {
    /// The keys of the rows.
    fn keys(&self) -> Int64Chunked;
    /// A column of integers, nulls if the source lacks it.
    fn numbers(&self, column: C) -> Int64Chunked;
    /// A column of texts, nulls if the source lacks it.
    fn words(&self, column: C) -> Result<Column>;
    /// As dictionary.
    fn categories(&self, column: C) -> Result<Column> {
        Ok(self.words(column)?.cast(&categorical())?)
    }
}

impl TableBuilder<'_> {
    /// Adds the canonical columns of a layout that are wanted, but for those that the code of the table makes.
    pub(crate) fn put_rows<C: Copy>(&mut self, layout: &[Source<C>], rows: &impl RawRows<C>) -> Result<()> {
        for &(source, canonical, rule) in layout {
            let Some(&name) = canonical.first().filter(|name| self.wants(&[**name])) else { continue };
            match rule {
                Rule::Copied if self.is_nullable(name) => self.put(name, rows.numbers(source)),
                Rule::Copied => self.put(name, or(&rows.numbers(source), 0)),
                Rule::OrKey => self.put(name, or_else(&rows.numbers(source), &rows.keys())),
                Rule::NotZero => self.put(name, zero_as_null(&rows.numbers(source))),
                Rule::Text => self.put(name, rows.words(source)?),
                Rule::Category => self.put(name, rows.categories(source)?),
                Rule::Used | Rule::UsedText => {}
            }
        }
        Ok(())
    }
}
