//! Where results, messages and progress go.

pub mod answer;
pub mod delivery;
pub mod document_output;
pub mod messages;
pub mod progress;
