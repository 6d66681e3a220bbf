//! Errors of finding, rendering and running queries.

use thiserror::Error;

/// Failure of a query before or while it runs.
#[derive(Debug, Error)]
pub enum QueryError {
    /// The steady part of the run was requested, and no process has one that differs from all of it.
    #[error("no process has a steady part that differs from its whole run")]
    NoSteadyPart,
    /// No query has that name.
    #[error("no query is named {name}{}; list them with `wavesieve table --list`", suggestion(.closest.as_deref()))]
    NoSuchQuery {
        /// As given.
        name: String,
        /// The most similar name.
        closest: Option<String>,
    },
    /// The comment lines at the head of a query file are wrong.
    #[error("{file}:{line}: {reason}")]
    FrontMatter {
        /// File or query name.
        file: String,
        /// Line number from 1.
        line: usize,
        /// The error, and what to write instead.
        reason: String,
    },
    /// A column cannot be used with `--by` in this query.
    #[error("cannot group {query} by `{column}`{}; {}", suggestion(.closest.as_deref()), groupings(.dimensions))]
    Grouping {
        query: String,
        /// As given.
        column: String,
        /// The most similar column.
        closest: Option<String>,
        /// Columns that it can be grouped by.
        dimensions: Vec<String>,
    },
    /// The answer of this query has no such column.
    #[error("{query} has no column `{column}`{}; choose from {}", suggestion(.closest.as_deref()), .known.join(", "))]
    Column {
        query: String,
        /// As given.
        column: String,
        /// The most similar column.
        closest: Option<String>,
        /// Its columns.
        known: Vec<String>,
    },
    /// A parameter has a value of the wrong type or out of its bounds.
    #[error("invalid --{parameter} `{value}` of {query}: expected {expected}")]
    Parameter {
        query: String,
        parameter: String,
        /// As given.
        value: String,
        /// Expected values.
        expected: String,
    },
    /// Options conflict, according to the template.
    #[error("{query}: {reason}")]
    Refused {
        query: String,
        /// The reason, and what to do.
        reason: String,
    },
    /// The template cannot be rendered.
    #[error("cannot render {query}: {reason}; check the template")]
    Template {
        query: String,
        /// Message of the template engine.
        reason: String,
    },
    /// The statement cannot be run.
    #[error("cannot run the statement: {reason}{}", advice(.reason))]
    Sql {
        /// Message of the query engine.
        reason: String,
    },
    /// A statement uses a feature that the engine does not support.
    #[error("cannot run the statement: {reason}")]
    Dialect {
        /// The feature, and what to use instead.
        reason: String,
    },
    /// A common table expression has the name of a table.
    #[error("CTE `{name}` shadows a table; rename it")]
    HiddenTable { name: String },
    /// The program that runs statements in place of this one could not run one.
    #[error("cannot run {query} on {runner}: {reason}")]
    Runner {
        /// Name of the query, or `the statement`.
        query: String,
        runner: String,
        /// The reason, and what to do.
        reason: String,
    },
    /// Anything else.
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}

fn suggestion(closest: Option<&str>) -> String {
    closest.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}

/// Advice for a reason that has none.
fn advice(reason: &str) -> &'static str {
    if reason.contains("; ") { "" } else { "; see the tables and columns with `wavesieve schema`" }
}

fn groupings(dimensions: &[String]) -> String {
    match dimensions {
        [] => "it has no grouping columns".to_owned(),
        _ => format!("choose from {}", dimensions.join(", ")),
    }
}
