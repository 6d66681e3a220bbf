//! ROCTx ranges and what was launched in them.

pub mod range_forest;
pub mod range_self_times;
pub mod range_tables;
pub mod range_work;
pub mod ranges;
