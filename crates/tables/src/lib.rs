//! A trace as tables: its processes, ranks, clocks and selections, and the tables derived from those that were read.
//!
//! [`trace::Trace`] is a set of lazy frames over all processes, which one executor reads, derives and hands out. [`columns`] makes
//! canonical columns, [`mod@derive`] the derived tables.
//!
//! This crate knows no file format and no SQL.
//!
//! `unsafe` code is in `columns/arrow_bridge.rs` alone, which hands columns from one implementation of Arrow to the other.

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
