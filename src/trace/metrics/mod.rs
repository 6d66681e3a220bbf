//! Metrics as data: definitions over hardware counters and device constants, the language that their formulas are written
//! in, and what they come to for the dispatches of a trace.

mod binding;
mod bottlenecks;
mod definitions;
mod expression;
mod parser;
mod ratio;
mod roofs;

#[cfg(feature = "tables")]
mod compiled;

pub use binding::{Bound, Known, Unbound, bind, constant};
pub use bottlenecks::{Bottleneck, Evidence, bottlenecks};
#[cfg(feature = "tables")]
pub use compiled::compiled;
pub use definitions::{Accumulated, DefinitionError, Definitions, Metric, Normalization, OnArchitecture, SUFFIXES};
pub use expression::{Counter, Expression, Reduction};
pub use parser::{FormulaError, Vocabulary, parse};
pub use ratio::{Ratio, ratio};
pub use roofs::{RoofError, measured_roofs};

#[cfg(test)]
mod tests;
