//! Comparisons as text, Markdown, JSON and tables.

mod columns;
mod history;
mod markdown;
mod page;
mod tables;
mod text;

pub use history::{document as history_document, write_text as write_history};
pub use markdown::write as write_markdown;
pub use page::{baseline_section, document, sheets};
pub use tables::{Frame, frames};
pub use text::write as write_text;
