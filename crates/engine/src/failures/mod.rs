//! Reasons why a statement cannot be run, failed or has no rows, in words for users.

pub(crate) mod emptiness;
pub(crate) mod panics;
pub(crate) mod reasons;
