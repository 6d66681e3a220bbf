//! `convert INPUT… -o PATH`: the whole trace as a dataset, as tables or for viewers.

mod run;
mod viewers;

pub(crate) use run::{ConvertArguments, run};
pub(super) use viewers::nothing_written;
