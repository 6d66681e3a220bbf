//! Changes of source files: read from answers of models, patches and editors, then applied and reverted exactly.

mod answer;
mod blocks;
mod change;
mod diff;
mod draft;
mod edit;
mod editor;
mod error;
mod hunks;
mod line_diff;
mod names;
mod patch;
mod patch_parser;
mod root;
mod staged;
#[cfg(test)]
mod tests;

pub use edit::{Edit, EditState, FileEdit};
pub use error::EditError;
