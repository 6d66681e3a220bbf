//! A condition over the columns of a table.

use std::collections::BTreeSet;

use polars::prelude::{DataType, Expr, col};

use super::text_mask::{SharedMask, masked};
use wavesieve_model::schema::{ColumnType, Table, tables};

/// A condition as written, and the columns that it names.
#[derive(Clone, Debug)]
pub struct Condition {
    written: String,
    expression: Expr,
    columns: BTreeSet<String>,
    subject: Option<&'static str>,
    /// Tables in which columns of these names have other types.
    mistyped: BTreeSet<&'static str>,
    /// Replaces texts that the condition must not see.
    mask: Option<SharedMask>,
}

impl Condition {
    /// An expression over these columns, with its original text.
    pub fn new(written: &str, expression: Expr, columns: BTreeSet<String>) -> Self {
        Self { written: written.to_owned(), expression, columns, subject: None, mistyped: BTreeSet::new(), mask: None }
    }

    /// The same condition, which does not fit tables whose columns have other types.
    #[must_use]
    pub fn except(mut self, mistyped: BTreeSet<&'static str>) -> Self {
        self.mistyped = mistyped;
        self
    }

    /// The same condition for one table only.
    #[must_use]
    pub fn of_table(mut self, table: &'static Table) -> Self {
        self.subject = Some(table.name);
        self
    }

    /// The same condition, applied to masked texts.
    pub fn behind(self, mask: SharedMask) -> Self {
        Self { mask: Some(mask), ..self }
    }

    pub fn is_masked(&self) -> bool {
        self.mask.is_some()
    }

    /// The written text, with names in place of tokens.
    pub fn with_names(&self) -> String {
        self.mask.as_ref().map_or_else(|| self.written.clone(), |mask| mask.with_names(&self.written))
    }

    /// Whether it filters rows of a table.
    pub fn fits(&self, table: &Table) -> bool {
        self.subject.is_none_or(|subject| subject == table.name)
            && !self.mistyped.contains(table.name)
            && self.columns.iter().all(|column| table.column(column).is_some())
    }

    /// The columns that it names.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(String::as_str)
    }

    /// The condition for the engine. Dictionaries are compared as texts.
    pub fn expression(&self) -> Expr {
        self.expression.clone().map_expr(|node| match (node, &self.mask) {
            (Expr::Column(name), Some(mask)) if has_type(&name, &[ColumnType::Cat, ColumnType::Str]) => {
                masked(&name, mask)
            }
            (Expr::Column(name), _) if has_type(&name, &[ColumnType::Cat]) => col(name).cast(DataType::String),
            (other, _) => other,
        })
    }

    pub fn written(&self) -> &str {
        &self.written
    }
}

/// Whether a column has one of these types in a table; columns with the same name are all text or none is.
fn has_type(name: &str, types: &[ColumnType]) -> bool {
    tables().iter().filter_map(|table| table.column(name)).any(|column| types.contains(&column.column_type))
}
