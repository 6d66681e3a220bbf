//! Collectives of several GPUs: matching their kernels, sizing their messages.

pub(crate) mod launching_groups;
pub(crate) mod matching;
pub(crate) mod messages;
