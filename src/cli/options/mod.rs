//! Options that several commands share.

pub(crate) mod alignment;
pub(crate) mod csv;
pub(crate) mod database_inputs;
pub(crate) mod document_arguments;
pub(crate) mod document_place;
pub(crate) mod engine;
pub(crate) mod extra_inputs;
pub(crate) mod filters;
pub(crate) mod global;
pub(crate) mod handoff;
pub(crate) mod input;
pub(crate) mod llm;
pub(crate) mod looping;
pub(crate) mod mail;
pub(crate) mod output;
pub(crate) mod plot;
pub(crate) mod query;
pub(crate) mod shards;
pub(crate) mod source_text;
pub(crate) mod tracelens;
