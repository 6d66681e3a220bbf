//! Whether what a model says is in the document: numbers, names and commands.

mod apis;
mod check;
mod collect;
mod command_check;
mod commands;
mod counters;
mod facts;
mod forms;
mod names;
mod numbers;
mod shell;
mod suggested;
mod table;

pub(crate) use check::{Checked, Grounding};
pub(crate) use command_check::CheckOwn;
pub(crate) use suggested::Suggested;
