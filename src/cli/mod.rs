//! The command line: one file per verb, shared groups of options, exit codes.

// A reader that went away must not make the program panic: messages::print and messages::say know what to do.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(feature = "tables")]
mod alignment;
#[cfg(feature = "tables")]
mod analyze;
#[cfg(feature = "tables")]
mod answer;
#[cfg(feature = "tables")]
mod arguments;
#[cfg(feature = "tables")]
mod check;
#[cfg(feature = "tables")]
mod completions;
#[cfg(feature = "tables")]
mod config;
#[cfg(feature = "tables")]
mod convert;
#[cfg(feature = "tables")]
mod delivery;
#[cfg(feature = "tables")]
mod document_arguments;
#[cfg(feature = "tables")]
mod document_output;
#[cfg(feature = "tables")]
mod document_place;
#[cfg(feature = "tables")]
mod exit;
#[cfg(feature = "tables")]
mod extra_inputs;
#[cfg(feature = "tables")]
mod filters;
#[cfg(feature = "tables")]
mod gpu_figures;
#[cfg(feature = "tables")]
mod help;
#[cfg(feature = "tables")]
mod info;
#[cfg(feature = "tables")]
mod man;
#[cfg(feature = "tables")]
mod memory;
#[cfg(feature = "tables")]
mod messages;
#[cfg(feature = "tables")]
mod pages;
#[cfg(feature = "tables")]
mod plan;
#[cfg(feature = "tables")]
mod plot;
#[cfg(feature = "tables")]
mod program;
#[cfg(feature = "tables")]
mod progress;
#[cfg(feature = "tables")]
mod report;
#[cfg(feature = "tables")]
mod report_batch;
#[cfg(feature = "tables")]
mod report_outputs;
#[cfg(feature = "tables")]
mod rule_pages;
#[cfg(feature = "tables")]
mod scan;
#[cfg(feature = "tables")]
mod schema;
pub(crate) mod settings;
#[cfg(feature = "tables")]
mod source_text;
#[cfg(feature = "tables")]
mod sql;
#[cfg(feature = "tables")]
mod suggest;
#[cfg(feature = "tables")]
mod table;
#[cfg(feature = "tables")]
mod tables;
#[cfg(feature = "tables")]
mod tracelens;
#[cfg(feature = "tables")]
mod verb_pages;

#[cfg(feature = "tables")]
pub use program::main;
