//! Writes answers as terminal tables, CSV, JSON, Markdown, Parquet and Arrow, and traces as datasets and in the formats of other tools.
//!
//! This crate computes nothing: it writes the results of other crates.
//!
//! Only `target.rs` has `unsafe` code: it borrows a file that the shell opened.

/// The text of a file at the top of the repository.
macro_rules! data {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $path))
    };
}

pub mod apart;
pub mod atomic;
pub mod cache;
pub mod cell;
pub mod chrome;
pub mod columnar;
pub mod compute_database;
pub mod conversion;
pub mod convert;
pub mod convert_process;
pub mod dataset;
pub mod delimited;
pub mod documentation;
pub mod html_table;
pub mod json;
pub mod markdown;
pub mod otf2;
pub mod parquet;
pub mod perfetto;
pub mod rocpd;
pub mod rocprofv3;
mod row_order;
pub mod stream;
pub mod target;
pub mod terminal;
pub mod timeline;
pub mod unit;
