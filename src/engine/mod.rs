//! Named queries: SQL files with front matter, rendered with parameters and run over the canonical tables.

#[cfg(feature = "tables")]
mod applicable;
#[cfg(feature = "tables")]
mod batch;
#[cfg(feature = "tables")]
mod catalog;
#[cfg(feature = "tables")]
mod dialect;
mod error;
#[cfg(feature = "tables")]
mod exact;
#[cfg(feature = "tables")]
mod expressions;
mod front_matter;
#[cfg(feature = "tables")]
mod groups;
#[cfg(feature = "tables")]
mod links;
#[cfg(feature = "tables")]
mod numbers;
#[cfg(feature = "tables")]
mod panics;
mod plot;
#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;
#[cfg(feature = "tables")]
mod query_rows;
#[cfg(feature = "tables")]
mod reasons;
#[cfg(feature = "tables")]
mod referenced_columns;
#[cfg(feature = "tables")]
mod registry;
#[cfg(feature = "tables")]
mod render;
#[cfg(feature = "tables")]
mod run;
#[cfg(feature = "tables")]
mod shown;
#[cfg(feature = "tables")]
mod statement;
#[cfg(feature = "tables")]
mod steps;
#[cfg(feature = "tables")]
mod units;

pub use crate::text::similar::closest;
#[cfg(feature = "tables")]
pub use applicable::{applicable, applicable_queries, recorded, source_rows, subject};
#[cfg(feature = "tables")]
pub use catalog::catalog;
#[cfg(feature = "tables")]
pub use dialect::{Call, Kind, calls};
pub use error::QueryError;
pub use front_matter::{Bounds, ColumnUnit, OutputColumn, Parameter, ParameterType, QueryDeclaration};
pub use plot::{GROUPING, PlotDeclaration};
#[cfg(feature = "tables")]
pub use query_rows::by_rows;
#[cfg(feature = "tables")]
pub use referenced_columns::referenced_columns;
#[cfg(feature = "tables")]
pub use registry::{Query, Registry};
#[cfg(feature = "tables")]
pub use render::{NameForm, QueryOptions, render};
#[cfg(feature = "tables")]
pub use run::{Answer, QueryRun, run_queries, run_queries_of_views, run_query, run_sql, united};
#[cfg(feature = "tables")]
pub use shown::shown;
#[cfg(feature = "tables")]
pub use statement::is_query;
