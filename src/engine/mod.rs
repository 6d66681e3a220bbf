//! Named queries: SQL files with front matter, rendered with parameters and run over the canonical tables.

mod declarations;
mod error;
#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;

pub(crate) use crate::text::similar::closest;
pub(crate) use declarations::{
    ColumnUnit, GROUPING, OutputColumn, Parameter, ParameterType, PlotDeclaration, QueryDeclaration,
};
pub(crate) use error::QueryError;

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
        mod applicable;
        mod batch;
        mod catalog;
        mod cluster;
        mod depth;
        mod dialect;
        mod emptiness;
        mod exact;
        mod execution;
        mod expressions;
        mod groups;
        mod links;
        mod numbers;
        mod panics;
mod parsed;
        mod reasons;
        mod referenced_columns;
        mod render;
        mod rocpd_names;
        mod run;
        mod shown;
        mod statement;
        mod steps;
        mod units;

        pub(crate) use applicable::{applicable, recorded, source_rows, subject};
        pub(crate) use catalog::catalog;
        pub(crate) use cluster::{Address, Ballista, CLIENT_VARIABLE, find_client};
        pub(crate) use depth::{DEEPEST, is_too_deep};
        pub(crate) use declarations::{Query, Registry, by_rows, missing_tables};
        pub(crate) use dialect::{Kind, bound_condition, calls};
        pub(crate) use emptiness::{why_empty, why_empty_of_tables};
        pub(crate) use numbers::{NUMBERS, numbers};
        pub(crate) use panics::becomes_error;
        pub(crate) use reasons::reason_of;
        pub(crate) use referenced_columns::referenced_columns;
        pub(crate) use render::{QueryOptions, render};
pub use render::NameForm;
        pub(crate) use rocpd_names::{COPY_NAME, Dialect, described as names_of_rocpd, with_rocpd_names};
        pub(crate) use run::{Answer, QueryRun, run_queries, run_queries_of_views, run_query, run_query_in_codes, run_sql, run_sql_behind, run_sql_in_codes};
        pub(crate) use shown::shown;
        pub(crate) use statement::{is_query, statements};
    }
}
