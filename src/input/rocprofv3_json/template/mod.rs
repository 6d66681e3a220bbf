//! Reads records whose keys come in the same order, as those of one section do, without a general parser: the first
//! record teaches a template of what stays the same; a record that fits it is read by comparing that and converting
//! the numbers between. What a template accepts, the general parser accepts with the same values; whatever does not fit
//! is left to it. Nothing here knows of tables.

mod columns;
mod learn;
mod matching;
mod numbers;
mod packed;
#[cfg(any(test, feature = "properties"))]
pub mod properties;
mod run;
mod shape;
mod skip;

pub use columns::IntColumn;
pub use packed::Packed;
pub use run::{Run, Runner, Stop};
pub use shape::{General, Shape, Wanted};
pub use skip::skip_value;

/// Zero bytes that have to follow a text, so that whole words can be loaded near its end.
pub const PADDING: usize = 32;

#[cfg(test)]
mod tests;
