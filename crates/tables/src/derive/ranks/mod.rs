//! Communication kernels of all processes, matched.

pub mod clocks;
pub mod collective_kernels;
pub(crate) mod collective_messages;
pub mod communicators;
pub mod exposed_communication;
pub mod programs;
