//! Where the sections and records of a file are.

pub(crate) mod brackets;
pub(crate) mod gathered;
pub(crate) mod index;
pub(crate) mod roles;
pub(crate) mod scanner;
pub(crate) mod structural_scan;
pub(crate) mod sweep;
