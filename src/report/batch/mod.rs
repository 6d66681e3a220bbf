//! Documents of many runs: which inputs are a run, and the index that compares the runs.

mod change;
mod entry;
mod grouping;
mod index;
mod json;
mod names;
mod page;
mod page_view;

pub(crate) use change::Change;
pub(crate) use entry::{Entry, Outcome, RunComparison, RunFigures, index_questions};
pub(crate) use grouping::{Grouping, GroupingError, Run, runs};
pub(crate) use index::Index;
pub(crate) use json::write as write_json;
pub(crate) use json::{SCHEMA, is_index, listed_files};
pub(crate) use names::file_stems;
pub(crate) use page::write as write_page;
