//! Reading of SQLite databases that may be damaged or hold other types than declared. Nothing is ever written.

#[cfg(test)]
mod agreement;
mod bulk;
mod careful;
mod column;
mod condition;
mod database;
mod file;
mod gather;
mod json_text;
mod page_file;
mod pages;
mod report;
mod store;
mod table;
mod uri;

pub use column::{Columns, Misfit, Values, Wanted, integer, real, text};
pub use condition::{Condition, listed};
pub use database::{TableShape, exists, metadata, open, quoted, shape, table_names};
pub use file::DatabaseFile;
pub use json_text::text_of_blob;
pub use pages::RowTest;
pub use report::{damage, misfits, note_open_log};
pub use store::{Reader, Store};
pub use table::{Selection, count, read};
