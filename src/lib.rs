//! wavesieve sifts AMD GPU traces: it reads rocpd and RPD databases, rocprofv3 JSON and CSV, traces of the PyTorch
//! profiler, and its own Parquet datasets, of any number of ranks, as one trace; runs SQL and named queries over it with polars;
//! finds bottlenecks; and converts traces to Parquet.
//!
//! ```
//! use wavesieve::Trace;
//!
//! let trace = Trace::open(["fixtures/two_nodes"])?.window("10%:90%")?;
//! let summary = trace.table("kernel_summary").by(["rank"]).top(3).run()?;
//! assert_eq!(summary.height(), 4 * 3); // three kernels of each of four ranks
//! # Ok::<(), wavesieve::Error>(())
//! ```
//!
//! Results are frames of the re-exported [`polars`], which [`to_arrow`] turns into record batches of the re-exported
//! [`arrow`].
//!
//! | feature | adds |
//! | --- | --- |
//! | `core` | reading, SQL, named queries, findings, conversion |
//! | `report` | documents and charts; contains `core` |
//! | `cli` (default) | the program; contains `report` |
//!
//! A program that uses the library does without the last two: `default-features = false, features = ["core"]`.

// Items that are `pub` are part of the library, and documented; fewer of them can be reached without all features.
#![cfg_attr(feature = "cli", deny(unreachable_pub))]
// Items that only the gated modules use look dead without them.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

mod ablation;
mod analysis;
mod cli;
mod engine;
mod files;
mod findings;
mod input;
mod schema;
mod source;
mod text;
mod trace;

#[cfg(any(test, feature = "properties"))]
#[doc(hidden)]
pub mod properties;

#[cfg(test)]
#[cfg(feature = "cli")]
#[path = "../tests/cli/permissions.rs"]
mod permissions;
#[cfg(test)]
#[path = "../tests/cli/skipping.rs"]
mod skipping;
#[cfg(test)]
#[cfg(feature = "cli")]
#[path = "../tests/cli/small_disk.rs"]
mod small_disk;

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
        mod columns;
        mod derive;
        mod export;
        mod library;

        #[doc(hidden)]
        pub mod internal;

        pub use arrow;
        pub use library::*;
        pub use polars;
    }
}

#[cfg(feature = "report")]
mod compare;
#[cfg(feature = "report")]
mod report;

#[cfg(feature = "cli")]
mod ask;

#[cfg(feature = "cli")]
mod interactive;

#[cfg(feature = "cli")]
mod invocation;

#[cfg(any(feature = "cli", feature = "capture"))]
mod lab;

#[cfg(any(feature = "cli", feature = "capture"))]
#[doc(hidden)]
pub mod lab_internal;

#[cfg(feature = "cli")]
mod llm;

#[cfg(feature = "cli")]
mod mcp;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub use cli::{main as cli_main, run_in_process};

#[cfg(feature = "cli")]
#[doc(hidden)]
pub use invocation::RunOutcome;

#[cfg(all(doctest, feature = "report"))]
#[doc = include_str!("../docs/guide/library.md")]
struct Guide;
