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

pub(crate) use budget::within;
pub(crate) use document::payload;
pub(crate) use known::known_names;
pub(crate) use level::Share;
pub(crate) use masking::Masking;
pub(crate) use table_mask::{MaskOptions, TableMask, strange_part};
pub(crate) use vocabulary::Vocabulary;
