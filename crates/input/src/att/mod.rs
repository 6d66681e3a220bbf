//! `stats_*.csv` of `rocprofv3 --att`: the cost of every instruction of a traced dispatch, one file per dispatch, plain
//! or compressed. Newer files also report stall and idle cycles.

mod header;
mod listing;
pub mod properties;

pub(crate) use header::is_header;

mod below;
mod source;

pub use below::thread_traces_below;
pub(crate) use source::open;

const FORMAT: &str = "att-stats";

/// Whether a file is named like one of these files.
pub(crate) fn is_named_like_statistics(name: &str) -> bool {
    name.starts_with("stats_") && (name.ends_with(".csv") || name.ends_with(".csv.gz"))
}
