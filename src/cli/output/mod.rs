//! Output of results, messages and progress.

pub(crate) mod answer;
pub(crate) mod delivery;
pub(crate) mod document_output;
pub(crate) mod mail;
pub(crate) mod messages;
pub(crate) mod model_progress;
pub(crate) mod pdf;
pub(crate) mod progress;
pub(crate) mod several;
