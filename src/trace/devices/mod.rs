//! What is known of GPUs: figures that metrics and roofs need, recorded or listed.

mod catalog;
mod constants;
mod device;
mod memory;
mod resolver;
mod roofs;

pub use catalog::{Catalog, target};
pub use constants::{Constant, Constants, constants, constants_of_gpu};
pub use device::{Device, device};
