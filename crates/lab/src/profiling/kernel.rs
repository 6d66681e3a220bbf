//! The dominant kernel: its launches, its resources and its GPU.

use serde::Serialize;

use super::evidence::{Evidence, deeper, timeline};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Kernel {
    pub name: String,
    /// Work-items of the launch shape with the most time.
    pub grid: Option<[i64; 3]>,
    pub block: Option<[i64; 3]>,
    /// Number of launch shapes.
    pub shapes: usize,
}

impl Kernel {
    pub fn new(evidence: &Evidence, name: &str) -> Self {
        let rows = evidence.rows(&timeline::shapes());
        let of_kernel = rows.matching(|rows, row| rows.text(row, "kernel_name") == Some(name));
        let shapes = of_kernel.len();
        let first = rows.sorted_down(of_kernel, "total_ns").first().copied();
        let size = |names: [&str; 3]| {
            let [x, y, z] = names.map(|column| rows.integer(first?, column));
            Some([x?, y?, z?])
        };
        Self {
            name: name.to_owned(),
            grid: size(["grid_x", "grid_y", "grid_z"]),
            block: size(["workgroup_x", "workgroup_y", "workgroup_z"]),
            shapes,
        }
    }

    pub fn threads(&self) -> Option<i64> {
        self.block.map(|block| block.iter().product())
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct GpuFacts {
    pub architecture: String,
    pub product: Option<String>,
    pub wave_size: Option<i64>,
    pub compute_units: Option<i64>,
    /// Single-precision FLOP/s of the vector units.
    pub theoretical_peak_flops: Option<f64>,
    pub peak_bandwidth_gbps: Option<f64>,
}

impl GpuFacts {
    pub fn new(evidence: &Evidence) -> Option<Self> {
        let agent = evidence.gpu.as_ref()?;
        let rows = evidence.rows(&timeline::constants());
        let constant = |name: &str| {
            let row = rows.places().find(|row| rows.text(*row, "constant") == Some(name))?;
            rows.number(row, "value")
        };
        Some(Self {
            architecture: agent.name.split(':').next().unwrap_or_default().to_owned(),
            product: agent.product_name.clone(),
            wave_size: agent.wave_size,
            compute_units: agent.cu_count,
            theoretical_peak_flops: constant("peak_vector_fp32_gflops").map(|gflops| gflops * 1e9),
            peak_bandwidth_gbps: constant("hbm_peak_gbps"),
        })
    }
}

/// Resources of a work-item, a wavefront and a workgroup.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Resources {
    pub vgpr_per_thread: Option<i64>,
    pub accum_vgpr_per_thread: Option<i64>,
    /// Registers that are actually allocated from the register file: in whole granules, including accumulation
    /// registers if they share it.
    pub allocated_vgpr_per_thread: Option<i64>,
    pub sgpr_per_wave: Option<i64>,
    pub lds_bytes: Option<i64>,
    pub scratch_bytes: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Occupancy {
    /// Share of the wavefront slots that fit, from 0 to 1.
    pub theoretical: f64,
    pub threads_per_block: Option<i64>,
    pub wave_size: Option<i64>,
    pub waves_per_simd: Option<f64>,
    pub max_waves_per_simd: Option<i64>,
    pub limited_by: Option<String>,
    /// Registers or bytes to save until more wavefronts fit, and how many fit then.
    pub next_step: Option<i64>,
    pub next_waves_per_simd: Option<f64>,
    /// Share of the slots in use according to counters, from 0 to 1.
    pub achieved: Option<f64>,
}

/// The resources of the kernel, and its occupancy. A missing part has a reason instead.
pub fn resources(evidence: &Evidence, kernel: &Kernel) -> (Result<Resources, String>, Result<Occupancy, String>) {
    let question = timeline::resources();
    let rows = evidence.rows(&question);
    let Some(row) = evidence.row_of(&question, &kernel.name) else {
        let reason = evidence.why_not(&question);
        return (Err(reason.clone()), Err(reason));
    };
    let integer = |column: &str| rows.integer(row, column);
    let resources = Resources {
        vgpr_per_thread: integer("vgpr"),
        accum_vgpr_per_thread: integer("accum_vgpr"),
        allocated_vgpr_per_thread: integer("allocated_vgpr"),
        sgpr_per_wave: integer("sgpr"),
        lds_bytes: integer("lds_bytes"),
        scratch_bytes: integer("scratch_bytes"),
    };
    let has_any = resources.vgpr_per_thread.is_some() || resources.lds_bytes.is_some();
    let question = deeper::occupancy();
    let counted = evidence.row_of(&question, &kernel.name);
    let achieved = counted.and_then(|row| evidence.rows(&question).number(row, "achieved_pct"));
    let occupancy = match rows.number(row, "occupancy_pct") {
        Some(pct) => Ok(Occupancy {
            theoretical: pct / 100.0,
            threads_per_block: kernel.threads(),
            wave_size: evidence.gpu.as_ref().and_then(|gpu| gpu.wave_size),
            waves_per_simd: rows.number(row, "waves_per_simd"),
            max_waves_per_simd: integer("max_waves_per_simd"),
            limited_by: rows.text(row, "limited_by").filter(|word| *word != "none").map(ToOwned::to_owned),
            next_step: integer("next_step"),
            next_waves_per_simd: rows.number(row, "next_waves_per_simd"),
            achieved: achieved.map(|pct| pct / 100.0),
        }),
        None => Err(rows.text(row, "unknown").unwrap_or("registers or LDS are not recorded").to_owned()),
    };
    (if has_any { Ok(resources) } else { Err("registers and LDS are not recorded".to_owned()) }, occupancy)
}
