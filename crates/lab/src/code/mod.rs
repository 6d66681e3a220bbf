//! Shows the facts that code objects state about their kernels.

mod comparison;
mod listing;
mod sources;
mod text;

pub use comparison::compared;
pub use listing::{Listing, Wanted, listed};
pub use sources::Sources;
pub use text::text;
