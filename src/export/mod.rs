//! Writes answers and datasets: terminal tables, CSV, JSON, Markdown, Parquet Arrow, and traces for viewers.

#[cfg(feature = "cli")]
pub(crate) mod apart;
pub(crate) mod atomic;
pub(crate) mod cache;
pub(crate) mod cell;
#[cfg(feature = "cli")]
pub(crate) mod chrome;
pub(crate) mod columnar;
#[cfg(feature = "cli")]
pub(crate) mod compute_database;
pub(crate) mod conversion;
pub(crate) mod convert;
pub(crate) mod convert_process;
pub(crate) mod dataset;
pub(crate) mod delimited;
pub(crate) mod documentation;
pub(crate) mod html_table;
pub(crate) mod json;
pub(crate) mod markdown;
#[cfg(feature = "cli")]
pub(crate) mod otf2;
pub(crate) mod parquet;
#[cfg(feature = "cli")]
pub(crate) mod perfetto;
#[cfg(feature = "cli")]
pub(crate) mod rocpd;
#[cfg(feature = "cli")]
pub(crate) mod rocprofv3;
mod row_order;
pub(crate) mod stream;
pub(crate) mod target;
pub(crate) mod terminal;
#[cfg(feature = "cli")]
pub(crate) mod timeline;
pub(crate) mod unit;
