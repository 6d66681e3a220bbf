//! Runs a program under rocprofv3, and what its kernels took.

mod certainty;
mod error;
mod run_once;
mod run_times;
mod several;

#[cfg(test)]
mod tests;

pub(crate) use certainty::{MOST_RUNS, Stability};
pub(crate) use error::MeasureError;
pub(crate) use run_once::{Collected, collect, run_once};
pub(crate) use run_times::{RunTimes, read_run_times};
pub(crate) use several::{Measured, Setting, Stopped, Until, measure};
