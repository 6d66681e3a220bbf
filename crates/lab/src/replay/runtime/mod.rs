//! The HSA runtime, limited to the needs of a replay. All unsafe code of a replay is in this folder.

mod agents;
mod code;
mod error;
mod library;
mod memory;
mod queue;

pub(super) use agents::Gpu;
pub(super) use code::Code;
pub(super) use error::RuntimeError;
pub(super) use library::Hsa;
pub(super) use memory::{HeldAddresses, Memory, Reserved};
pub(super) use queue::{Launch, Queue};
