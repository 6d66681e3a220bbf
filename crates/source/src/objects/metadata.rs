//! The metadata of kernels in MessagePack.

use serde::Deserialize;

use super::elf::Elf;
use super::error::ObjectError;
use super::machines;
use super::model::{CodeObject, KernelCode};
use wavesieve_model::analysis::hardware::occupancy::{Registers, limits};

/// Maximum nesting depth of values; known metadata has depth 5.
const MAX_DEPTH: usize = 32;

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(rename = "amdhsa.version", default)]
    version: Vec<u32>,
    #[serde(rename = "amdhsa.target", borrow)]
    target: Option<&'a str>,
    #[serde(rename = "amdhsa.kernels", default)]
    kernels: Vec<KernelCode>,
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
    let kernels = document.kernels.into_iter().map(|kernel| KernelCode {
        code_bytes: sizes.get(kernel.name.as_bytes()).copied().filter(|bytes| *bytes > 0),
        // If both kinds of registers share a register file, the metadata counts both.
        vgpr: kernel.vgpr.saturating_sub(if is_unified { kernel.accum_vgpr } else { 0 }),
        ..kernel
    });
    Ok(CodeObject {
        metadata_version: document.version.iter().map(u32::to_string).collect::<Vec<_>>().join("."),
        bytes,
        kernels: kernels.collect(),
        target,
    })
}

/// Turns `amdgcn-amd-amdhsa--gfx942:xnack-` into `gfx942:xnack-`.
fn without_system(target: &str) -> &str {
    target.rfind("-gfx").and_then(|dash| target.get(dash + 1..)).unwrap_or(target)
}
