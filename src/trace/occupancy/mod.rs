//! How many wavefronts of a kernel can be resident at a time, and what limits them.

mod arithmetic;
mod limits;

pub use arithmetic::{Limit, Next, Occupancy, Resources};
pub use limits::{Encoding, Limits, RegisterFile, Registers, limits};
