//! The constants of a GPU that formulas of metrics name, and its roofs.

use std::collections::BTreeMap;

use crate::analysis::hardware::devices::memory;
use crate::analysis::hardware::devices::resolver::Resolver;
use crate::analysis::hardware::devices::roofs;
use crate::schema::facts::AgentFacts;

/// A figure of a GPU, and its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Its value; `None` if it is unknown.
    pub value: Option<f64>,
    /// Unit of the value.
    pub unit: &'static str,
    /// `agent record`, `pci id 0x74a1`, `product MI300X`, `architecture gfx942`, `computed` or `unknown`.
    pub source: String,
    /// The column of `agents`, the reference of a listed figure, the formula, or why it is unknown.
    pub reference: String,
    /// Whether it depends on a figure that was never checked against the maker's documents.
    pub weak: bool,
}

/// Figures by name.
pub(crate) type Constants = BTreeMap<String, Constant>;

/// The constants of an agent: from its record, otherwise from its product by PCI id or name, otherwise from its
/// architecture. For a part of a partitioned GPU, they describe the part.
pub fn constants(agent: &AgentFacts) -> Constants {
    let mut resolver = Resolver::new(agent);
    processors(&mut resolver);
    caches(&mut resolver);
    memory::choose(&mut resolver);
    roofs::choose(&mut resolver);
    resolver.into_constants()
}

fn processors(resolver: &mut Resolver<'_>) {
    let agent = resolver.agent;
    let xcds = [resolver.recorded(agent.num_xcc, "num_xcc"), resolver.product_share("num_xcd")];
    resolver.choose("num_xcd", "count", xcds);
    let units = [resolver.recorded(agent.cu_count, "cu_count"), resolver.product_share("num_cu")];
    resolver.choose("num_cu", "count", units);
    let clock = [resolver.recorded(agent.max_clock_mhz, "max_clock_mhz"), resolver.product("sclk_mhz")];
    resolver.choose("sclk_mhz", "MHz", clock);

    let per_cu = [resolver.recorded(agent.simd_per_cu, "simd_per_cu"), resolver.architecture("simd_per_cu")];
    resolver.choose("simd_per_cu", "count", per_cu);
    let simds = resolver.computed(&["num_cu", "simd_per_cu"], None, "num_cu * simd_per_cu", multiplied);
    resolver.choose("num_simd", "count", [simds]);
    let wave = [resolver.recorded(agent.wave_size, "wave_size"), resolver.architecture("wave_size")];
    resolver.choose("wave_size", "work-items", wave);
    let waves = [
        resolver.recorded(agent.max_waves_per_simd, "max_waves_per_simd"),
        resolver.architecture("max_waves_per_simd"),
    ];
    resolver.choose("max_waves_per_simd", "count", waves);
    let words = "max_waves_per_simd * simd_per_cu";
    let of_simds = resolver.computed(&["max_waves_per_simd", "simd_per_cu"], None, words, multiplied);
    let waves = [resolver.recorded(agent.max_waves_per_cu, "max_waves_per_cu"), of_simds];
    resolver.choose("waves_per_cu_max", "count", waves);

    let engines =
        [resolver.recorded(agent.shader_engines, "shader_engines"), resolver.architecture_per_xcd("num_se_per_xcd")];
    resolver.choose("num_se", "count", engines);
    let pipes = [resolver.recorded(agent.command_pipes, "command_pipes"), resolver.architecture("pipes")];
    resolver.choose("num_pipes", "count", pipes);
}

fn caches(resolver: &mut Resolver<'_>) {
    let agent = resolver.agent;
    let bytes = [resolver.recorded(agent.lds_bytes, "lds_bytes"), resolver.architecture("lds_bytes")];
    resolver.choose("lds_bytes", "bytes", bytes);
    let banks = [resolver.recorded(agent.lds_banks, "lds_banks"), resolver.architecture("lds_banks")];
    resolver.choose("lds_banks", "count", banks);
    let words = "num_se * ceil(num_cu / num_se / cu_per_sqc)";
    let shared = resolver.computed(&["num_se", "num_cu"], Some("cu_per_sqc"), words, |parts| match parts {
        [engines, units, sharing] => engines * (units / engines / sharing).ceil(),
        _ => f64::NAN,
    });
    let scalar = [resolver.recorded(agent.scalar_caches, "scalar_caches"), shared];
    resolver.choose("num_sqc", "count", scalar);
    let channels =
        [resolver.recorded(agent.l2_channels, "l2_channels"), resolver.architecture_per_xcd("l2_channels_per_xcd")];
    resolver.choose("l2_channels", "count", channels);
}

