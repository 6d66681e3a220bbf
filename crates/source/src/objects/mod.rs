//! Code objects: the ELF files that GPUs run, and the files that contain them.

mod bundle;
mod elf;
mod error;
mod guard;
mod interface;
mod machines;
mod metadata;
mod model;
pub mod properties;
mod reader;

pub use error::ObjectError;
pub use guard::{Fact, launch_refusal, lds_refusal, occupancy, static_facts};
pub use interface::{interface_difference, kernarg_difference, launch_difference};
pub use model::{CodeObject, KernelArgument, KernelCode};
pub use reader::{code_objects, read_file};
pub use wavesieve_model::text::demangle::demangled;

#[cfg(test)]
mod tests;
