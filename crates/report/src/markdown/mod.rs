//! Documents as Markdown.

mod escape;
mod render;

pub use escape::prose;
pub use render::write;
