//! Reads rows of tables straight from the b-tree pages of a SQLite file, without SQLite: bytes in, plain vectors out.
//!
//! The file format is that of <https://www.sqlite.org/fileformat2.html>. Whatever these bytes are, nothing here panics,
//! reads outside of them or loops for ever; a page that contradicts itself, its table or its neighbors is a [`Fault`].

mod bytes;
mod cell;
mod cells;
mod decoder;
mod fault;
mod format;
mod layout;
mod ownership;
#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;
mod record;
mod row_test;
mod schema;
mod sequence;
mod tree;
mod value;

pub(crate) use cell::is_of_table;
pub(crate) use cells::{Cells, Numbers, Texts, TypeMismatches};
pub(crate) use decoder::{Chunk, Decoder, Plan, Stored};
pub(crate) use fault::{Fault, UnreadablePage};
pub(crate) use format::{FILE_HEADER_BYTES, Pages, stated_bytes};
pub(crate) use layout::{FieldRule, Layout, guid_of};
pub(crate) use ownership::misplaced;
pub(crate) use row_test::RowTest;
pub(crate) use schema::{SchemaEntry, declared_entries, named_entries};
pub(crate) use sequence::overrun;
pub(crate) use tree::{Leaf, Tree, measure, walk};
pub(crate) use value::{UnexpectedType, Value, integer_of, real_of, text_of};
