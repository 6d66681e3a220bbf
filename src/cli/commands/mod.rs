//! The commands, a file each.

pub(crate) mod analyze;
pub(crate) mod ask;
pub(crate) mod check;
pub(crate) mod compare;
mod compare_runs;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod convert;
mod convert_viewers;
pub(crate) mod gpu_figures;
pub(crate) mod info;
pub(crate) mod licenses;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod merge;
pub(crate) mod package;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod report_batch;
pub(crate) mod report_outputs;
pub(crate) mod scan;
pub(crate) mod schema;
pub(crate) mod sql;
pub(crate) mod table;
pub(crate) mod tables;
pub(crate) mod trim;
