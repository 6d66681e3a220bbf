//! Changes a kernel, and keeps changes that pass all gates: the candidate builds, has the same interface, needs no more
//! scarce resources, computes the same, is faster, and slows no other kernel down.

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

pub use attempt::Attempt;
pub use commands::Commands;
pub use correctness::Checks;
pub use driver::{Observer, Options, Outcome, has_results, optimize, read_source};
pub use elements::Tolerance;
pub use error::OptimizeError;
pub use gates::{GateResult, Verdict};
pub use outputs::OutputFile;
pub use place::SourcesPlace;
pub use promotion::diff;
pub use replaying::Replays;
pub use resources::Limits;
pub use target::Target;
