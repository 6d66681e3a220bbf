//! Documents and pictures of answers.

#[cfg(feature = "tables")]
pub mod analysis;
#[cfg(feature = "tables")]
pub mod compat;
#[cfg(feature = "tables")]
pub mod document;
#[cfg(feature = "tables")]
pub mod json;
#[cfg(feature = "tables")]
pub mod markdown;
#[cfg(feature = "tables")]
pub mod source_document;
#[cfg(feature = "tables")]
pub mod text;
mod text_roofline;

pub use text_roofline::{Point, Roofs, text_roofline};
