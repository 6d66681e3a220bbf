//! Comparisons as text, Markdown, JSON and tables.

mod columns;
mod history;
mod markdown;
mod page;
mod tables;
mod text;

pub(crate) use history::{document as history_document, write_text as write_history};
pub(crate) use markdown::write as write_markdown;
pub(crate) use page::{baseline_section, document, sheets};
pub(crate) use tables::{Frame, frames};
pub(crate) use text::write as write_text;
