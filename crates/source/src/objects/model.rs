//! Facts that a code object states about its kernels.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::demangle::demangled;

/// The code for one target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CodeObject {
    /// Processor and its features, such as `gfx942:sramecc+:xnack-`.
    pub target: String,
    /// Version of the metadata, such as `1.2`.
    pub metadata_version: String,
    /// Bytes of the ELF file.
    pub bytes: u64,
    /// In the order of the metadata.
    pub kernels: Vec<KernelCode>,
}

/// A kernel, as the metadata names its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct KernelCode {
    /// As the compiler spells it, mangled if the source is C++.
    #[serde(rename(deserialize = ".name"))]
    pub name: String,
    /// Symbol of its descriptor: the name and `.kd`.
    #[serde(rename(deserialize = ".symbol"))]
    pub symbol: String,
    /// In the order of the metadata, which is that of their offsets.
    #[serde(rename(deserialize = ".args"), default)]
    pub arguments: Vec<KernelArgument>,
    #[serde(rename(deserialize = ".kernarg_segment_size"))]
    pub kernarg_bytes: u64,
    #[serde(rename(deserialize = ".kernarg_segment_align"))]
    pub kernarg_alignment: u64,
    /// Vector registers of a work-item without accumulation registers.
    #[serde(rename(deserialize = ".vgpr_count"))]
    pub vgpr: u32,
    /// Accumulation registers of a work-item.
    #[serde(rename(deserialize = ".agpr_count"), default)]
    pub accum_vgpr: u32,
    /// Scalar registers of a wavefront.
    #[serde(rename(deserialize = ".sgpr_count"))]
    pub sgpr: u32,
    #[serde(rename(deserialize = ".vgpr_spill_count"), default)]
    pub vgpr_spills: u32,
    #[serde(rename(deserialize = ".sgpr_spill_count"), default)]
    pub sgpr_spills: u32,
    /// LDS of a workgroup that the code names; what a launch adds is not known here.
    #[serde(rename(deserialize = ".group_segment_fixed_size"))]
    pub lds_bytes: u64,
    /// Scratch memory of a work-item.
    #[serde(rename(deserialize = ".private_segment_fixed_size"))]
    pub scratch_bytes: u64,
    /// Work-items of a wavefront.
    #[serde(rename(deserialize = ".wavefront_size"))]
    pub wave_size: u32,
    /// The most work-items of a workgroup that it may be launched with.
    #[serde(rename(deserialize = ".max_flat_workgroup_size"))]
    pub max_work_items: u32,
    /// The only workgroup size that it may be launched with, if there is one.
    #[serde(rename(deserialize = ".reqd_workgroup_size"))]
    pub required_work_items: Option<[u32; 3]>,
    #[serde(rename(deserialize = ".uses_dynamic_stack"), default)]
    pub uses_dynamic_stack: bool,
    /// Bytes of its instructions; none if the symbols do not tell.
    #[serde(skip_deserializing)]
    pub code_bytes: Option<u64>,
}

/// An argument of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct KernelArgument {
    /// In the source; compilers leave it out unless debugging information is asked for.
    #[serde(rename(deserialize = ".name"))]
    pub name: Option<String>,
    /// From the start of the kernel's arguments, in bytes.
    #[serde(rename(deserialize = ".offset"))]
    pub offset: u64,
    #[serde(rename(deserialize = ".size"))]
    pub bytes: u64,
    /// `global_buffer`, `by_value`, `dynamic_shared_pointer`, `hidden_block_count_x`, …
    #[serde(rename(deserialize = ".value_kind"))]
    pub kind: String,
    /// `global`, `local`, … of a pointer.
    #[serde(rename(deserialize = ".address_space"))]
    pub address_space: Option<String>,
    /// `read_only`, `write_only` or `read_write`, as the source states it.
    #[serde(rename(deserialize = ".access"))]
    pub access: Option<String>,
    /// The same as the compiler found it in the code.
    #[serde(rename(deserialize = ".actual_access"))]
    pub actual_access: Option<String>,
    #[serde(rename(deserialize = ".is_const"), default)]
    pub is_const: bool,
    #[serde(rename(deserialize = ".is_restrict"), default)]
    pub is_restrict: bool,
    #[serde(rename(deserialize = ".is_volatile"), default)]
    pub is_volatile: bool,
}

impl KernelArgument {
    /// Whether the runtime fills it, not the program.
    pub fn is_hidden(&self) -> bool {
        self.kind.starts_with("hidden_")
    }
}

impl KernelCode {
    /// As C++ spells it; the name itself if it is not mangled. Made on demand, because large files have thousands.
    pub fn demangled(&self) -> Cow<'_, str> {
        demangled(&self.name).map_or(Cow::Borrowed(&self.name), Cow::Owned)
    }

    /// The arguments that the program gives.
    pub fn own_arguments(&self) -> impl Iterator<Item = &KernelArgument> {
        self.arguments.iter().filter(|argument| !argument.is_hidden())
    }
}
