//! Figures of GPUs that metrics and roofs need, recorded or listed.

mod catalog;
mod constants;
mod device;
mod memory;
mod resolver;
mod roofs;

pub use crate::analysis::hardware::devices::catalog::{Catalog, target};
pub use crate::analysis::hardware::devices::constants::{Constant, constants};
pub use crate::analysis::hardware::devices::device::{Device, device};
