//! Reading of SQLite databases that may be damaged or hold other types than declared. Nothing is ever written.

mod json_text;
mod pages;
#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;
mod uri;

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

        pub(crate) use column::{Columns, Kind, TypeMismatch, Values, Wanted, integer, real, text};
        pub(crate) use condition::{Condition, listed};
        pub(crate) use database::{TableShape, declarations, exists, metadata, open, printed, quoted, shape};
        pub(crate) use file::DatabaseFile;
        pub(crate) use opening::OpeningDatabase;
        pub(crate) use pages::RowTest;
        pub(crate) use report::{damage, type_mismatches};
        pub(crate) use store::Store;
pub use store::Reader;
        pub(crate) use uri::read_only_uri;
        pub(crate) use table::{Selection, count, damage_of_root, has_any, read, row_ranges, verify};
    }
}
