//! `compare BASE NEW`: what differs between runs, and whether that is more than chance.

mod run;
mod runs;

pub(crate) use run::{CompareArguments, run};
