//! Arithmetic on half-open time intervals.

mod arithmetic;
pub mod coverage;
pub mod gallop;

pub use arithmetic::*;
