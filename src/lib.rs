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

// `pub` items are part of the library, and documented.
#![deny(unreachable_pub)]

mod cli;
mod invocation;
mod library;

#[doc(hidden)]
pub mod internal;
#[doc(hidden)]
pub mod properties;

pub use arrow;
pub use library::*;
pub use polars;

#[doc(hidden)]
pub use cli::{main as cli_main, run_in_process};
#[doc(hidden)]
pub use invocation::RunOutcome;

#[cfg(doctest)]
#[doc = include_str!("../docs/guide/library.md")]
struct Guide;
