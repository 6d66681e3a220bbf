//! Several statements over a trace that is read once for all of them.

mod local;
mod merged;
mod read;
mod sums;

pub use read::{Several, Statement, Told};
