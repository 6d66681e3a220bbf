//! The tables and views of AMD's databases, with their names and columns, as common table expressions over the canonical tables.

mod names;
mod rewrite;

pub use rewrite::{COPY_NAME, Dialect, described, with_rocpd_names};
