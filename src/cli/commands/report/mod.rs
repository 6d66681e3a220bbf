//! `report INPUT… -o PATH`: a report of one run, or of each of many.

mod batch;
mod outputs;
mod run;

pub(crate) use run::{ReportArguments, run};
