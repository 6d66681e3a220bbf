//! The command line: one file per verb, shared groups of options, exit codes.

mod answer;
mod arguments;
mod check;
mod convert;
mod exit;
mod info;
mod messages;
mod program;
mod schema;
mod sql;
mod table;

pub use program::main;
