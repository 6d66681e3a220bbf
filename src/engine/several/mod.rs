//! Several statements over a trace that is read once for all of them.

mod kept;
mod local;
mod merged;
mod read;
mod steady;
mod sums;

pub use read::{Several, Statement, Told};
