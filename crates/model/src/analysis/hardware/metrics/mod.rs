//! Metrics as data: definitions over hardware counters and device constants, the language of their formulas, and their
//! values for the dispatches of a trace.

mod binding;
mod bottlenecks;
mod definitions;
mod expression;
mod parser;
mod ratio;
mod roofs;

pub use crate::analysis::hardware::metrics::binding::{Bound, Known, bind, constant};
pub use crate::analysis::hardware::metrics::bottlenecks::{Bottleneck, Evidence, bottlenecks};
pub(crate) use crate::analysis::hardware::metrics::definitions::MAX_DERIVED_DEPTH;
pub use crate::analysis::hardware::metrics::definitions::{
    Accumulated, Definitions, EffectiveDefinitions, Metric, Normalization, OnArchitecture, SUFFIXES, hardware_counter,
    recorded_counter,
};
pub use crate::analysis::hardware::metrics::expression::{
    Choice, Comparison, Counter, Expression, Function, Operator, Reduction,
};
pub use crate::analysis::hardware::metrics::parser::{FormulaError, Vocabulary, parse};
pub use crate::analysis::hardware::metrics::ratio::{Ratio, ratio};
pub use crate::analysis::hardware::metrics::roofs::measured_roofs;

#[cfg(test)]
mod tests;
