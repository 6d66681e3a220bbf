//! Answers questions about a trace in words: a model calls the tools of [`crate::mcp`]; without a model, the answer is
//! the rows of the named query that fits best.

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

pub use dialogue::{Answered, Dialogue, StepListener};
pub use document::{add_answer, add_failure};
pub use inputs::Inputs;
pub use rows::{Unaided, Unassisted, unassisted};
pub use search::{Search, Suggested};
pub use step::DialogueStep;
pub use tools::{Toolkit, ToolkitOptions};
