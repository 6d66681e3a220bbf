//! Documents as text for terminals.

mod render;

pub use render::{TextStyle, write};
