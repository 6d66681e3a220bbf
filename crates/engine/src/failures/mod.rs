//! Why a statement cannot be run, gave up or has no rows, in words for users.

pub(crate) mod emptiness;
pub(crate) mod panics;
pub(crate) mod reasons;
