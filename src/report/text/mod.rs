//! Documents as text for terminals.

mod render;

pub(crate) use render::{TextStyle, write};
