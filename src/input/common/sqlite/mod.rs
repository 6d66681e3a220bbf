//! Reading of SQLite databases that may be damaged or hold other types than declared. Nothing is ever written.

#[cfg(feature = "tables")]
mod bulk;
#[cfg(feature = "tables")]
mod careful;
#[cfg(feature = "tables")]
mod column;
#[cfg(feature = "tables")]
mod database;
#[cfg(feature = "tables")]
mod file;
mod json_text;
#[cfg(feature = "tables")]
mod log;
#[cfg(any(test, feature = "properties"))]
pub mod properties;
#[cfg(feature = "tables")]
mod report;
#[cfg(feature = "tables")]
mod table;
#[cfg(feature = "tables")]
mod times;
mod uri;

#[cfg(feature = "tables")]
pub use column::{Columns, Values, Wanted, integer, real, text};
#[cfg(feature = "tables")]
pub use database::{TableShape, exists, metadata, open, quoted, shape, table_names};
#[cfg(feature = "tables")]
pub use file::DatabaseFile;
pub use json_text::text_of_blob;
#[cfg(feature = "tables")]
pub use report::{damage, misfits};
#[cfg(feature = "tables")]
pub use table::{Selection, count, read};
#[cfg(feature = "tables")]
pub use times::time_conditions;
