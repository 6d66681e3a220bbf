//! Reads SQLite databases that may be damaged or hold other types than declared. Inputs are never written.

mod json_text;
mod pages;
pub mod properties;
mod uri;

#[cfg(test)]
mod agreement;
mod bulk;
mod careful;
mod column;
mod condition;
mod database;
mod file;
mod gather;
mod log;
mod opening;
mod page_file;
mod report;
mod store;
mod table;

pub(crate) use careful::read as read_query;
pub use column::{ColumnKind, Columns, TypeMismatch, Values, Wanted, integer, real, text};
pub(crate) use condition::LISTED_KERNELS;
pub use condition::{Condition, listed};
pub(crate) use database::TableShape;
pub use database::{declarations, exists, metadata, open, printed, quoted, shape};
pub use file::DatabaseFile;
pub(crate) use opening::OpeningDatabase;
pub(crate) use pages::RowTest;
pub use report::damage;
pub(crate) use report::{notes_of_unknown, type_mismatches};
pub use store::Reader;
pub use store::Store;
pub(crate) use table::{Selection, damage_of_root, damage_of_tables};
pub use table::{count, has_any, read, row_ranges, verify};
pub use uri::read_only_uri;
