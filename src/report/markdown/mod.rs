//! Documents as Markdown.

mod escape;
mod render;

pub use render::write;
