//! Facts that a code object states about its kernels.

use std::borrow::Cow;

use serde::Serialize;

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

/// A kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KernelCode {
    /// As the compiler spells it, mangled if the source is C++.
    pub name: String,
    /// Symbol of its descriptor: the name and `.kd`.
    pub symbol: String,
    /// In the order of the metadata, which is that of their offsets.
    pub arguments: Vec<KernelArgument>,
    pub kernarg_bytes: u64,
    pub kernarg_alignment: u64,
    /// Vector registers of a work-item without accumulation registers.
    pub vgpr: u32,
    /// Accumulation registers of a work-item.
    pub accum_vgpr: u32,
    /// Scalar registers of a wavefront.
    pub sgpr: u32,
    pub vgpr_spills: u32,
    pub sgpr_spills: u32,
    /// LDS of a workgroup that the code names; what a launch adds is not known here.
    pub lds_bytes: u64,
    /// Scratch memory of a work-item.
    pub scratch_bytes: u64,
    /// Work-items of a wavefront.
    pub wave_size: u32,
    /// The most work-items of a workgroup that it may be launched with.
    pub max_work_items: u32,
    /// The only workgroup size that it may be launched with, if there is one.
    pub required_work_items: Option<[u32; 3]>,
    pub uses_dynamic_stack: bool,
    /// Bytes of its instructions; none if the symbols do not tell.
    pub code_bytes: Option<u64>,
}

/// An argument of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KernelArgument {
    /// In the source; compilers leave it out unless debugging information is asked for.
    pub name: Option<String>,
    /// From the start of the kernel's arguments, in bytes.
    pub offset: u64,
    pub bytes: u64,
    /// `global_buffer`, `by_value`, `dynamic_shared_pointer`, `hidden_block_count_x`, …
    pub kind: String,
    /// `global`, `local`, … of a pointer.
    pub address_space: Option<String>,
    /// `read_only`, `write_only` or `read_write`, as the source states it.
    pub access: Option<String>,
    /// The same as the compiler found it in the code.
    pub actual_access: Option<String>,
    pub is_const: bool,
    pub is_restrict: bool,
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
