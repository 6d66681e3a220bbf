//! Proposers of kernel changes: transforms of its source with their conditions, and a language model.

mod code;
mod facts;
mod launch_bounds;
mod loops;
mod model;
mod restrict;
#[cfg(test)]
mod tests;
mod transform;
mod unroll;
mod vector_loads;

pub use facts::KernelFacts;
pub use model::{ModelProposer, Prompted, Question};
pub use transform::Transform;
