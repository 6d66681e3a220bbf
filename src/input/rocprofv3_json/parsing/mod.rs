//! Reads single records, however they are spelled.

pub(crate) mod bare_words;
pub(crate) mod call_with_args;
pub(crate) mod lenient;
pub(crate) mod records;
pub(crate) mod surrogates;
pub(crate) mod values;
