//! Reads rows of tables straight from the b-tree pages of a SQLite file, without SQLite: bytes in, plain vectors out.
//!
//! The file format is that of <https://www.sqlite.org/fileformat2.html>. Whatever these bytes say, nothing here panics,
//! reads outside of them or loops for ever; a page that contradicts itself, its table or its neighbors is a [`Fault`].

mod bytes;
mod cell;
mod cells;
mod decoder;
mod fault;
mod format;
#[cfg(any(test, feature = "properties"))]
pub mod properties;
mod record;
mod row_test;
mod schema;
mod tree;
mod value;

pub use cells::{Cells, Numbers, Texts, TypeMismatches};
pub use decoder::{Chunk, Decoder, Plan, Stored};
pub use fault::UnreadablePage;
pub use format::Pages;
pub use row_test::RowTest;
pub use schema::{SchemaEntry, declared_entries, named_entries};
pub use tree::{Leaf, measure, walk};
pub use value::{UnexpectedType, Value, integer_of, real_of, text_of};
