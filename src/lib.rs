//! wavesieve sifts GPU traces: it loads rocpd and RPD databases, rocprofv3 JSON and CSV of any number of ranks into
//! canonical tables, answers questions about them with vectorised queries, and writes Parquet, CSV, JSON or tables for
//! the terminal.
//!
//! The parts and the direction of their dependencies: `cli → report/export → findings → engine → trace ← input`.

// What only the gated modules use looks dead without them.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

pub mod analysis;
pub mod cli;
pub mod engine;
pub mod findings;
pub mod input;
#[cfg(any(test, feature = "properties"))]
pub mod properties;
pub mod schema;
pub mod source;
pub mod text;
pub mod trace;

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
        pub mod columns;
        pub mod derive;
        pub mod export;
        mod library;

        pub use arrow;
        pub use library::*;
        pub use polars;
    }
}

#[cfg(feature = "report")]
pub mod report;
