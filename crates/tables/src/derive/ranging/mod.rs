//! ROCTx ranges, operators of PyTorch, and the work launched in them.

pub mod gemm_problems;
pub mod operators;
pub(crate) mod range_forest;
pub mod range_self_times;
mod range_sums;
pub(crate) mod range_tables;
pub mod range_work;
pub mod ranges;
