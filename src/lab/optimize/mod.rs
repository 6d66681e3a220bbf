//! Changes a kernel, and keeps what passes all gates: it builds, has the same interface, needs no more of what is scarce, computes
//! the same, is faster, and slows no other kernel down.

mod attempt;
mod commands;
mod correctness;
mod declarations;
mod driver;
mod elements;
mod error;
mod gates;
mod interface;
mod outputs;
mod place;
mod promotion;
mod replaying;
mod resources;
mod speed;
mod target;
mod tree;

pub(crate) use attempt::Attempt;
pub(crate) use commands::Commands;
pub(crate) use correctness::Checks;
pub(crate) use driver::{Observer, Options, Outcome, has_results, optimize, read_source};
pub(crate) use elements::Tolerance;
pub(crate) use error::OptimizeError;
pub(crate) use gates::{GateResult, Verdict};
pub(crate) use outputs::OutputFile;
pub(crate) use place::Place;
pub(crate) use promotion::diff;
pub(crate) use replaying::Replays;
pub(crate) use resources::Limits;
pub(crate) use target::Target;
