//! Declarations of named queries, in the heads of their files and in `share/query_rows.toml`, and the queries by name.

mod front_matter;
mod plot;

#[cfg(any(test, feature = "properties"))]
pub(crate) use front_matter::parse;
pub(crate) use front_matter::{Bounds, ColumnUnit, OutputColumn, Parameter, ParameterType, QueryDeclaration};
pub(crate) use plot::{GROUPING, PlotDeclaration};

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
        mod query_rows;
        mod registry;

        pub(crate) use query_rows::{by_rows, missing_tables};
        pub(crate) use registry::{Query, Registry};
    }
}
