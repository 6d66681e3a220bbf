//! Documents as Markdown.

mod escape;
mod render;

pub(crate) use render::write;
