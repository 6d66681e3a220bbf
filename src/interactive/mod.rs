//! Profile, analyse, change, measure again: one state machine, with or without a person.

pub(crate) mod checkpoints;
pub(crate) mod edits;
pub(crate) mod face;
pub(crate) mod machine;
mod options;
pub(crate) mod programs;
pub(crate) mod sessions;

pub(crate) use options::LoopOptions;
