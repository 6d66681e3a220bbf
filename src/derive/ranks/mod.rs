//! Communication kernels of all processes, matched.

pub(crate) mod clocks;
pub(crate) mod collective_kernels;
pub(crate) mod collective_messages;
pub(crate) mod communicators;
pub(crate) mod exposed_communication;
