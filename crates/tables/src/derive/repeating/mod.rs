//! Units of work: iterations and steps, their layers, the parts of a run, and steps of LLM servers.

mod enclosing;
pub mod inference_steps;
pub mod iterations;
pub mod layers;
pub mod periods;
pub mod run_parts;
mod step_work;
pub mod units;

pub use enclosing::step_texts;
