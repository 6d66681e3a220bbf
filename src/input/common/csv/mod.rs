//! Opens CSV files of profilers and reads them row by row. Rows that cannot be understood are reported by file and
//! line.

mod file;
mod numbers;
mod rows;
mod torn;

pub(crate) use file::{CsvFile, line_at, start};
pub(crate) use numbers::{Parsed, float, integer, plain_integer, trimmed};
pub(crate) use rows::{Flaws, scan};
pub(crate) use torn::{TornRows, torn_end};
