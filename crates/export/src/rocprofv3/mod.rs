//! CSV files as rocprofv3 and `rocpd convert` write them.

mod fields;
mod listings;
mod write;

pub use listings::Flavor;
pub use write::write;
