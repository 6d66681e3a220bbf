//! Answers to questions about a trace in words: from a model that calls the tools of [`crate::mcp`], or, without a model, the
//! rows of the named query that fits best.

mod dialogue;
mod document;
mod evidence;
mod inputs;
mod restored;
mod rows;
mod search;
mod step;
mod tools;
mod words;

pub(crate) use dialogue::{Answered, Dialogue, StepListener};
pub(crate) use document::{add_answer, add_failure};
pub(crate) use inputs::Inputs;
pub(crate) use rows::{Unaided, Unassisted, unassisted};
pub(crate) use search::{Search, Suggested};
pub(crate) use step::Step;
pub(crate) use tools::{Toolkit, ToolkitOptions};
