//! What code objects state about their kernels, as it is shown.

mod comparison;
mod listing;
mod sources;
mod text;

pub(crate) use comparison::compared;
pub(crate) use listing::{Listing, Wanted, listed};
pub(crate) use sources::Sources;
pub(crate) use text::text;
