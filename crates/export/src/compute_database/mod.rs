//! The analysis database of rocprofiler-compute, schema 2.3.0 (its `src/utils/analysis_orm.py`), which other tools open.

mod kernels;
mod metrics;
mod pc_samples;
mod rows;
mod sources;
mod write;

pub use write::{READ, Written, write};
