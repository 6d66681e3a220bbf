//! Documents and pictures of answers.

#[cfg(feature = "tables")]
pub mod analysis;
#[cfg(feature = "tables")]
pub mod batch;
#[cfg(feature = "tables")]
pub mod charts;
#[cfg(feature = "tables")]
pub mod compat;
#[cfg(feature = "tables")]
pub mod document;
#[cfg(feature = "tables")]
pub mod folder;
#[cfg(feature = "tables")]
pub mod full_tables;
#[cfg(feature = "tables")]
pub mod html;
#[cfg(feature = "tables")]
pub mod json;
#[cfg(feature = "tables")]
pub mod markdown;
#[cfg(feature = "tables")]
mod source_and_trace;
#[cfg(feature = "tables")]
pub mod source_document;
#[cfg(feature = "tables")]
pub mod text;
#[cfg(feature = "tables")]
mod text_roofline;
#[cfg(feature = "tables")]
pub mod xlsx;

#[cfg(feature = "tables")]
pub use text_roofline::text_roofline;
