//! Reading of SQLite databases that may be damaged or hold other types than declared. Nothing is ever written.

mod bulk;
mod careful;
mod column;
mod database;
mod file;
mod json_text;
mod report;
mod table;
mod times;
mod uri;

pub use column::{Columns, Values, Wanted, integer, real, text};
pub use database::{TableShape, exists, metadata, open, quoted, shape, table_names};
pub use file::DatabaseFile;
pub use json_text::text_of_blob;
pub use report::{damage, misfits, note_open_log};
pub use table::{Selection, count, read};
pub use times::time_conditions;
