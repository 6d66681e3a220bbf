//! Sums, means and divisions that do not depend on the order in which threads add, in place of those of polars.

mod floats;
mod functions;
mod plan;

pub use plan::with_exact_sums;
