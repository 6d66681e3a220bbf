//! Units of work: iterations and steps, their layers, the parts of a run, and steps of LLM servers.

mod enclosing;
pub mod inference_steps;
pub mod iterations;
pub mod layers;
mod marked_ranges;
pub mod periods;
pub mod run_parts;
mod step_work;
mod unit_choice;
mod unit_layers;
pub mod unit_offers;
mod unit_passes;
mod unit_search;
pub mod units;
mod unmarked;

pub use enclosing::step_texts;
pub use unit_choice::UnitChoice;
