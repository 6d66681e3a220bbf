//! Reads single records in all their spellings.

pub(crate) mod args;
pub mod bare_words;
pub(crate) mod lenient;
pub mod records;
pub(crate) mod row;
pub(crate) mod surrogates;
pub mod values;
