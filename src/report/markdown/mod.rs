//! Documents as Markdown.

mod escape;
mod render;

pub(crate) use escape::prose;
pub(crate) use render::write;
