//! ROCTx ranges and what was launched in them.

pub mod range_forest;
pub mod ranges;
