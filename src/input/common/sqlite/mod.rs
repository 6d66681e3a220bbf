//! Reading of SQLite databases that may be damaged or hold other types than declared. Nothing is ever written.

#[cfg(test)]
#[cfg(feature = "tables")]
mod agreement;
#[cfg(feature = "tables")]
mod bulk;
#[cfg(feature = "tables")]
mod careful;
#[cfg(feature = "tables")]
mod column;
#[cfg(feature = "tables")]
mod condition;
#[cfg(feature = "tables")]
mod database;
#[cfg(feature = "tables")]
mod file;
#[cfg(feature = "tables")]
mod gather;
mod json_text;
#[cfg(feature = "tables")]
mod log;
#[cfg(feature = "tables")]
mod opening;
#[cfg(feature = "tables")]
mod page_file;
mod pages;
#[cfg(any(test, feature = "properties"))]
pub mod properties;
#[cfg(feature = "tables")]
mod report;
#[cfg(feature = "tables")]
mod store;
#[cfg(feature = "tables")]
mod table;
mod uri;

#[cfg(feature = "tables")]
pub use column::{Columns, Kind, TypeMismatch, Values, Wanted, integer, real, text};
#[cfg(feature = "tables")]
pub use condition::{Condition, listed};
#[cfg(feature = "tables")]
pub use database::{TableShape, declarations, exists, metadata, open, quoted, shape};
#[cfg(feature = "tables")]
pub use file::DatabaseFile;
pub use json_text::text_of_blob;
#[cfg(feature = "tables")]
pub use opening::OpeningDatabase;
#[cfg(feature = "tables")]
pub use pages::RowTest;
#[cfg(feature = "tables")]
pub use report::{damage, type_mismatches};
#[cfg(feature = "tables")]
pub use store::{Reader, Store};
#[cfg(feature = "tables")]
pub use table::{Selection, count, has_any, read, verify};
