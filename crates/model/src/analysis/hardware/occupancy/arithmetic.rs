//! Number of wavefronts that fit, from the resources that a kernel uses.
//!
//! A workgroup is resident as a whole. Of `n` workgroups of `w` wavefronts on `s` SIMD units, `n * w <= s * v` must hold for
//! the `v` wavefronts per SIMD unit that each kind of register leaves room for, and for the wavefront slots; LDS and
//! barriers limit `n` itself.

use crate::analysis::hardware::occupancy::limits::{Limits, Registers};

/// Accumulation registers start at multiples of this register number.
const ACCUM_OFFSET: i64 = 4;

/// Resources that a kernel and its launch use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Vector registers of a work-item.
    pub vgpr: i64,
    /// Accumulation registers of a work-item.
    pub accum_vgpr: i64,
    /// Scalar registers of a wavefront; 0 if they are not recorded.
    pub sgpr: i64,
    /// LDS of a workgroup.
    pub lds_bytes: i64,
    /// Work-items of a workgroup.
    pub work_items: i64,
    /// Work-items of a wavefront.
    pub wave_size: i64,
}

spelled! {
    /// The resource that leaves no room for another workgroup.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Limit by word {
        /// All wavefront slots are taken.
        None = "none",
        /// There are fewer free wavefront slots than a workgroup has wavefronts.
        WorkgroupSize = "workgroup size",
        /// Vector registers.
        Vgpr = "vgpr",
        /// Scalar registers.
        Sgpr = "sgpr",
        Lds = "lds",
        Barriers = "barriers",
    }
}

/// The smallest saving of the limiting resource with which more wavefronts fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Next {
    /// Wavefronts per SIMD unit with that saving.
    pub waves_per_simd: f64,
    /// Registers or bytes to save.
    pub less: i64,
}

/// Number of wavefronts that fit. Wavefronts per SIMD unit are means over the units that a workgroup can use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Occupancy {
    /// Wavefronts of a workgroup.
    pub waves_per_workgroup: i64,
    /// Vector registers that are allocated for a work-item in a file.
    pub allocated_vgpr: i64,
    /// Wavefronts per SIMD unit that vector registers leave room for.
    pub vgpr_waves: i64,
    /// The same for scalar registers.
    pub sgpr_waves: i64,
    /// The same for LDS, in whole workgroups.
    pub lds_waves: f64,
    /// The same for wavefront slots and barriers, in whole workgroups.
    pub workgroup_waves: f64,
    /// Wavefronts per SIMD unit that fit.
    pub waves_per_simd: f64,
    /// Share of the wavefront slots in percent.
    pub pct: f64,
    pub limited_by: Limit,
    /// Gain from slightly less of the limiting resource, if that alone helps.
    pub next: Option<Next>,
}

/// Workgroups that each resource leaves room for.
#[derive(Clone, Copy)]
struct WorkgroupLimits {
    slots: i64,
    vgpr: i64,
    sgpr: i64,
    lds: i64,
    barriers: i64,
}

impl WorkgroupLimits {
    fn least(self) -> i64 {
        self.slots.min(self.vgpr).min(self.sgpr).min(self.lds).min(self.barriers)
    }
}

