//! Where kernels stand in source code, and whether a change keeps their signature.

mod declaration;
mod difference;
mod locate;
mod macros;
mod model;
mod names;
mod pieces;
#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;
mod scopes;
mod start;
mod types;

pub(crate) use difference::signature_difference;
pub(crate) use locate::{kernels, kernels_with};
pub(crate) use model::SourceKernel;
pub(crate) use names::named;

#[cfg(test)]
mod tests;
