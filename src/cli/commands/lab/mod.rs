//! `lab profile|autotune|optimize|capture|replay|code`: one kernel at a time.

mod arguments;
mod autotune;
mod capture;
mod capture_paths;
mod code;
mod files;
mod minutes;
mod optimize;
mod profile;
mod protected;
mod replay;

pub(crate) use arguments::{LabArguments, run};
