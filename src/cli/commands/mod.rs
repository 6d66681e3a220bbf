//! The commands, one file each.

pub(crate) mod analyze;
pub(crate) mod ask;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod convert;
pub(crate) mod gpu_figures;
pub(crate) mod info;
pub(crate) mod interactive;
pub(crate) mod lab;
pub(crate) mod licenses;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod merge;
pub(crate) mod package;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod scan;
pub(crate) mod schema;
pub(crate) mod sessions;
pub(crate) mod sql;
mod statements;
pub(crate) mod table;
pub(crate) mod tables;
pub(crate) mod trim;
pub(crate) mod workflow;
