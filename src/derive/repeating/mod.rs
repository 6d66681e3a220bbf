//! Iterations, and the parts of a run.

pub(crate) mod iterations;
pub(crate) mod run_parts;
