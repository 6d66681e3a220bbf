//! What `sysinfo.csv` reports about the machine and its GPUs, or the same fields as JSON.

use std::collections::BTreeMap;

use csv::ByteRecord;
use serde_json::Value;

use super::columns::trimmed;
use crate::input::common::csv::{CsvFile, Parsed, float, integer, start};
use crate::schema::facts::AgentFacts;

/// The fields of the first row by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct System {
    fields: BTreeMap<String, Vec<u8>>,
}

impl System {
    /// Reads the file.
    ///
    /// # Errors
    /// A message if it cannot be read, or has no row that fits its header.
    pub(crate) fn read(file: &CsvFile) -> Result<Self, String> {
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
    ///
    /// # Errors
    /// A message if the text is no JSON object.
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
    pub(crate) fn text(&self, name: &str) -> Option<String> {
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

    /// The GPU of a number; all of a machine are alike.
    pub(crate) fn gpu(&self, id: i64) -> AgentFacts {
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
            hbm_channels: self.number("num_hbm_channels"),
            command_pipes: self.number("pipes_per_gpu"),
            mem_bytes_per_s: self.memory_bytes_per_s(),
            pci_device_id: self.number("gpu_chip_id").or_else(|| self.number("chip_id")),
            ..AgentFacts::default()
        }
    }

    /// Bandwidth of the memory in bytes per second, from GB/s.
    fn memory_bytes_per_s(&self) -> Option<i64> {
        match float(self.fields.get("hbm_bw")?) {
            Parsed::Value(value) if value > 0.0 => Some((value * 1e9).round() as i64),
            _ => None,
        }
    }
}
