//! `sessions list|show|resume|clean|export`: the sessions of loops.

mod arguments;
mod clean;
mod export;
mod list;
mod resume;
mod show;

pub(crate) use arguments::{SessionsArguments, run};
