//! Opens CSV files of profilers and reads them row by row. Rows that cannot be understood are reported by file and
//! line.

mod columns;
mod file;
mod numbers;
mod rows;
mod torn;

pub use columns::Content;
pub(crate) use columns::{columns, not_a_number};
pub use file::start;
pub(crate) use file::{CsvFile, header_in, line_at};
pub(crate) use numbers::plain_integer;
pub use numbers::{Parsed, float, integer, trimmed};
pub(crate) use rows::Flaws;
pub use rows::scan;
pub(crate) use torn::{TornRows, torn_end};
