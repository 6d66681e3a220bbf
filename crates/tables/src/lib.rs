//! A trace as tables: its processes, ranks, clocks and selections, and tables derived from source tables.
//!
//! [`trace::Trace`] is a set of lazy frames over all processes, which one executor reads, derives and returns. [`columns`] makes canonical
//! columns, [`mod@derive`] the derived tables.
//!
//! This crate does not know file formats or SQL.
//!
//! Only `columns/arrow_bridge.rs` has `unsafe` code. It passes columns from one implementation of Arrow to the other.

/// The text of a file at the top of the repository.
macro_rules! data {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $path))
    };
}

pub mod ablation;
pub mod columns;
pub mod derive;
pub mod trace;
