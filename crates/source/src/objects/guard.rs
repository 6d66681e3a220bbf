//! Compares kernels before and after a change, by the compiler's metadata alone.

use serde::Serialize;

use super::model::KernelCode;
use wavesieve_model::analysis::hardware::occupancy::{Occupancy, Resources, limits};

/// Computes a figure of a kernel; `None` if it is unknown.
type Figure = fn(&KernelCode) -> Option<f64>;

/// A figure of a kernel before and after a change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fact {
    /// `vgpr`, `accum_vgpr`, `sgpr`, `vgpr_spills`, `sgpr_spills`, `lds_bytes`, `scratch_bytes`, `waves_per_simd` or
    /// `code_bytes`.
    pub name: &'static str,
    /// `None` if it is unknown.
    pub before: Option<f64>,
    pub after: Option<f64>,
    /// Whether more is better.
    pub more_is_better: bool,
}

impl Fact {
    /// Returns whether it got worse.
    pub fn is_worse(&self) -> bool {
        match (self.before, self.after) {
            (Some(before), Some(after)) if self.more_is_better => after < before,
            (Some(before), Some(after)) => after > before,
            _ => false,
        }
    }
}

/// The occupancy of a kernel, for workgroups of this many work-items that use this much LDS in addition to the kernel's
/// own.
///
/// # Errors
/// The reason, if the target is unknown or the kernel cannot run.
pub fn occupancy(
    target: &str,
    kernel: &KernelCode,
    work_items: u32,
    dynamic_lds_bytes: u64,
) -> Result<Occupancy, &'static str> {
    let limits = limits(target).ok_or("the limits of the target are not known")?;
    let lds_bytes = kernel.lds_bytes.saturating_add(dynamic_lds_bytes);
    // A kernel without registers takes the smallest allocation.
    let resources = Resources {
        vgpr: i64::from(kernel.vgpr.max(1)),
        accum_vgpr: i64::from(kernel.accum_vgpr),
        sgpr: i64::from(kernel.sgpr.max(1)),
        lds_bytes: i64::try_from(lds_bytes).unwrap_or(i64::MAX),
        work_items: i64::from(work_items),
        wave_size: i64::from(kernel.wave_size),
    };
    Occupancy::compute(limits, &resources)
}

/// The figures of two kernels, for workgroups of this many work-items.
pub fn static_facts(
    target: &str,
    old: &KernelCode,
    new: &KernelCode,
    work_items: u32,
    dynamic_lds_bytes: u64,
) -> Vec<Fact> {
    let figures: [(&'static str, Figure); 8] = [
        ("vgpr", |kernel| Some(f64::from(kernel.vgpr))),
        ("accum_vgpr", |kernel| Some(f64::from(kernel.accum_vgpr))),
        ("sgpr", |kernel| Some(f64::from(kernel.sgpr))),
        ("vgpr_spills", |kernel| Some(f64::from(kernel.vgpr_spills))),
        ("sgpr_spills", |kernel| Some(f64::from(kernel.sgpr_spills))),
        ("lds_bytes", |kernel| Some(kernel.lds_bytes as f64)),
        ("scratch_bytes", |kernel| Some(kernel.scratch_bytes as f64)),
        ("code_bytes", |kernel| kernel.code_bytes.map(|bytes| bytes as f64)),
    ];
    let mut facts: Vec<Fact> = figures
        .into_iter()
        .map(|(name, figure)| Fact { name, before: figure(old), after: figure(new), more_is_better: false })
        .collect();
    let waves = |kernel: &KernelCode| {
        occupancy(target, kernel, work_items, dynamic_lds_bytes).ok().map(|occupancy| occupancy.waves_per_simd)
    };
    facts.push(Fact { name: "waves_per_simd", before: waves(old), after: waves(new), more_is_better: true });
    facts
}

/// The reason why a kernel cannot be launched with a workgroup of this size, if any.
pub fn launch_refusal(kernel: &KernelCode, workgroup: [u32; 3]) -> Option<String> {
    let shown = |[x, y, z]: [u32; 3]| format!("{x}x{y}x{z}");
    if let Some(required) = kernel.required_work_items
        && required != workgroup
    {
        return Some(format!("it only runs in workgroups of {}, not {}", shown(required), shown(workgroup)));
    }
    let work_items = workgroup.into_iter().fold(1_u64, |all, size| all.saturating_mul(u64::from(size)));
    (work_items > u64::from(kernel.max_work_items))
        .then(|| format!("it is built for workgroups of up to {} work-items, not {work_items}", kernel.max_work_items))
}

/// The reason why workgroups cannot have this much LDS on a target, if any.
pub fn lds_refusal(target: &str, lds_bytes: u64) -> Option<String> {
    let most = u64::try_from(limits(target)?.unit.workgroup_lds_bytes).ok()?;
    (lds_bytes > most).then(|| format!("its workgroups take {lds_bytes} B of LDS, and {target} has {most} B for each"))
}
