//! Compares the memory after a dispatch with the expected memory.

mod element;
mod regions;
mod result;
mod tolerance;
mod variables;

pub(crate) use element::Element;
pub(super) use regions::{Expected, compare};
pub use result::{Comparison, RegionComparison};
pub use tolerance::Tolerances;
pub(super) use variables::{FILE_NUMBER, FoundVariable};
