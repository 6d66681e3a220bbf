//! The command line: one file per command, shared groups of options, exit codes.

// A reader that went away must not make the program panic: messages::print and messages::print_note know what to do.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(feature = "tables")]
mod commands;
#[cfg(feature = "tables")]
mod exit;
#[cfg(feature = "tables")]
mod memory;
#[cfg(feature = "tables")]
mod options;
#[cfg(feature = "tables")]
mod output;
#[cfg(feature = "tables")]
mod program;
#[cfg(feature = "tables")]
mod reference;
pub(crate) mod settings;
#[cfg(feature = "tables")]
mod suggest;

#[cfg(feature = "tables")]
pub use program::main;
