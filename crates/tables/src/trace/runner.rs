//! External runners of statements over the tables of a trace, in place of this program.

use polars::prelude::DataFrame;

use super::Trace;

/// A statement and its source.
#[derive(Clone, Copy, Debug)]
pub enum Asked<'a> {
    /// A rendered query of the registry, whose rows are in a total order.
    Query(&'a str),
    /// A statement of the user.
    Sql(&'a str),
}

/// Runs statements over the tables of a trace.
pub trait StatementRunner: Send + Sync {
    /// Its name on the command line.
    fn name(&self) -> String;

    /// The rows of a statement.
    ///
    /// # Errors
    /// The reason why the statement has no rows, and what to do.
    fn run(&self, trace: &Trace, asked: Asked<'_>) -> Result<DataFrame, String>;
}
