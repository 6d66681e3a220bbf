//! Reads single records, however they are spelled.

pub mod bare_words;
pub mod call_with_args;
pub mod lenient;
pub mod records;
pub mod surrogates;
pub mod values;
