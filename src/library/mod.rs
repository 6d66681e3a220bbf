//! The Rust interface; the root of the crate exports all of it.

mod analysis;
mod conversion;
mod error;
mod filters;
mod options;
mod query;
mod to_arrow;
mod trace;

pub use analysis::{Analysis, Evidence, Finding, Saving};
pub use conversion::{ConvertOptions, Converted};
pub use error::Error;
pub use options::Options;
pub use query::TableQuery;
pub use to_arrow::to_arrow;
pub use trace::{Damage, Trace};

pub use wavesieve_engine::NameForm;
pub use wavesieve_engine::findings::Priority;
pub use wavesieve_export::convert::TableFormat;
pub use wavesieve_tables::trace::selection::WindowMode;

mod document;
pub use document::DocumentFormat;
