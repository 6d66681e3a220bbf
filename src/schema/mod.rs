//! Contents of the canonical tables, declared once, and facts that a source reports about its processes. Neither polars nor files.

pub(crate) mod anomaly;
pub(crate) mod domain;
pub(crate) mod facts;
pub(crate) mod process;
mod table;
pub(crate) mod tables;
pub(crate) mod validity;

pub use table::*;
