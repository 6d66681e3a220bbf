//! The metadata of kernels, which is MessagePack.

use serde::Deserialize;

use super::elf::Elf;
use super::error::ObjectError;
use super::machines;
use super::model::{CodeObject, KernelArgument, KernelCode};
use wavesieve_model::analysis::hardware::occupancy::{Registers, limits};

/// Values are nested so deep at most; of known metadata the depth is 5.
const MAX_DEPTH: usize = 32;

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(rename = "amdhsa.version", default)]
    version: Vec<u32>,
    #[serde(rename = "amdhsa.target", borrow)]
    target: Option<&'a str>,
    #[serde(rename = "amdhsa.kernels", borrow, default)]
    kernels: Vec<Kernel<'a>>,
}

#[derive(Deserialize)]
struct Kernel<'a> {
    #[serde(rename = ".name")]
    name: &'a str,
    #[serde(rename = ".symbol")]
    symbol: &'a str,
    #[serde(rename = ".args", borrow, default)]
    arguments: Vec<Argument<'a>>,
    #[serde(rename = ".kernarg_segment_size")]
    kernarg_bytes: u64,
    #[serde(rename = ".kernarg_segment_align")]
    kernarg_alignment: u64,
    #[serde(rename = ".vgpr_count")]
    vgpr: u32,
    #[serde(rename = ".agpr_count", default)]
    accum_vgpr: u32,
    #[serde(rename = ".sgpr_count")]
    sgpr: u32,
    #[serde(rename = ".vgpr_spill_count", default)]
    vgpr_spills: u32,
    #[serde(rename = ".sgpr_spill_count", default)]
    sgpr_spills: u32,
    #[serde(rename = ".group_segment_fixed_size")]
    lds_bytes: u64,
    #[serde(rename = ".private_segment_fixed_size")]
    scratch_bytes: u64,
    #[serde(rename = ".wavefront_size")]
    wave_size: u32,
    #[serde(rename = ".max_flat_workgroup_size")]
    max_work_items: u32,
    #[serde(rename = ".reqd_workgroup_size")]
    required_work_items: Option<[u32; 3]>,
    #[serde(rename = ".uses_dynamic_stack", default)]
    uses_dynamic_stack: bool,
}

#[derive(Deserialize)]
struct Argument<'a> {
    #[serde(rename = ".name")]
    name: Option<&'a str>,
    #[serde(rename = ".offset")]
    offset: u64,
    #[serde(rename = ".size")]
    bytes: u64,
    #[serde(rename = ".value_kind")]
    kind: &'a str,
    #[serde(rename = ".address_space")]
    address_space: Option<&'a str>,
    #[serde(rename = ".access")]
    access: Option<&'a str>,
    #[serde(rename = ".actual_access")]
    actual_access: Option<&'a str>,
    #[serde(rename = ".is_const", default)]
    is_const: bool,
    #[serde(rename = ".is_restrict", default)]
    is_restrict: bool,
    #[serde(rename = ".is_volatile", default)]
    is_volatile: bool,
}

/// The code object in an ELF file for GPUs.
pub(super) fn code_object(elf: &Elf<'_>, bytes: u64) -> Result<CodeObject, ObjectError> {
    elf.check_whole()?;
    let mut reader = rmp_serde::Deserializer::from_read_ref(elf.metadata()?);
    reader.set_max_depth(MAX_DEPTH);
    let document = Document::deserialize(&mut reader).map_err(|error| ObjectError::Metadata(error.to_string()))?;
    let target = match document.target {
        Some(target) => without_system(target).to_owned(),
        None => machines::target(elf.flags()),
    };
    let is_unified = limits(&target).is_some_and(|limits| limits.registers == Registers::Unified);
    let sizes = elf.function_sizes();
    let kernels = document.kernels.into_iter().map(|kernel| {
        let code_bytes = sizes.get(kernel.name.as_bytes()).copied().filter(|bytes| *bytes > 0);
        kernel.read(is_unified, code_bytes)
    });
    Ok(CodeObject {
        metadata_version: document.version.iter().map(u32::to_string).collect::<Vec<_>>().join("."),
        bytes,
        kernels: kernels.collect(),
        target,
    })
}

/// `gfx942:xnack-` of `amdgcn-amd-amdhsa--gfx942:xnack-`.
fn without_system(target: &str) -> &str {
    target.rfind("-gfx").and_then(|dash| target.get(dash + 1..)).unwrap_or(target)
}

impl Kernel<'_> {
    fn read(self, is_unified: bool, code_bytes: Option<u64>) -> KernelCode {
        // Where both kinds of registers share a file, the count of the metadata is that of both.
        let vgpr = if is_unified { self.vgpr.saturating_sub(self.accum_vgpr) } else { self.vgpr };
        KernelCode {
            name: self.name.to_owned(),
            symbol: self.symbol.to_owned(),
            arguments: self.arguments.into_iter().map(Argument::read).collect(),
            kernarg_bytes: self.kernarg_bytes,
            kernarg_alignment: self.kernarg_alignment,
            vgpr,
            accum_vgpr: self.accum_vgpr,
            sgpr: self.sgpr,
            vgpr_spills: self.vgpr_spills,
            sgpr_spills: self.sgpr_spills,
            lds_bytes: self.lds_bytes,
            scratch_bytes: self.scratch_bytes,
            wave_size: self.wave_size,
            max_work_items: self.max_work_items,
            required_work_items: self.required_work_items,
            uses_dynamic_stack: self.uses_dynamic_stack,
            code_bytes,
        }
    }
}

impl Argument<'_> {
    fn read(self) -> KernelArgument {
        KernelArgument {
            name: self.name.map(str::to_owned),
            offset: self.offset,
            bytes: self.bytes,
            kind: self.kind.to_owned(),
            address_space: self.address_space.map(str::to_owned),
            access: self.access.map(str::to_owned),
            actual_access: self.actual_access.map(str::to_owned),
            is_const: self.is_const,
            is_restrict: self.is_restrict,
            is_volatile: self.is_volatile,
        }
    }
}
