//! Code objects: the ELF files that GPUs run, and the files that contain them.

mod bundle;
mod demangle;
mod elf;
mod error;
mod guard;
mod interface;
mod machines;
mod metadata;
mod model;
#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;
mod reader;

pub(crate) use demangle::demangled;
pub(crate) use error::ObjectError;
pub(crate) use guard::{Fact, launch_refusal, lds_refusal, occupancy, static_facts};
pub(crate) use interface::{interface_difference, kernarg_difference, launch_difference};
pub(crate) use model::{CodeObject, KernelArgument, KernelCode};
pub(crate) use reader::{code_objects, read_file};

#[cfg(test)]
mod tests;
