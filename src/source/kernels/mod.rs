//! Where kernels stand in source code, and whether a change keeps their signature.

mod difference;
mod locate;
mod model;
mod names;

pub(crate) use difference::signature_difference;
pub(crate) use locate::kernels;
pub(crate) use model::{Parameter, SourceKernel, Template};
pub(crate) use names::named;
