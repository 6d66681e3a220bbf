//! Changes of source files: read from answers of models, patches and editors, applied exactly, and taken back exactly.

// Until the machine uses it.
#![allow(dead_code, unused_imports)]

mod edit;
mod error;

pub(crate) use edit::{Edit, EditState, FileEdit};
pub(crate) use error::EditError;
