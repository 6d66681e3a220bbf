//! How many wavefronts of a kernel can be resident at a time, and what limits them.

mod arithmetic;
mod limits;

pub use crate::analysis::hardware::occupancy::arithmetic::{Occupancy, Resources};
pub use crate::analysis::hardware::occupancy::limits::{Encoding, Limits, Registers, limits};
