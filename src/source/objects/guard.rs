//! What the compiler's metadata alone shows about a change.

use serde::Serialize;

use super::model::KernelCode;
use crate::analysis::hardware::occupancy::Occupancy;

/// A figure of a kernel before and after a change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Fact {
    /// `vgpr`, `accum_vgpr`, `sgpr`, `vgpr_spills`, `sgpr_spills`, `lds_bytes`, `scratch_bytes`, `waves_per_simd`, `code_bytes`.
    pub name: &'static str,
    pub before: Option<f64>,
    pub after: Option<f64>,
}

/// How many wavefronts of a kernel fit, for workgroups of so many work-items that have so much LDS beside the kernel's own.
///
/// # Errors
/// With the reason, if the target is not known or the kernel cannot run.
pub(crate) fn occupancy(
    target: &str,
    kernel: &KernelCode,
    work_items: u32,
    dynamic_lds_bytes: u64,
) -> Result<Occupancy, &'static str> {
    let _ = (target, kernel, work_items, dynamic_lds_bytes);
    Err("the target is not known")
}

/// The figures of two kernels side by side, for workgroups of so many work-items.
pub(crate) fn static_facts(
    target: &str,
    old: &KernelCode,
    new: &KernelCode,
    work_items: u32,
    dynamic_lds_bytes: u64,
) -> Vec<Fact> {
    let _ = (target, old, new, work_items, dynamic_lds_bytes);
    Vec::new()
}

/// Why a kernel cannot be launched with a workgroup of this size, if it cannot.
pub(crate) fn launch_refusal(kernel: &KernelCode, workgroup: [u32; 3]) -> Option<String> {
    let _ = (kernel, workgroup);
    None
}