impl Occupancy {
    /// Computes the occupancy.
    ///
    /// # Errors
    /// The reason, if a figure is missing or impossible.
    pub fn compute(limits: &Limits, used: &Resources) -> Result<Self, &'static str> {
        if used.work_items <= 0 {
            return Err("the workgroup size is not recorded");
        }
        if used.vgpr <= 0 || used.accum_vgpr < 0 {
            return Err("registers are not recorded");
        }
        if used.sgpr <= 0 && limits.sgpr.is_some() {
            return Err("scalar registers are not recorded");
        }
        let file = limits.vgpr(used.wave_size).ok_or("no wavefronts of this size")?;
        let waves = used.work_items.saturating_add(used.wave_size - 1) / used.wave_size;
        let (registers, max_waves, simds) = (vgpr_in_a_file(limits, used), limits.max_waves, limits.unit.simds);
        let allocated = aligned_up(registers, file.granule);
        if allocated > file.file {
            return Err("more registers than there are");
        }
        if used.lds_bytes > limits.unit.workgroup_lds_bytes {
            return Err("more LDS than a workgroup can have");
        }
        let sgpr_waves = |sgpr: i64| {
            limits.sgpr.map_or(max_waves, |file| max_waves.min(file.file / aligned_up(sgpr.max(1), file.granule)))
        };
        let vgpr_waves = |registers: i64| max_waves.min(file.file / aligned_up(registers.max(1), file.granule));
        let room = |registers: i64, sgpr: i64, lds_bytes: i64| WorkgroupLimits {
            slots: simds * max_waves / waves,
            vgpr: simds * vgpr_waves(registers) / waves,
            sgpr: simds * sgpr_waves(sgpr) / waves,
            lds: if lds_bytes > 0 {
                limits.unit.lds_bytes / aligned_up(lds_bytes, limits.lds_granule)
            } else {
                i64::MAX
            },
            barriers: if waves > 1 { limits.unit.barriers } else { i64::MAX },
        };
        let own = room(registers, used.sgpr, used.lds_bytes);
        let workgroups = own.least();
        if workgroups < 1 {
            return Err("not even one workgroup fits");
        }
        let per_simd = |workgroups: i64| workgroups.min(own.slots) as f64 * waves as f64 / simds as f64;
        let limited_by = match workgroups {
            all if all * waves == simds * max_waves => Limit::None,
            all if all == own.slots => Limit::WorkgroupSize,
            all if all == own.vgpr => Limit::Vgpr,
            all if all == own.sgpr => Limit::Sgpr,
            all if all == own.lds => Limit::Lds,
            _ => Limit::Barriers,
        };
        // Wavefronts per SIMD unit that one more workgroup needs.
        let wanted = ((workgroups + 1) * waves + simds - 1) / simds;
        let (less, then) = match limited_by {
            Limit::Vgpr => {
                let kept = aligned_down(file.file / wanted, file.granule);
                (registers - kept, (kept > 0).then(|| room(kept, used.sgpr, used.lds_bytes)))
            }
            Limit::Sgpr => {
                let kept = limits.sgpr.map_or(0, |file| aligned_down(file.file / wanted, file.granule));
                (used.sgpr - kept, (kept > 0).then(|| room(registers, kept, used.lds_bytes)))
            }
            Limit::Lds => {
                let kept = aligned_down(limits.unit.lds_bytes / (workgroups + 1), limits.lds_granule);
                (used.lds_bytes - kept, Some(room(registers, used.sgpr, kept)))
            }
            Limit::None | Limit::WorkgroupSize | Limit::Barriers => (0, None),
        };
        let next = then.map(WorkgroupLimits::least).filter(|then| *then > workgroups && less > 0);
        let waves_per_simd = per_simd(workgroups);
        Ok(Self {
            waves_per_workgroup: waves,
            allocated_vgpr: allocated,
            vgpr_waves: vgpr_waves(registers),
            sgpr_waves: sgpr_waves(used.sgpr),
            lds_waves: per_simd(own.lds),
            workgroup_waves: per_simd(own.barriers),
            waves_per_simd,
            pct: 100.0 * waves_per_simd / max_waves as f64,
            limited_by,
            next: next.map(|then| Next { waves_per_simd: per_simd(then), less }),
        })
    }
}

/// Registers that a work-item takes of the file that fills up first.
fn vgpr_in_a_file(limits: &Limits, used: &Resources) -> i64 {
    match limits.registers {
        Registers::Plain => used.vgpr,
        Registers::Separate => used.vgpr.max(used.accum_vgpr),
        Registers::Unified if used.accum_vgpr > 0 => {
            aligned_up(used.vgpr, ACCUM_OFFSET).saturating_add(used.accum_vgpr)
        }
        Registers::Unified => used.vgpr,
    }
}

fn aligned_up(value: i64, granule: i64) -> i64 {
    value.saturating_add(granule - 1) / granule * granule
}

fn aligned_down(value: i64, granule: i64) -> i64 {
    value / granule * granule
}

#[cfg(test)]
mod tests;
