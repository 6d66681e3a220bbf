//! The binary interface of the HSA runtime, limited to what capturing and replaying need: layouts and numbers only, so that
//! nothing of ROCm is needed to build.

// Types of a foreign interface, named as its specification names them.
#![allow(missing_docs)]

mod constants;
mod functions;
mod packets;
mod tables;
mod types;

#[cfg(test)]
mod tests;

pub use constants::*;
pub use functions::*;
pub use packets::*;
pub use tables::*;
pub use types::*;
