//! Pictures of answers.

pub mod charts;
mod text_roofline;

pub use charts::{Point, Roofs};
pub use text_roofline::text_roofline;
