//! Trace health: what is odd in the tables of a process, counted.

mod checks;
mod correlation;
mod times;

pub use checks::{Checks, needs};
