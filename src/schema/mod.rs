//! What the canonical tables hold, declared once, and what a source reports of its processes. Neither polars nor files.

pub mod anomaly;
pub mod domain;
pub mod facts;
pub mod process;
mod table;
pub(crate) mod tables;
pub mod validity;

pub use table::*;
