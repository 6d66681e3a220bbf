//! Finds the sections and records of a file.

pub mod brackets;
pub mod gathered;
pub mod index;
pub mod roles;
pub(crate) mod scanner;
pub mod sweep;
