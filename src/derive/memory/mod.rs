//! Allocations: lifetimes and live bytes.

pub mod allocation_lifetimes;
pub mod allocation_pairs;
pub mod memory_live;
