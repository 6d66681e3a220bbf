//! CSV files as rocprofv3 and `rocpd convert` write them.

mod fields;
mod listings;
mod write;

pub(crate) use listings::Flavor;
pub(crate) use write::write;
