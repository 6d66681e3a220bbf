//! Checks whether a document supports the numbers, names and commands of a model.

mod apis;
mod check;
mod clauses;
mod collect;
mod command_check;
mod commands;
mod counters;
mod devices;
mod effects;
mod facts;
mod forms;
mod ids;
mod names;
mod numbers;
mod own;
mod shell;
mod suggested;
mod table;

pub use check::Checked;
pub(crate) use check::Grounding;
pub(crate) use collect::RESULTS_SECTION;
pub(crate) use command_check::CheckOwn;
pub use suggested::Suggested;
