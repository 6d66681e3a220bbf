//! Iterations, the parts of a run, and steps of LLM servers.

pub(crate) mod inference_steps;
pub(crate) mod iterations;
pub(crate) mod run_parts;
mod step_work;
