//! Reads single records, however they are spelled.

pub(crate) mod args;
pub mod bare_words;
pub(crate) mod lenient;
pub mod records;
pub(crate) mod row;
pub(crate) mod surrogates;
pub mod values;
