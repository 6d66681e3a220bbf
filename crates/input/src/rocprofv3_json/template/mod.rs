//! Reads records with the same order of keys, as in one section, without a general parser. A template of the constant text is learned from
//! the first record. A matching record is read by comparing that text and converting the numbers between. The general parser accepts every
//! record that a template accepts, with the same values, and it reads all records that do not match.

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
