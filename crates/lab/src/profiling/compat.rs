//! The numbers of rocm-perf-lab, computed in the same way. Several are wrong on real GPUs; they are only for
//! comparisons with it.

use std::collections::BTreeMap;

use serde::Serialize;

/// Prefixes of kernel names that it ignores.
const PASSED_OVER: [&str; 3] = ["__amd_rocclr_", "hip", "hsa_"];
/// Registers of a SIMD unit as it assumes them, right for RDNA2.
const REGISTERS: i64 = 65_536;
const REGISTERS_OF_RDNA2: i64 = 16_384;
/// LDS of a compute unit as it assumes it.
const LDS_BYTES: i64 = 65_536;
/// Bandwidth as it assumes it for every memory, in GB/s.
const BANDWIDTH_GBPS: f64 = 50.0;
/// Share of the stall that it counts as headroom.
const OF_STALL: f64 = 0.8;

pub(crate) fn is_passed_over(name: &str) -> bool {
    PASSED_OVER.iter().any(|start| name.starts_with(start))
}

/// A GPU in its view.
#[derive(Debug, Clone, Copy)]
pub struct Gpu<'a> {
    pub architecture: &'a str,
    pub compute_units: i64,
    pub simds: i64,
    pub wave_size: i64,
    pub waves_per_cu: i64,
    pub clock_mhz: i64,
}

impl Gpu<'_> {
    pub(crate) fn peak_flops(&self) -> f64 {
        (self.compute_units * self.simds * self.wave_size * self.clock_mhz) as f64 * 1e6
    }

    /// Share of the wavefront slots that a kernel's blocks fill.
    pub fn occupancy(&self, vgpr: i64, lds_bytes: i64, threads: i64) -> f64 {
        let registers = if self.architecture.starts_with("gfx103") { REGISTERS_OF_RDNA2 } else { REGISTERS };
        let Some(by_registers) = registers.checked_div(vgpr * self.wave_size) else { return 0.0 };
        let Some(slots) = self.waves_per_cu.checked_div(self.simds).filter(|slots| *slots > 0) else { return 0.0 };
        let waves_per_block = (threads + self.wave_size - 1) / self.wave_size.max(1);
        let by_lds = LDS_BYTES.checked_div(lds_bytes).map_or(slots, |blocks| blocks * waves_per_block / self.simds);
        (by_registers.min(slots).min(by_lds) as f64 / slots as f64).clamp(0.0, 1.0)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Roofline {
    pub flops: f64,
    pub bytes: f64,
    pub arithmetic_intensity: f64,
    pub achieved_gflops: f64,
    pub achieved_bandwidth_gbps: f64,
    pub bound: &'static str,
}

/// Its roofline, from sums of counters over all kernels, and the time of one kernel. Counters that were not collected
/// are 0.
pub fn roofline(counters: &BTreeMap<String, f64>, time_ms: f64, gpu: &Gpu<'_>) -> Roofline {
    let of = |name: &str| counters.get(name).copied().unwrap_or(0.0);
    let (flops, bytes) = if gpu.architecture == "gfx942" {
        let transferred = |all: &str, small: &str| 32.0 * of(small) + 64.0 * (of(all) - of(small)).max(0.0);
        let bytes =
            transferred("TCC_EA0_RDREQ", "TCC_EA0_RDREQ_32B") + transferred("TCC_EA0_WRREQ", "TCC_EA0_WRREQ_32B");
        (of("SQ_INSTS_VALU") * 8.0 + of("SQ_INSTS_VALU_MFMA_MOPS_F32") * 512.0, bytes)
    } else {
        (of("SQ_INSTS_VALU"), 0.0)
    };
    let seconds = time_ms / 1e3;
    let per_second = |amount: f64| if seconds > 0.0 { amount / seconds / 1e9 } else { 0.0 };
    let intensity = if bytes > 0.0 { flops / bytes } else { 0.0 };
    let is_memory = bytes > 0.0 && BANDWIDTH_GBPS * intensity < gpu.peak_flops() / 1e9;
    Roofline {
        flops,
        bytes,
        arithmetic_intensity: intensity,
        achieved_gflops: per_second(flops),
        achieved_bandwidth_gbps: per_second(bytes),
        bound: if is_memory { "memory" } else { "compute" },
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Instruction<'a> {
    pub text: &'a str,
    pub hits: f64,
    pub latency: f64,
    pub stall: f64,
    pub idle: f64,
}

/// Its summary of a thread trace.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Att {
    pub instruction_mix: BTreeMap<&'static str, f64>,
    pub stall_fraction: f64,
    pub idle_fraction: f64,
    pub avg_memory_latency: f64,
    pub ipc: f64,
}

fn class(text: &str) -> &'static str {
    match text {
        text if text.starts_with("v_") => "VALU",
        text if text.starts_with("s_") => "SALU",
        text if text.starts_with("global_") || text.starts_with("flat_") => "VMEM",
        text if text.starts_with("ds_") => "LDS",
        text if text.contains("cbranch") => "Branch",
        text if text.contains("mfma") => "MFMA",
        _ => "Other",
    }
}

