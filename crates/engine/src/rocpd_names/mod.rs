//! The tables and views of AMD's databases by their names and with their columns, as common table expressions over our tables.

mod names;
mod rewrite;

pub use rewrite::{COPY_NAME, Dialect, described, with_rocpd_names};
