//! Named queries and SQL over the tables of a trace, and the findings of rules in their answers.
//!
//! [`run_query`] and [`run_sql`] run statements on polars or send them to a cluster; [`findings`] judges. This crate does not know the file
//! formats of traces.

#![forbid(unsafe_code)]

/// The text of a file at the top of the repository.
macro_rules! data {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $path))
    };
}

pub mod findings;

mod declarations;
mod error;
pub mod properties;

pub use declarations::{
    ColumnUnit, GROUPING, OutputColumn, Parameter, ParameterType, PlotDeclaration, QueryDeclaration,
};
pub use error::QueryError;
pub use wavesieve_model::text::similar::closest;

mod applicable;
mod batch;
mod catalog;
mod cluster;
mod condition;
mod depth;
mod dialect;
mod exact;
mod execution;
mod expressions;
mod failures;
mod groups;
mod links;
mod numbers;
mod parsed;
mod readable;
mod referenced_columns;
mod render;
mod rocpd_names;
mod run;
mod shown;
mod statement;
mod steps;
mod units;

pub(crate) use applicable::applicable;
pub use applicable::{recorded, source_rows, subject};
pub use catalog::catalog;
pub use cluster::{Address, Ballista, CLIENT_VARIABLE, find_client};
pub use condition::{condition_on, parse_condition};
pub use declarations::{Query, Registry, by_rows, missing_tables};
pub use depth::is_too_deep;
pub use dialect::{FunctionKind, calls};
pub use failures::emptiness::{why_empty, why_empty_of_tables};
pub use failures::panics::becomes_error;
pub use numbers::{NUMBERS, numbers};
pub use readable::{readable_names, with_readable_names};
pub use referenced_columns::referenced_columns;
pub use render::NameForm;
pub use render::{QueryOptions, render};
pub use rocpd_names::{COPY_NAME, Dialect, described as names_of_rocpd, with_rocpd_names};
pub use run::{Answer, run_queries, run_query, run_query_in_codes, run_sql, run_sql_behind, run_sql_in_codes};
pub(crate) use run::{QueryRun, run_queries_of_views};
pub use shown::shown;
pub use statement::{is_query, statements};
