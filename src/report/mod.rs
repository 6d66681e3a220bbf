//! Documents and pictures of answers.

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
mod source_and_trace;
pub mod source_document;
pub mod text;
mod text_roofline;
pub mod xlsx;

pub use text_roofline::text_roofline;
