//! The command line: one file per command, shared groups of options, exit codes.

// A closed output must not make the program panic: messages::print and messages::print_note handle it.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub(crate) mod settings;

mod command_line;
mod commands;
mod exit;
mod memory;
mod options;
mod output;
mod program;
mod reference;
mod signals;
mod suggest;
mod thread_count;
mod written;

pub use program::{main, run_in_process};
