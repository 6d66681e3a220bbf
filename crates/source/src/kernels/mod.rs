//! Finds kernels in source code, and checks whether a change keeps their signatures.

mod declaration;
mod difference;
mod locate;
mod macros;
mod model;
mod names;
mod pieces;
pub mod properties;
mod scopes;
mod start;
mod types;

pub use difference::signature_difference;
pub use locate::{kernels, kernels_with};
pub use model::SourceKernel;
pub use names::named;

#[cfg(test)]
mod tests;
