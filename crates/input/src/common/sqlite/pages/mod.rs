//! Reads rows of tables straight from the b-tree pages of a SQLite file, without SQLite: bytes in, plain vectors out.
//!
//! The file format is described in <https://www.sqlite.org/fileformat2.html>. For any bytes, this code does not panic, read outside of them
//! or loop forever; a page that contradicts itself, its table or its neighbors is a [`Fault`].

mod bytes;
mod cell;
mod cells;
mod decoder;
mod fault;
mod format;
mod layout;
mod ownership;
pub mod properties;
mod record;
mod row_test;
mod schema;
mod sequence;
mod tree;
mod value;
mod whole;

pub(crate) use cell::is_of_table;
pub(crate) use cells::TypeMismatches;
pub use cells::{Cells, Numbers, Texts};
pub use decoder::{Chunk, Decoder, Plan, Stored};
pub use fault::Fault;
pub(crate) use fault::UnreadablePage;
pub use format::Pages;
pub(crate) use format::{FILE_HEADER_BYTES, stated_bytes};
pub use layout::Layout;
pub(crate) use layout::{FieldRule, guid_of};
pub use ownership::misplaced;
pub(crate) use row_test::RowTest;
pub(crate) use schema::{SchemaEntry, declared_entries, named_entries};
pub(crate) use sequence::overrun;
pub use tree::{Leaf, Tree, measure, walk};
pub(crate) use value::{UnexpectedType, integer_of, real_of};
pub use value::{Value, text_of};
