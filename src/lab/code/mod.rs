//! Shows the facts that code objects state about their kernels.

mod comparison;
mod listing;
mod sources;
mod text;

pub(crate) use comparison::compared;
pub(crate) use listing::{Listing, Wanted, listed};
pub(crate) use sources::Sources;
pub(crate) use text::text;
