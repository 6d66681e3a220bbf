//! Documents, charts and comparisons.
//!
//! [`analysis`] makes a document of findings and tables, and one module per format renders it; [`compare`] compares
//! runs. Renderers compute nothing.

#![forbid(unsafe_code)]

/// The text of a file at the top of the repository.
macro_rules! data {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $path))
    };
}

/// The bytes of a file at the top of the repository.
macro_rules! data_bytes {
    ($path:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $path))
    };
}

pub mod compare;

pub mod analysis;
pub mod batch;
pub mod charts;
pub mod compat;
pub mod document;
pub mod folder;
pub mod full_tables;
pub mod html;
pub mod json;
pub mod markdown;
pub mod overview;
mod source_and_trace;
pub mod source_document;
pub mod text;
mod text_roofline;
pub mod timeline;
pub mod xlsx;

pub use source_and_trace::source_places;
pub(crate) use text_roofline::text_roofline;
