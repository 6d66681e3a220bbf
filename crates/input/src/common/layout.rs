//! Rules that map source columns to canonical columns, one line for each, in the same form for all formats.

use anyhow::Result;
use polars::prelude::{Column, Int64Chunked};

use super::table::{TableBuilder, or, or_else, zero_as_null};
use wavesieve_tables::columns::frames::categorical;

/// A source column, the canonical columns built from it, and the rule for the first of them.
pub(crate) type Source<C> = (C, &'static [&'static str], Rule);

/// The rule that builds a canonical column from a source column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Unchanged; a missing value becomes 0 in a column that may not be null.
    Copied,
    /// A missing value becomes the key of the row.
    OrKey,
    /// A 0 becomes null.
    NotZero,
    /// An unchanged text.
    Text,
    /// A text with few distinct values.
    Category,
    /// Built by the code of the table.
    Used,
    /// Built by the code of the table from a text.
    UsedText,
}

impl Rule {
    /// Whether the source column has texts.
    pub(crate) fn is_of_text(self) -> bool {
        matches!(self, Self::Text | Self::Category | Self::UsedText)
    }
}

/// Source columns of some rows, under their own names.
pub(crate) trait RawRows<C> {
    /// The keys of the rows.
    fn keys(&self) -> Int64Chunked;
    /// A column of integers, nulls if the source lacks it.
    fn numbers(&self, column: C) -> Int64Chunked;
    /// A column of texts, nulls if the source lacks it.
    fn words(&self, column: C) -> Result<Column>;
    /// The column of texts as a dictionary.
    fn categories(&self, column: C) -> Result<Column> {
        Ok(self.words(column)?.cast(&categorical())?)
    }
}

impl TableBuilder<'_> {
    /// Adds the requested canonical columns of a layout, except columns that the code of the table builds.
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
