//! Writes answers and datasets: terminal tables, CSV, JSON, Markdown, Parquet and Arrow.

pub mod atomic;
pub mod cache;
pub mod cell;
pub mod columnar;
pub mod conversion;
pub mod convert;
pub mod convert_process;
pub mod delimited;
pub mod documentation;
pub mod json;
pub mod markdown;
pub mod parquet;
mod row_order;
pub mod stream;
pub mod target;
pub mod terminal;
pub mod unit;
