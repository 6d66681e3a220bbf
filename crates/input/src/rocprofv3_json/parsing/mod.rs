//! Reads single records, however they are spelled.

pub mod bare_words;
pub(crate) mod call_with_args;
pub(crate) mod lenient;
pub mod records;
pub(crate) mod surrogates;
pub mod values;
