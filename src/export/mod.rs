//! Writes answers and datasets: terminal tables, CSV, JSON, Markdown, Parquet Arrow, and traces for viewers.

pub(crate) mod atomic;
pub(crate) mod cache;
pub(crate) mod cell;
pub(crate) mod columnar;
pub(crate) mod conversion;
pub(crate) mod convert;
pub(crate) mod convert_process;
pub(crate) mod delimited;
pub(crate) mod documentation;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod parquet;
#[cfg(feature = "cli")]
pub(crate) mod perfetto;
#[cfg(feature = "cli")]
pub(crate) mod rocpd;
mod row_order;
pub(crate) mod stream;
pub(crate) mod target;
pub(crate) mod terminal;
pub(crate) mod unit;
