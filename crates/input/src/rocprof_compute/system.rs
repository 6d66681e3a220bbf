//! The description of the machine and its GPUs in `sysinfo.csv`, or the same fields as JSON.

use std::collections::BTreeMap;

use csv::ByteRecord;
use serde_json::Value;

use super::columns::trimmed;
use crate::common::csv::{CsvFile, Parsed, float, integer, start};
use wavesieve_model::analysis::hardware::devices::{Catalog, target};
use wavesieve_model::schema::facts::AgentFacts;

/// Bytes that a memory channel moves per clock.
const BYTES_PER_CHANNEL: i64 = 32;

/// The fields of the first row by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct System {
    fields: BTreeMap<String, Vec<u8>>,
}

impl System {
    /// Reads the file.
    pub fn read(file: &CsvFile) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", file.shown);
        let (header, mut records) = start(file).map_err(|error| format!("{error:#}"))?;
        let mut record = ByteRecord::new();
        match records.read_byte_record(&mut record) {
            Ok(true) if record.len() == header.len() => {
                let names = header.iter().map(trimmed);
                Ok(Self { fields: names.zip(record.iter().map(<[u8]>::to_vec)).collect() })
            }
            Ok(true) => {
                let found = format!("{} fields, but the header has {}", record.len(), header.len());
                Err(format!("{}:2: {found}; the device specs are unknown", file.shown))
            }
            Ok(false) => Err(failed(&"there is no row; the device specs are unknown")),
            Err(error) => Err(failed(&error)),
        }
    }

    /// Reads the members of a JSON object.
    pub(crate) fn from_json(text: &str) -> Result<Self, String> {
        match serde_json::from_str(text) {
            Ok(Value::Object(members)) => {
                let field = |(name, value)| {
                    let text = match value {
                        Value::String(text) => text,
                        Value::Number(number) => number.to_string(),
                        _ => return None,
                    };
                    Some((name, text.into_bytes()))
                };
                Ok(Self { fields: members.into_iter().filter_map(field).collect() })
            }
            Ok(_) => Err("no JSON object; the device specs are unknown".to_owned()),
            Err(error) => Err(format!("no valid JSON ({error}); the device specs are unknown")),
        }
    }

    /// A text that is not empty.
    pub fn text(&self, name: &str) -> Option<String> {
        let text = String::from_utf8_lossy(self.fields.get(name)?).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// A positive integer.
    fn number(&self, name: &str) -> Option<i64> {
        match integer(self.fields.get(name)?) {
            Parsed::Value(value) => Some(value).filter(|value| *value > 0),
            Parsed::Missing | Parsed::Bad => None,
        }
    }

    /// The GPU with a number; all GPUs of a node are alike.
    pub fn gpu(&self, id: i64) -> AgentFacts {
        let waves_per_cu = self.number("max_waves_per_cu");
        let simd_per_cu = self.number("simd_per_cu");
        let waves_per_simd = waves_per_cu.zip(simd_per_cu).and_then(|(waves, simds)| waves.checked_div(simds));
        AgentFacts {
            agent_id: id,
            agent_type: "GPU".to_owned(),
            absolute_index: Some(id),
            name: self.text("gpu_arch").unwrap_or_else(|| format!("GPU {id}")),
            product_name: self.text("gpu_model"),
            cu_count: self.number("cu_per_gpu"),
            num_xcc: self.number("num_xcd"),
            simd_per_cu,
            max_waves_per_simd: waves_per_simd.filter(|waves| *waves > 0),
            wave_size: self.number("wave_size"),
            max_clock_mhz: self.number("max_sclk"),
            mem_clock_mhz: self.number("max_mclk"),
            shader_engines: self.number("se_per_gpu"),
            max_waves_per_cu: waves_per_cu,
            lds_banks: self.number("lds_banks_per_cu"),
            scalar_caches: self.number("sqc_per_gpu"),
            l2_channels: self.number("total_l2_chan"),
            hbm_channels: self.memory_channels(),
            command_pipes: self.number("pipes_per_gpu"),
            mem_bytes_per_s: self.memory_bytes_per_s(),
            pci_device_id: self.number("gpu_chip_id").or_else(|| self.number("chip_id")),
            ..AgentFacts::default()
        }
    }

    /// Reason why the GPU cannot have the recorded partition modes, if any.
    pub fn impossible_partition(&self) -> Option<String> {
        let mode = |name: &str| self.text(name).unwrap_or_default();
        let (compute, memory) = (mode("compute_partition"), mode("memory_partition"));
        Catalog::builtin().impossible_partition(&self.gpu(0), &compute, &memory)
    }

    /// Memory channels that an agent reaches. If the memory is divided (`NPS2` to `NPS8`), these are the channels of one part. Versions of
    /// rocprofiler-compute divide only for some modes, so all channels may be recorded for a part.
    fn memory_channels(&self) -> Option<i64> {
        let recorded = self.number("num_hbm_channels").or_else(|| self.number("num_memory_channels"));
        match (recorded, self.channels_of_part()) {
            (Some(recorded), Some(of_part)) => Some(recorded.min(of_part)),
            (recorded, of_part) => recorded.or(of_part),
        }
    }

    /// Channels of a part of the memory of this architecture; `None` if the memory is not divided, or the architecture unknown.
    fn channels_of_part(&self) -> Option<i64> {
        let parts = self.memory_parts().filter(|parts| *parts > 1)?;
        let (architecture, _) = Catalog::builtin().architecture(target(&self.text("gpu_arch")?))?;
        let whole = architecture.get("hbm_channels")?.value as i64;
        whole.checked_div(parts).filter(|channels| *channels > 0)
    }

    /// Number of parts of the memory: 4 for `NPS4`.
    fn memory_parts(&self) -> Option<i64> {
        let mode = self.text("memory_partition")?.to_ascii_uppercase();
        mode.strip_prefix("NPS")?.parse().ok().filter(|parts| *parts > 0)
    }

    /// Memory bandwidth in bytes per second, from GB/s. For a part of the memory, it is at most the bandwidth of its channels.
    fn memory_bytes_per_s(&self) -> Option<i64> {
        let stated = match float(self.fields.get("hbm_bw")?) {
            Parsed::Value(value) if value > 0.0 => (value * 1e9).round() as i64,
            _ => return None,
        };
        let of_part = self.channels_of_part().zip(self.number("max_mclk"));
        let most = of_part
            .map(|(channels, clock)| clock.saturating_mul(1_000_000 * BYTES_PER_CHANNEL).saturating_mul(channels));
        Some(most.map_or(stated, |most| stated.min(most)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu(fields: &[(&str, &str)]) -> AgentFacts {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect();
        System { fields }.gpu(0)
    }

    #[test]
    fn parts_of_the_memory_have_their_channels() {
        for (architecture, mode, recorded, channels) in [
            ("gfx942", "NPS1", Some("128"), Some(128)),
            ("gfx942", "NPS2", Some("128"), Some(64)),
            ("gfx942", "nps4", Some("128"), Some(32)),
            // Divided already.
            ("gfx942", "NPS4", Some("32"), Some(32)),
            ("gfx942:sramecc+:xnack-", "NPS8", Some("16"), Some(16)),
            ("gfx950", "NPS2", Some("128"), Some(64)),
            ("gfx950", "NPS2", None, Some(64)),
            ("gfx942", "NPS1", None, None),
            ("gfx1151", "N/A", Some("8"), Some(8)),
            ("gfx9999", "NPS2", Some("128"), Some(128)),
        ] {
            let fields = [("gpu_arch", architecture), ("memory_partition", mode)];
            let recorded = recorded.map(|recorded| ("num_hbm_channels", recorded));
            let fields: Vec<(&str, &str)> = fields.into_iter().chain(recorded).collect();
            assert_eq!(gpu(&fields).hbm_channels, channels, "{fields:?}");
        }
        assert_eq!(gpu(&[("num_memory_channels", "32")]).hbm_channels, Some(32));
    }

    #[test]
    fn the_bandwidth_of_a_part_is_that_of_its_channels() {
        let of = |mode: &str, stated: &str| {
            let fields = [("gpu_arch", "gfx942"), ("memory_partition", mode), ("max_mclk", "1300"), ("hbm_bw", stated)];
            gpu(&fields).mem_bytes_per_s
        };
        // 1300 MHz * 32 B * 128 channels.
        assert_eq!(of("NPS1", "5324.8"), Some(5_324_800_000_000));
        assert_eq!(of("NPS2", "5324.8"), Some(2_662_400_000_000));
        assert_eq!(of("NPS2", "2662.4"), Some(2_662_400_000_000));
    }
}
