//! Where kernels stand in source code, and whether a change keeps their signature.

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
