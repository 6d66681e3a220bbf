//! Named queries: SQL files with front matter, rendered with parameters and run over the canonical tables.

#[cfg(feature = "tables")]
mod applicable;
mod error;
#[cfg(feature = "tables")]
mod expressions;
mod front_matter;
#[cfg(feature = "tables")]
mod groups;
#[cfg(feature = "tables")]
mod links;
#[cfg(feature = "tables")]
mod mentions;
#[cfg(feature = "tables")]
mod numbers;
mod plot;
#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;
#[cfg(feature = "tables")]
mod registry;
#[cfg(feature = "tables")]
mod render;
#[cfg(feature = "tables")]
mod rounding;
#[cfg(feature = "tables")]
mod run;
#[cfg(feature = "tables")]
mod several;
#[cfg(feature = "tables")]
mod statement;
#[cfg(feature = "tables")]
mod steps;

pub use crate::trace::similar::closest;
#[cfg(feature = "tables")]
pub use applicable::{applicable, applicable_queries, recorded, source_rows, subject};
pub use error::QueryError;
pub use front_matter::{Bounds, ColumnUnit, OutputColumn, Parameter, ParameterType, QueryDeclaration};
#[cfg(feature = "tables")]
pub use mentions::mentioned;
pub use plot::{GROUPING, PlotDeclaration};
#[cfg(feature = "tables")]
pub use registry::{Query, Registry};
#[cfg(feature = "tables")]
pub use render::{NameForm, QueryOptions, render};
#[cfg(feature = "tables")]
pub use rounding::round_significant;
#[cfg(feature = "tables")]
pub use run::{Answer, run_queries, run_query, run_sql, united};
#[cfg(feature = "tables")]
pub use statement::is_query;
