//! Comparisons as text, Markdown, JSON and tables.

mod columns;
mod markdown;
mod page;
mod tables;
mod text;

pub(crate) use markdown::write as write_markdown;
pub(crate) use page::document;
pub(crate) use tables::{Frame, frames};
pub(crate) use text::write as write_text;
