//! Selects the parts of a document to send: figures, names, or source code.

mod budget;
mod cells;
mod commands;
mod document;
mod known;
mod level;
mod masking;
mod program_texts;
mod scan;
mod source;
mod table_mask;
mod vocabulary;

pub use budget::within;
pub use document::payload;
pub use known::known_names;
pub(crate) use known::{SHORTENED_TO, base_name};
pub use level::Share;
pub(crate) use masking::Masking;
pub use table_mask::MaskOptions;
pub(crate) use table_mask::{TableMask, strange_part};
pub use vocabulary::Vocabulary;
pub(crate) use vocabulary::bare;
