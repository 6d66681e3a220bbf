//! `compare BASE NEW`: the differences between runs, and whether they exceed noise.

mod run;
mod runs;

pub(crate) use run::{CompareArguments, run};
