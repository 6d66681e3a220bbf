//! Iterations, and the parts of a run.

pub mod iterations;
pub mod run_parts;
