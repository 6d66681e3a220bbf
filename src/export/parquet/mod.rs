//! Parquet files.

mod dictionary;
pub(crate) mod file;
mod hybrid;
