//! Runs a program under rocprofv3, and reads the times of its kernels.

mod certainty;
mod error;
mod run_once;
mod run_times;
mod several;

#[cfg(test)]
mod tests;

pub(crate) use certainty::median_cut;
pub use certainty::{MOST_RUNS, Stability};
pub use error::MeasureError;
pub(crate) use run_once::run_once;
pub use run_once::{Collected, collect};
pub use run_times::RunTimes;
pub(crate) use run_times::{answer, digest_of, open_traces, read_run_times};
pub use several::{Measured, Setting, Stopped, Until, measure};
