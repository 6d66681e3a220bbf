//! Collectives of several GPUs: matching their kernels, sizing their messages.

pub mod launching_groups;
pub mod matching;
pub mod messages;
