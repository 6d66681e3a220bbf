//! Documents and pictures of answers.

pub(crate) mod analysis;
pub(crate) mod batch;
pub(crate) mod charts;
pub(crate) mod compat;
pub(crate) mod document;
pub(crate) mod folder;
pub(crate) mod full_tables;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod overview;
mod source_and_trace;
pub(crate) mod source_document;
pub(crate) mod text;
mod text_roofline;
pub(crate) mod xlsx;

pub(crate) use source_and_trace::source_places;
pub(crate) use text_roofline::text_roofline;
