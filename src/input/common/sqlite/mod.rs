//! Reading of SQLite databases that may be damaged or hold other types than declared. Nothing is ever written.

mod json_text;
mod pages;
#[cfg(any(test, feature = "properties"))]
pub mod properties;
mod uri;

pub use json_text::text_of_blob;

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
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

        pub use column::{Columns, Kind, TypeMismatch, Values, Wanted, integer, real, text};
        pub use condition::{Condition, listed};
        pub use database::{TableShape, declarations, exists, metadata, open, quoted, shape};
        pub use file::DatabaseFile;
        pub use opening::OpeningDatabase;
        pub use pages::RowTest;
        pub use report::{damage, type_mismatches};
        pub use store::{Reader, Store};
        pub use table::{Selection, count, has_any, read, verify};
    }
}
