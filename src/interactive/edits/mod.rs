//! Changes of source files: read from answers of models, patches and editors, applied exactly, and taken back exactly.

// Until the machine uses it.
#![allow(dead_code, unused_imports)]

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

pub(crate) use edit::{Edit, EditState, FileEdit};
pub(crate) use error::EditError;
