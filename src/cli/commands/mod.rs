//! The commands, a file each.

pub mod analyze;
pub mod check;
pub mod completions;
pub mod config;
pub mod convert;
pub mod gpu_figures;
pub mod info;
pub mod man;
pub mod plan;
pub mod report;
pub mod report_batch;
pub mod report_outputs;
pub mod scan;
pub mod schema;
pub mod sql;
pub mod table;
pub mod tables;
