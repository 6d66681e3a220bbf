//! Statistics for several parts of the program. Logarithms and special functions come from the crate `libm`, not from
//! the platform, so that results are the same bytes everywhere.

pub mod blocks;
pub mod holm;
pub mod medians;
pub mod rounding;
pub mod student;
pub mod trimmed;
