//! Named queries: SQL files with front matter, rendered with parameters and run over the canonical tables.

mod error;
mod front_matter;
mod groups;
mod mentions;
mod numbers;
mod registry;
mod render;
mod rounding;
mod run;

pub use crate::trace::similar::closest;
pub use error::QueryError;
pub use front_matter::{Bounds, ColumnUnit, OutputColumn, Parameter, ParameterType, QueryDeclaration};
pub use mentions::mentioned;
pub use registry::{Query, Registry};
pub use render::{NameForm, QueryOptions, render};
pub use rounding::round_significant;
pub use run::{Answer, run_queries, run_query, run_sql, united};
