//! Profile, analyze, change, measure again: one state machine, with or without a user.

pub mod checkpoints;
pub mod edits;
pub mod face;
pub mod machine;
mod options;
pub mod programs;
pub mod sessions;

pub use options::LoopOptions;
