//! Documents of other programs.

pub(crate) mod rocinsight;
pub(crate) mod tracelens;
