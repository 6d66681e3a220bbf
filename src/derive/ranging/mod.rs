//! ROCTx ranges, operators of PyTorch, and what was launched in them.

pub(crate) mod gemm_problems;
pub(crate) mod operators;
pub(crate) mod range_forest;
pub(crate) mod range_self_times;
pub(crate) mod range_tables;
pub(crate) mod range_work;
pub(crate) mod ranges;
