//! Profile, analyse, change, measure again: one state machine, with or without a person.

pub(crate) mod programs;
