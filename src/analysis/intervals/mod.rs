//! Arithmetic on half-open time intervals.

mod arithmetic;
pub(crate) mod coverage;
pub(crate) mod gallop;
#[cfg(test)]
mod set_operations;

pub(crate) use arithmetic::{Interval, union};
#[cfg(test)]
pub(crate) use set_operations::{difference, intersection, total_length_ns, union_length_ns};
