//! `sessions list|show|resume|clean|export`: manages sessions.

mod arguments;
mod clean;
mod export;
mod list;
mod resume;
mod show;

pub(crate) use arguments::{SessionsArguments, run};
