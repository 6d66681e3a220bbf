//! Steps of LLM servers, from markers and kernels.

mod kernel_roles;
mod kinds;
mod markers;
mod token_steps;

pub use kernel_roles::{KernelRoles, Role};
pub use kinds::{Decision, KnownBy, StepKind, WorkOfStep, decide};
pub use markers::{MarkedStep, StepFacts};
pub use token_steps::steps_by_tokens;
