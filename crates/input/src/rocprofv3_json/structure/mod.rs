//! Where the sections and records of a file are.

pub mod brackets;
pub mod gathered;
pub mod index;
pub mod roles;
pub(crate) mod scanner;
pub mod sweep;
