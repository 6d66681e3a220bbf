//! Allocations: lifetimes and live bytes.

pub mod allocation_lifetimes;
pub(crate) mod allocation_pairs;
pub mod memory_live;
