//! Pictures of answers.

#[cfg(feature = "tables")]
pub mod charts;
#[cfg(feature = "tables")]
mod text_roofline;

#[cfg(feature = "tables")]
pub use text_roofline::text_roofline;
