//! Statistics that several parts use.

pub(crate) mod medians;
