//! Documents of many runs: division of inputs into runs, and the index that compares the runs.

mod change;
mod entry;
mod grouping;
mod index;
mod json;
mod names;
mod page;
mod page_view;

pub use change::Change;
pub use entry::{Outcome, RunComparison, RunEntry, RunFigures, index_questions};
pub use grouping::{Grouping, GroupingError, Run, runs};
pub use index::Index;
pub use json::write as write_json;
pub use json::{SCHEMA, is_index, listed_files};
pub use names::file_stems;
pub use page::write as write_page;
