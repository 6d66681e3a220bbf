//! Named queries: SQL files with front matter, rendered with parameters and run over the canonical tables.

mod error;
mod front_matter;
mod plot;
#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;

pub use crate::text::similar::closest;
pub use error::QueryError;
pub use front_matter::{ColumnUnit, OutputColumn, Parameter, ParameterType, QueryDeclaration};
pub use plot::{GROUPING, PlotDeclaration};

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
        mod applicable;
        mod batch;
        mod catalog;
        mod dialect;
        mod exact;
        mod expressions;
        mod groups;
        mod links;
        mod numbers;
        mod panics;
        mod query_rows;
        mod reasons;
        mod referenced_columns;
        mod registry;
        mod render;
        mod run;
        mod shown;
        mod statement;
        mod steps;
        mod units;

        pub use applicable::{applicable, recorded, source_rows, subject};
        pub use catalog::catalog;
        pub use dialect::{Kind, calls};
        pub use query_rows::by_rows;
        pub use referenced_columns::referenced_columns;
        pub use registry::{Query, Registry};
        pub use render::{NameForm, QueryOptions, render};
        pub use run::{Answer, QueryRun, run_queries, run_queries_of_views, run_query, run_sql, united};
        pub use shown::shown;
        pub use statement::is_query;
    }
}
