//! Reads records whose keys come in the same order, as those of one section do, without a general parser: the first
//! record teaches a template of what stays the same; a record that fits it is read by comparing that and converting
//! the numbers between. What a template accepts, the general parser accepts with the same values; whatever does not fit
//! is left to it.

mod learn;
mod matching;
mod numbers;
mod packed;
pub mod properties;
mod run;
mod skip;

pub(crate) use packed::{IntColumn, Packed};
pub use run::{Run, Runner, Stop};
#[cfg(test)]
use skip::skip_value;

#[cfg(test)]
mod tests;
