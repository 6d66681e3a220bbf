//! Iterations, the parts of a run, and steps of LLM servers.

pub mod inference_steps;
pub mod iterations;
pub mod run_parts;
mod step_work;
