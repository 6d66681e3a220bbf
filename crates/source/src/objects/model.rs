//! Facts that a code object states about its kernels.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::demangled;

/// The code for one target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CodeObject {
    /// Processor with its features, such as `gfx942:sramecc+:xnack-`.
    pub target: String,
    /// Version of the metadata, such as `1.2`.
    pub metadata_version: String,
    /// Bytes of the ELF file.
    pub bytes: u64,
    /// Kernels in the order of the metadata.
    pub kernels: Vec<KernelCode>,
}

/// A kernel, with the names of the metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct KernelCode {
    /// The name in the compiler's spelling, mangled if the source is C++.
    #[serde(rename(deserialize = ".name"))]
    pub name: String,
    /// Symbol of its descriptor: the name and `.kd`.
    #[serde(rename(deserialize = ".symbol"))]
    pub symbol: String,
    /// Arguments in the order of the metadata, which is the order of their offsets.
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
    /// Static LDS of a workgroup; the part that a launch adds is unknown here.
    #[serde(rename(deserialize = ".group_segment_fixed_size"))]
    pub lds_bytes: u64,
    /// Scratch memory of a work-item.
    #[serde(rename(deserialize = ".private_segment_fixed_size"))]
    pub scratch_bytes: u64,
    /// Work-items of a wavefront.
    #[serde(rename(deserialize = ".wavefront_size"))]
    pub wave_size: u32,
    /// Maximum work-items of a workgroup.
    #[serde(rename(deserialize = ".max_flat_workgroup_size"))]
    pub max_work_items: u32,
    /// The required workgroup size, if any.
    #[serde(rename(deserialize = ".reqd_workgroup_size"))]
    pub required_work_items: Option<[u32; 3]>,
    #[serde(rename(deserialize = ".uses_dynamic_stack"), default)]
    pub uses_dynamic_stack: bool,
    /// Bytes of its instructions; `None` if the symbols do not have the size.
    #[serde(skip_deserializing)]
    pub code_bytes: Option<u64>,
}

/// An argument of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct KernelArgument {
    /// The name in the source; compilers omit it without debug information.
    #[serde(rename(deserialize = ".name"))]
    pub name: Option<String>,
    /// Offset from the start of the kernel's arguments, in bytes.
    #[serde(rename(deserialize = ".offset"))]
    pub offset: u64,
    #[serde(rename(deserialize = ".size"))]
    pub bytes: u64,
    /// `global_buffer`, `by_value`, `dynamic_shared_pointer`, `hidden_block_count_x`, …
    #[serde(rename(deserialize = ".value_kind"))]
    pub kind: String,
    /// The address space of a pointer: `global`, `local`, …
    #[serde(rename(deserialize = ".address_space"))]
    pub address_space: Option<String>,
    /// `read_only`, `write_only` or `read_write`, as the source states it.
    #[serde(rename(deserialize = ".access"))]
    pub access: Option<String>,
    /// The actual access as the compiler found it in the code.
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
    /// Returns whether the runtime fills it, not the program.
    pub fn is_hidden(&self) -> bool {
        self.kind.starts_with("hidden_")
    }
}

impl KernelCode {
    /// The name in C++ spelling; the name itself if it is not mangled. Computed on demand, because large files have
    /// thousands.
    pub fn demangled(&self) -> Cow<'_, str> {
        demangled(&self.name).map_or(Cow::Borrowed(&self.name), Cow::Owned)
    }

    /// The arguments that the program passes.
    pub fn own_arguments(&self) -> impl Iterator<Item = &KernelArgument> {
        self.arguments.iter().filter(|argument| !argument.is_hidden())
    }
}
