//! `stats_*.csv` of `rocprofv3 --att`: what every instruction of a traced dispatch cost, a file for each dispatch, plain or
//! compressed. Newer files tell stall and idle cycles too.

#[cfg(feature = "tables")]
mod below;
#[cfg(feature = "tables")]
mod format;
mod header;
mod listing;
#[cfg(any(test, feature = "properties"))]
pub mod properties;
#[cfg(feature = "tables")]
mod source;

#[cfg(feature = "tables")]
pub use below::thread_traces_below;
#[cfg(feature = "tables")]
pub use format::AttStatistics;
pub use header::is_header;

/// Name of the format in the `processes` table.
#[cfg(feature = "tables")]
const FORMAT: &str = "att-stats";

/// Whether a file is named like one of these.
pub fn is_named_like_statistics(name: &str) -> bool {
    name.starts_with("stats_") && (name.ends_with(".csv") || name.ends_with(".csv.gz"))
}
