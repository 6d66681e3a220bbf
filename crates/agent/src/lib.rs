//! Answers in words: language models, the tools that they call, and questions without a model.
//!
//! [`llm`] talks to models and hides private data, [`mcp`] offers the tools, [`ask`] runs a conversation.
//!
//! The only `unsafe` code is in `mcp/memory_limit.rs`, which limits the memory of a process.

/// The text of a file at the root of the repository.
macro_rules! data {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $path))
    };
}

pub mod ask;
pub mod child;
pub mod filters;
pub mod llm;
pub mod mcp;
