//! The command line: one file per verb, shared groups of options, exit codes.

// A reader that went away must not make the program panic: messages::print and messages::say know what to do.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod answer;
mod arguments;
mod check;
mod completions;
mod config;
mod convert;
mod exit;
mod filters;
mod help;
mod info;
mod man;
mod memory;
mod messages;
mod pages;
mod program;
mod progress;
mod schema;
mod settings;
mod sql;
mod suggest;
mod table;
mod tables;
mod verb_pages;

pub use program::main;
