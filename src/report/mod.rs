//! Pictures of answers.

mod text_roofline;

pub use text_roofline::{Point, Roofs, text_roofline};
