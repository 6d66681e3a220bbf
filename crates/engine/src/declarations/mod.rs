//! Declarations of named queries, in the heads of their files and in `share/query_rows.toml`, and the queries by name.

mod front_matter;
mod plot;

pub use front_matter::parse;
pub use front_matter::{Bounds, ColumnUnit, OutputColumn, Parameter, ParameterType, QueryDeclaration};
pub use plot::{GROUPING, PlotDeclaration};

mod query_rows;
mod registry;

pub use query_rows::{by_rows, missing_tables};
pub use registry::{Query, Registry};
