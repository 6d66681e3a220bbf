//! Metrics as data: definitions over hardware counters and device constants, the language that their formulas are written
//! in, and what they come to for the dispatches of a trace.

mod binding;
mod bottlenecks;
mod definitions;
mod expression;
mod parser;
mod ratio;
mod roofs;

pub(crate) use crate::analysis::hardware::metrics::binding::{Bound, Known, bind, constant};
pub(crate) use crate::analysis::hardware::metrics::bottlenecks::{Bottleneck, Evidence, bottlenecks};
pub(crate) use crate::analysis::hardware::metrics::definitions::{
    Accumulated, Definitions, EffectiveDefinitions, Metric, Normalization, OnArchitecture, SUFFIXES,
};
pub(crate) use crate::analysis::hardware::metrics::expression::{Counter, Expression, Reduction};
#[cfg(any(test, feature = "properties"))]
pub(crate) use crate::analysis::hardware::metrics::parser::{FormulaError, Vocabulary, parse};
#[cfg(any(test, feature = "properties"))]
pub(crate) use crate::analysis::hardware::metrics::ratio::{Ratio, ratio};
pub(crate) use crate::analysis::hardware::metrics::roofs::measured_roofs;

#[cfg(test)]
mod tests;

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
        mod compiled;

        pub(crate) use crate::analysis::hardware::metrics::compiled::compiled;
    }
}
