//! Memory after a dispatch beside what it should be.

mod element;
mod regions;
mod result;
mod tolerance;

pub(super) use regions::{Expected, compare};
pub(crate) use result::{Comparison, RegionComparison};
pub(crate) use tolerance::Tolerances;
