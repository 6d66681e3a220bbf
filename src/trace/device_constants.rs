//! Figures of a GPU that formulas of metrics name.

use std::collections::BTreeMap;

use super::identity::Process;

/// A GPU as formulas see it.
#[derive(Clone, Debug, Default)]
pub struct Device {
    /// LLVM name such as gfx942; empty where unknown.
    pub architecture: String,
    /// Known constants by name.
    pub constants: BTreeMap<String, f64>,
}

/// The GPU of a process; without figures where it is not described.
pub fn device(process: &Process, gpu: Option<i64>) -> Device {
    let agent = process
        .facts
        .agents
        .iter()
        .find(|agent| process.gpus.get(&agent.agent_id).is_some_and(|known| Some(known.gpu) == gpu));
    let Some(agent) = agent else { return Device::default() };
    let mut constants = BTreeMap::new();
    let mut put = |name: &str, value: Option<i64>| {
        if let Some(value) = value {
            constants.insert(name.to_owned(), value as f64);
        }
    };
    put("num_cu", agent.cu_count);
    put("num_xcd", agent.num_xcc);
    put("num_se", agent.shader_engines);
    put("simd_per_cu", agent.simd_per_cu);
    put("num_simd", agent.simd_per_cu.zip(agent.cu_count).map(|(a, b)| a * b));
    put("num_sqc", agent.scalar_caches);
    put("num_pipes", agent.command_pipes);
    put("sclk_mhz", agent.max_clock_mhz);
    put("mclk_mhz", agent.mem_clock_mhz);
    put("hbm_channels", agent.hbm_channels);
    put("l2_channels", agent.l2_channels);
    put("lds_banks", agent.lds_banks);
    put("wave_size", agent.wave_size);
    put("waves_per_cu_max", agent.max_waves_per_cu);
    if let Some(bandwidth) = agent.mem_bytes_per_s {
        constants.insert("hbm_peak_gbps".to_owned(), bandwidth as f64 / 1e9);
    }
    Device { architecture: agent.name.clone(), constants }
}
