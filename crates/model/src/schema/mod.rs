//! Contents of the canonical tables, declared once, and facts that a source reports about its processes. Neither polars nor files.

pub mod anomaly;
pub mod domain;
pub mod facts;
pub mod process;
mod table;
pub mod tables;
pub mod validity;

pub use table::*;
