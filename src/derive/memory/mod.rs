//! Allocations: lifetimes and live bytes.

pub(crate) mod allocation_lifetimes;
pub(crate) mod allocation_pairs;
pub(crate) mod memory_live;
