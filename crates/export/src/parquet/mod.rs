//! Parquet files.

mod dictionary;
pub mod file;
mod hybrid;
