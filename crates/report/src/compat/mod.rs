//! Document formats of other programs.

pub mod rocinsight;
pub mod tracelens;
