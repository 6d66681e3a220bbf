//! Several statements over a trace that is read once for all of them.

mod coalesced;
mod per_process;
mod read;
mod steady;
mod steady_rows;
mod sums;

pub use read::{Statement, StatementBatch};
