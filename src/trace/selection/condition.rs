//! A condition in SQL over the columns of a table.

use std::collections::BTreeSet;

use polars::prelude::Expr;
use polars::sql::sql_expr;

use crate::trace::schema::{Table, tables};
use crate::trace::similar::closest;

/// A condition as written, and the columns it names.
#[derive(Clone, Debug)]
pub struct Condition {
    written: String,
    expression: Expr,
    columns: BTreeSet<String>,
    subject: Option<&'static str>,
}

impl Condition {
    /// Reads an SQL expression.
    ///
    /// # Errors
    /// When it is none, names no column, or names columns that no table has together.
    pub fn parse(written: &str) -> Result<Self, String> {
        let expression = sql_expr(written).map_err(|error| {
            let reason = error.to_string();
            let reason = reason.lines().next().unwrap_or_default().trim_end_matches('.').to_owned();
            format!("{written} is no condition ({reason}); write one such as \"duration_ns > 1000\"")
        })?;
        let columns: BTreeSet<String> = (&expression)
            .into_iter()
            .filter_map(|node| match node {
                Expr::Column(name) => Some(name.to_string()),
                _ => None,
            })
            .collect();
        if columns.is_empty() {
            return Err(format!("{written} names no column; write a condition such as \"duration_ns > 1000\""));
        }
        let condition = Self { written: written.to_owned(), expression, columns, subject: None };
        for column in &condition.columns {
            if !tables().iter().any(|table| table.column(column).is_some()) {
                let known = tables().iter().flat_map(|table| table.column_names());
                let hint = closest(column, known).map(|name| format!("; did you mean {name}")).unwrap_or_default();
                return Err(format!("no table has the column {column} of {written}{hint}"));
            }
        }
        if tables().iter().any(|table| condition.fits(table)) {
            Ok(condition)
        } else {
            Err(format!("no table has all columns of {written}; see wavesieve schema"))
        }
    }

    /// The same condition for one table alone: the one a query is about.
    ///
    /// # Errors
    /// When the table lacks a column.
    pub fn on(mut self, table: &'static Table) -> Result<Self, String> {
        let missing = self.columns.iter().find(|column| table.column(column).is_none());
        if let Some(column) = missing {
            let hint = closest(column, table.column_names());
            let hint = hint.map(|name| format!("; did you mean {name}")).unwrap_or_default();
            return Err(format!("{} has no column {column}, which {} names{hint}", table.name, self.written));
        }
        self.subject = Some(table.name);
        Ok(self)
    }

    /// Whether it chooses rows of a table.
    pub fn fits(&self, table: &Table) -> bool {
        self.subject.is_none_or(|subject| subject == table.name)
            && self.columns.iter().all(|column| table.column(column).is_some())
    }

    /// The columns it names.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(String::as_str)
    }

    /// The condition for the engine.
    pub fn expression(&self) -> Expr {
        self.expression.clone()
    }

    /// As it was written.
    pub fn written(&self) -> &str {
        &self.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::schema;

    fn table(name: &str) -> &'static Table {
        schema::table(name).unwrap()
    }

    #[test]
    fn it_fits_tables_with_all_columns() {
        let condition = Condition::parse("duration_ns > 1000 AND kernel_name LIKE 'a%'").unwrap();
        assert!(condition.fits(table("kernels")) && !condition.fits(table("regions")));
        let condition = Condition::parse("valid").unwrap();
        assert!(condition.fits(table("regions")));
        let condition = condition.on(table("kernels")).unwrap();
        assert!(condition.fits(table("kernels")) && !condition.fits(table("regions")));
    }

    #[test]
    fn what_is_no_condition() {
        for (text, part) in [
            ("1 = 1", "names no column"),
            ("durations_ns > 1", "did you mean duration_ns"),
            ("bytes > 1 AND grid_x = 1", "no table has all columns"),
            ("duration_ns >", "is no condition"),
            ("SELECT 1", "is no condition"),
        ] {
            let reason = Condition::parse(text).unwrap_err();
            assert!(reason.contains(part), "{text}: {reason}");
        }
        let reason = Condition::parse("bytes > 1").unwrap().on(table("kernels")).unwrap_err();
        assert!(reason.starts_with("kernels has no column bytes"), "{reason}");
    }
}
