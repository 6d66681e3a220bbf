//! Answers to questions about a trace in words: from a model that calls the tools of [`crate::mcp`], or, without a model, the
//! named queries that fit best.

mod dialogue;
mod document;
mod evidence;
mod inputs;
mod restored;
mod search;
mod step;
mod tools;

pub(crate) use dialogue::{Answered, Dialogue, StepListener};
pub(crate) use document::{add_answer, add_failure, queries_document};
pub(crate) use inputs::Inputs;
pub(crate) use search::{Search, Suggested};
pub(crate) use step::Step;
pub(crate) use tools::{Toolkit, ToolkitOptions};
