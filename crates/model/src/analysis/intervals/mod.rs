//! Arithmetic on half-open time intervals.

mod arithmetic;
pub mod coverage;
pub mod gallop;
mod joined;
pub mod lasting;
#[cfg(test)]
mod set_operations;

pub use arithmetic::{Interval, union};
pub(crate) use joined::Joined;
#[cfg(test)]
pub use set_operations::{difference, intersection};
#[cfg(test)]
pub(crate) use set_operations::{total_length_ns, union_length_ns};
