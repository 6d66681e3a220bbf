//! Documents of other programs.

pub mod rocinsight;