/// Its summary of instructions. Its total counts stall twice, because stall is part of the latency.
pub fn att(instructions: &[Instruction<'_>]) -> Att {
    let sum = |value: &dyn Fn(&Instruction<'_>) -> f64| instructions.iter().map(value).sum::<f64>();
    let hits = sum(&|one| one.hits);
    let total = sum(&|one| one.latency + one.stall + one.idle);
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let mut mix: BTreeMap<&'static str, f64> = BTreeMap::new();
    for one in instructions {
        *mix.entry(class(one.text)).or_default() += share(one.hits, hits);
    }
    let memory: Vec<f64> = instructions.iter().filter(|one| class(one.text) == "VMEM").map(|one| one.latency).collect();
    Att {
        instruction_mix: mix,
        stall_fraction: share(sum(&|one| one.stall), total),
        idle_fraction: share(sum(&|one| one.idle), total),
        avg_memory_latency: share(memory.iter().sum(), memory.len() as f64),
        ipc: share(hits, total),
    }
}

impl Att {
    /// The share of the time that rocm-perf-lab reports as potential saving.
    pub fn headroom_fraction(&self) -> f64 {
        OF_STALL * self.stall_fraction
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bottleneck {
    pub primary: &'static str,
    pub confidence: f64,
    pub reasoning: Vec<String>,
}

/// Its verdict: the first rule that holds.
pub fn bottleneck(att: &Att, bound: Option<&str>) -> Bottleneck {
    let of = |class: &str| att.instruction_mix.get(class).copied().unwrap_or(0.0);
    let stall = att.stall_fraction;
    let (primary, confidence, reason) = if stall > 0.30 && att.avg_memory_latency > 200.0 && of("VMEM") < 0.20 {
        let reason =
            format!("stall {stall:.2}, memory latency {:.0} cycles, VMEM {:.2}", att.avg_memory_latency, of("VMEM"));
        ("Memory Latency Bound", 0.80, reason)
    } else if bound == Some("memory") && of("VMEM") > 0.20 {
        ("Memory Bandwidth Bound", 0.75, format!("roofline memory, VMEM {:.2}", of("VMEM")))
    } else if bound == Some("compute") && of("VALU") > 0.60 && stall < 0.20 {
        ("Compute Bound", 0.75, format!("roofline compute, VALU {:.2}, stall {stall:.2}", of("VALU")))
    } else if of("SALU") > 0.25 {
        ("Scalar Bottleneck", 0.70, format!("SALU {:.2}", of("SALU")))
    } else if of("Branch") > 0.15 {
        ("Control Flow Divergence", 0.65, format!("branches {:.2}", of("Branch")))
    } else {
        ("Mixed / Unclear", 0.50, "no rule holds".to_owned())
    };
    Bottleneck { primary, confidence, reasoning: vec![reason] }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MI300X: Gpu<'_> =
        Gpu { architecture: "gfx942", compute_units: 304, simds: 4, wave_size: 64, waves_per_cu: 32, clock_mhz: 2100 };

    #[test]
    fn its_occupancy() {
        for (vgpr, lds, threads, expected) in [
            (32, 0, 256, 1.0),
            (128, 0, 256, 1.0),
            (129, 0, 256, 0.875),
            (256, 0, 256, 0.5),
            (32, 32_768, 256, 0.25),
            (32, 65_536, 64, 0.0),
            (0, 0, 256, 0.0),
        ] {
            assert_eq!(MI300X.occupancy(vgpr, lds, threads), expected, "{vgpr} {lds} {threads}");
        }
        assert!((MI300X.peak_flops() / 1e12 - 163.4304).abs() < 1e-9);
    }

    #[test]
    fn its_verdicts() {
        let of = |mix: &[(&'static str, f64)], stall, latency, bound| {
            let mix = mix.iter().copied().collect();
            let att =
                Att { instruction_mix: mix, stall_fraction: stall, avg_memory_latency: latency, ..Att::default() };
            let found = bottleneck(&att, bound);
            (found.primary, found.confidence)
        };
        assert_eq!(of(&[("VMEM", 0.1)], 0.35, 250.0, None), ("Memory Latency Bound", 0.8));
        assert_eq!(of(&[("VMEM", 0.3)], 0.0, 0.0, Some("memory")), ("Memory Bandwidth Bound", 0.75));
        assert_eq!(of(&[("VALU", 0.7)], 0.1, 0.0, Some("compute")), ("Compute Bound", 0.75));
        assert_eq!(of(&[("SALU", 0.3)], 0.0, 0.0, None), ("Scalar Bottleneck", 0.7));
        assert_eq!(of(&[("Branch", 0.2)], 0.0, 0.0, None), ("Control Flow Divergence", 0.65));
        assert_eq!(of(&[], 0.0, 0.0, None), ("Mixed / Unclear", 0.5));
        assert_eq!(of(&[("VMEM", 0.25)], 0.35, 250.0, Some("memory")), ("Memory Bandwidth Bound", 0.75));
    }

    #[test]
    fn its_summary_of_a_thread_trace() {
        let rows = [
            ("v_add_f32", 10.0, 40.0, 5.0, 1.0),
            ("global_load_dword", 4.0, 800.0, 300.0, 0.0),
            ("s_waitcnt", 4.0, 16.0, 400.0, 20.0),
            ("v_mfma_f32_32x32x8f16", 2.0, 32.0, 0.0, 0.0),
            ("s_cbranch_scc0", 4.0, 16.0, 0.0, 0.0),
            ("ds_read_b32", 4.0, 256.0, 10.0, 0.0),
            ("buffer_load_dword", 1.0, 10.0, 0.0, 0.0),
        ];
        let rows = rows.map(|(text, hits, latency, stall, idle)| Instruction { text, hits, latency, stall, idle });
        let att = att(&rows);
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 5e-5, "{found} {expected}");
        for (class, share) in [("VALU", 0.4138), ("VMEM", 0.1379), ("SALU", 0.2759), ("LDS", 0.1379), ("Other", 0.0345)]
        {
            near(att.instruction_mix[class], share);
        }
        near(att.stall_fraction, 0.3751);
        near(att.idle_fraction, 0.0110);
        assert!((att.ipc - 29.0 / 1906.0).abs() < 1e-12);
        assert_eq!(att.avg_memory_latency, 800.0);
        near(att.headroom_fraction(), 0.8 * 715.0 / 1906.0);
    }

    #[test]
    fn its_roofline() {
        let counters: BTreeMap<String, f64> = [
            ("SQ_INSTS_VALU", 1e6),
            ("SQ_INSTS_VALU_MFMA_MOPS_F32", 1e3),
            ("TCC_EA0_RDREQ", 1000.0),
            ("TCC_EA0_RDREQ_32B", 200.0),
            ("TCC_EA0_WRREQ", 100.0),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let found = roofline(&counters, 2.0, &MI300X);
        assert_eq!(found.flops, 8e6 + 512e3);
        assert_eq!(found.bytes, 32.0 * 200.0 + 64.0 * 800.0 + 64.0 * 100.0);
        assert_eq!(found.bound, "memory");
        assert!((found.achieved_gflops - 8.512e6 / 2e-3 / 1e9).abs() < 1e-9);
        let other = Gpu { architecture: "gfx90a", ..MI300X };
        assert_eq!(roofline(&counters, 2.0, &other).bytes, 0.0);
    }
}