fn multiplied(parts: &[f64]) -> f64 {
    parts.iter().product()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The record of a GPU as rocprofiler-sdk writes it, with the fields used here.
    fn recorded(name: &str, pci: i64, cus: i64, xccs: i64, clock: i64, memory: (i64, i64)) -> AgentFacts {
        AgentFacts {
            agent_type: "GPU".to_owned(),
            name: name.to_owned(),
            cu_count: Some(cus),
            num_xcc: Some(xccs),
            simd_per_cu: Some(4),
            max_waves_per_simd: Some(8),
            max_waves_per_cu: Some(32),
            wave_size: Some(64),
            lds_bytes: Some(65536),
            max_clock_mhz: Some(clock),
            mem_clock_mhz: Some(memory.0),
            mem_bus_bits: Some(memory.1),
            pci_device_id: Some(pci),
            shader_engines: Some(xccs * if xccs == 1 { 8 } else { 4 }),
            ..AgentFacts::default()
        }
    }

    fn value(constants: &Constants, name: &str) -> Option<f64> {
        constants.get(name).unwrap_or_else(|| panic!("no {name}")).value
    }

    /// Compares figures with `NAME VALUE` in lines or between commas.
    fn close(constants: &Constants, wanted: &str) {
        for figure in wanted.split([',', '\n']).filter(|figure| !figure.trim().is_empty()) {
            let (name, wanted) = figure.trim().split_once(' ').unwrap();
            let (wanted, found) = (wanted.parse::<f64>().unwrap(), value(constants, name));
            let found = found.unwrap_or_else(|| panic!("{name} is unknown"));
            assert!((found - wanted).abs() <= 1e-9 * wanted.abs(), "{name}: {found} instead of {wanted}");
        }
    }

    #[test]
    fn mi300x_whole() {
        // Peaks of an MI300X as rocprofiler-compute prints them: 304 CUs, 2100 MHz, 32 engines, 8 XCDs.
        //   scalar caches 32 * ceil(9.5 / 2) = 160, sL1D 2.1 * 64 * 160 = 21504; L2 2.1 * 128 * 128 = 34406.4
        //   LDS and L1 2.1 * 304 * 128 = 81715.2; HBM 1.3 * 32 * 128 = 5324.8 = 1.3 * 8192 / 8 * 4
        //   F16 2100 * 304 * 2048 / 1000 = 1307443.2; F64 matrix 2100 * 304 * 256 / 1000 = 163430.4
        let constants = constants(&recorded("gfx942", 0x74a1, 304, 8, 2100, (1300, 8192)));
        close(
            &constants,
            "num_cu 304, num_xcd 8, num_se 32, num_simd 1216, num_sqc 160, l2_channels 128, hbm_channels 128, \
             hbm_peak_gbps 5324.8, lds_banks 32, waves_per_cu_max 32, wave_size 64, num_pipes 4, \
             peak_l2_gbps 34406.4, peak_l1_gbps 81715.2, peak_lds_gbps 81715.2, \
             peak_matrix_fp16_gflops 1307443.2, peak_matrix_fp64_gflops 163430.4, \
             peak_vector_fp32_gflops 163430.4, peak_matrix_int8_gops 2614886.4, \
             achievable_matrix_bf16_gflops 708000",
        );
        let source = |name: &str| (constants[name].source.as_str(), constants[name].weak);
        assert_eq!(source("num_cu"), ("agent record", false));
        assert_eq!(source("hbm_peak_gbps"), ("agent record", false));
        assert_eq!(source("lds_banks"), ("architecture gfx942", false));
        assert_eq!(source("peak_l2_gbps"), ("computed", false));
        assert_eq!(source("achievable_matrix_bf16_gflops"), ("pci id 0x74a1", false));
    }

    #[test]
    fn the_mi350x_of_a_trace() {
        // 256 CUs, 2200 MHz: 2200 * 256 * 4096 = 2306.867 TFLOP/s; 2 * 8192 / 8 * 4 = 8192 GB/s.
        let constants = constants(&recorded("gfx950", 30112, 256, 8, 2200, (2000, 8192)));
        close(
            &constants,
            "hbm_peak_gbps 8192, num_sqc 128, peak_matrix_fp16_gflops 2306867.2, \
             peak_matrix_fp64_gflops 72089.6, peak_matrix_fp4_gflops 9227468.8, peak_l2_gbps 36044.8",
        );
        assert!(!constants.contains_key("peak_matrix_tf32_gflops"), "gfx942 alone has it");
    }

    #[test]
    fn dies_of_mi250_are_agents() {
        // 104 CUs and 1600 MHz at 4096 bits each: 1.6 * 512 * 2 = 1638.4 GB/s; 8 * ceil(13 / 2) = 56 scalar caches.
        let constants = constants(&recorded("gfx90a:sramecc+:xnack-", 29708, 104, 1, 1700, (1600, 4096)));
        close(
            &constants,
            "hbm_peak_gbps 1638.4, num_sqc 56, l2_channels 32, peak_l2_gbps 6963.2, peak_l1_gbps 11315.2, \
             peak_vector_fp64_gflops 22630.4",
        );
        // With only the PCI id, the figures are also those of one die.
        let bare = AgentFacts { name: "gfx90a".to_owned(), pci_device_id: Some(29704), ..AgentFacts::default() };
        close(&super::constants(&bare), "num_cu 110, hbm_peak_gbps 1638.4, num_xcd 1");
    }

    #[test]
    fn parts_of_a_gpu_have_their_share() {
        // One of eight XCDs: 38 CUs recorded, engines 4, scalar caches 4 * ceil(9.5 / 2) = 20, L2 channels 16. The
        // division of the memory is not recorded, although clock and width of the whole GPU are.
        let part = recorded("gfx942", 0x74a1, 38, 1, 2100, (1300, 8192));
        let part = AgentFacts { shader_engines: Some(4), ..part };
        let found = constants(&part);
        close(&found, "num_cu 38, num_sqc 20, l2_channels 16, peak_matrix_fp16_gflops 163430.4");
        for name in ["hbm_channels", "hbm_peak_gbps"] {
            assert_eq!(found[name].value, None, "{name}");
            assert_eq!(found[name].reference, "this agent is 1 of 8 XCDs", "{name}");
        }
        assert!(!found.contains_key("achievable_matrix_bf16_gflops"));
        // With the channels recorded, 16 of NPS8: 1.3 * 32 * 16 = 665.6.
        let known = AgentFacts { hbm_channels: Some(16), ..part };
        close(&constants(&known), "hbm_peak_gbps 665.6");
        // Only the CUs: 152 of 304 are 4 of 8 XCDs.
        let half = AgentFacts {
            name: "gfx942".to_owned(),
            product_name: Some("AMD Instinct MI300X".to_owned()),
            cu_count: Some(152),
            ..AgentFacts::default()
        };
        let found = constants(&half);
        close(&found, "num_xcd 4, l2_channels 64, sclk_mhz 2100, num_se 16");
        assert_eq!(found["num_xcd"].source, "product MI300X");
    }

    #[test]
    fn little_is_known_of_a_bare_architecture() {
        let bare = AgentFacts { name: "gfx942".to_owned(), ..AgentFacts::default() };
        let found = constants(&bare);
        close(&found, "wave_size 64, lds_banks 32, waves_per_cu_max 32");
        for name in ["num_cu", "num_xcd", "sclk_mhz", "l2_channels", "hbm_peak_gbps", "peak_matrix_fp16_gflops"] {
            assert_eq!(value(&found, name), None, "{name}");
            assert_eq!(found[name].source, "unknown");
        }
        let alien = AgentFacts { name: "gfx1250".to_owned(), cu_count: Some(256), ..AgentFacts::default() };
        let found = constants(&alien);
        close(&found, "num_cu 256");
        assert_eq!(value(&found, "lds_banks"), None);
        assert!(found.keys().all(|name| !name.contains("flops")));
    }

    #[test]
    fn figures_of_0_are_not_recorded() {
        let found = constants(&recorded("gfx942", 0x74a1, 0, 0, 2100, (1300, 8192)));
        close(&found, "num_cu 304, num_xcd 8, peak_l2_gbps 34406.4");
        assert!(found["num_xcd"].weak);
    }

    #[test]
    fn stated_figures_come_first() {
        let stated = AgentFacts {
            scalar_caches: Some(3),
            l2_channels: Some(5),
            lds_banks: Some(7),
            command_pipes: Some(9),
            mem_bytes_per_s: Some(5_324_800_000_000),
            ..recorded("gfx942", 0x74a1, 38, 1, 2100, (1300, 8192))
        };
        close(&constants(&stated), "num_sqc 3, l2_channels 5, lds_banks 7, num_pipes 9, hbm_peak_gbps 5324.8");
    }

    #[test]
    fn mi100_by_its_id() {
        // 120 CUs, 1502 MHz; 8 * ceil(15 / 3) = 40 scalar caches; 32 * 64 * 1.502 = 3076.096; clock and bandwidth are weak.
        let bare = AgentFacts { name: "gfx908".to_owned(), pci_device_id: Some(29580), ..AgentFacts::default() };
        let found = constants(&bare);
        close(&found, "num_sqc 40, peak_l2_gbps 3076.096, hbm_peak_gbps 1228.8");
        close(&found, "peak_matrix_fp16_gflops 184565.76, waves_per_cu_max 40");
        assert!(found["sclk_mhz"].weak && found["peak_l2_gbps"].weak && !found["num_cu"].weak);
        assert_eq!(found["sclk_mhz"].source, "pci id 0x738c");
    }
}
