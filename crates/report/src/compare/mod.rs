//! Changes between two runs or two sets of runs, and how sure they are.

mod basis;
mod comparability;
mod comparison;
mod counters;
mod digest;
mod document;
mod effects;
mod evidence;
mod families;
mod gates;
mod history;
mod judgment;
mod lengths;
mod matching;
mod paths;
mod places;
mod readable;
mod render;
mod side;
mod summary;
mod tree;

pub use basis::BasisChoice;
pub use comparability::Allowed;
pub use comparison::{CompareOptions, compare};
pub use digest::{
    Digest, PathChoice, TakeOptions, is_digest, read as read_digest, take as take_digest, write as write_digest,
};
pub(crate) use digest::{GpuDigest, Times};
pub use document::Comparison;
pub use gates::{GateRule, apply as apply_gates};
pub use history::history;
pub use lengths::compare_by_steps;
pub use matching::MatchLevel;
pub use render::{
    Frame, baseline_section, document, frames, history_document, sheets, write_history, write_markdown, write_text,
};
pub use side::Side;
