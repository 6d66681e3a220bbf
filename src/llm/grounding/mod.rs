//! Whether what a model says is in the document: numbers, names and commands.

mod check;
mod commands;
mod facts;
mod names;
mod numbers;
mod table;

pub(crate) use check::{Checked, Grounding};
pub(crate) use commands::CheckOwn;
