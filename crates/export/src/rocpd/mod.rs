//! Writes rocpd databases and indexes of them: tables are copied with their own declarations inside SQLite.

mod collection;
mod enclosing;
mod id_set;
mod marks;
mod merge;
mod output;
mod package;
mod partition;
mod processes;
mod references;
mod row_choice;
mod structure;
mod trim;
mod views;

pub use collection::check_inputs;
pub use merge::merge;
pub(crate) use output::OutputDatabase;
pub use output::{DamagedSource, Written};
pub use package::{Packaging, package};
pub use trim::trim;
