//! Options that several commands share.

pub mod alignment;
pub mod document_arguments;
pub mod document_place;
pub mod extra_inputs;
pub mod filters;
pub mod global;
pub mod input;
pub mod output;
pub mod plot;
pub mod query;
pub mod source_text;
pub mod tracelens;
