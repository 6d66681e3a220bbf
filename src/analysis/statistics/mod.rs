//! Statistics that several parts use. Logarithms and special functions come from the crate `libm`, not from the platform, so that
//! results are the same bytes everywhere.

pub(crate) mod blocks;
pub(crate) mod holm;
pub(crate) mod medians;
pub(crate) mod rounding;
pub(crate) mod student;
pub(crate) mod trimmed;
