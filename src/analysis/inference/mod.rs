//! Steps of LLM servers: what markers and kernels say about them.

mod kernel_roles;
mod kinds;
mod markers;
mod token_steps;

pub(crate) use kernel_roles::{KernelRoles, Role};
pub(crate) use kinds::{Decision, KnownBy, StepKind, WorkOfStep, decide};
pub(crate) use markers::{MarkedStep, StepFacts};
pub(crate) use token_steps::steps_by_tokens;
