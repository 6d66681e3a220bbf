//! CSV files of profilers: opened, read row by row, with rows that cannot be understood told of by file and line.

mod file;
mod numbers;
mod rows;

pub(crate) use file::{CsvFile, line_at, start};
pub(crate) use numbers::{Parsed, float, integer, plain_integer, trimmed};
pub(crate) use rows::{Flaws, scan};
