//! Agents from the agent record of rocprofiler-sdk. rocpd has it in a column, rocprofv3 JSON in a section.

use serde_json::Value;

use wavesieve_model::schema::facts::AgentFacts;

/// Facts that only the agent record holds: sizes, clocks, location, and the device's uuid.
pub(crate) fn agent_details(details: &Value) -> AgentFacts {
    let bank = details.get("mem_banks").and_then(Value::as_array).and_then(|banks| banks.first());
    let of_bank = |name: &str| bank.and_then(|bank| detail(bank, name)).filter(|value| *value > 0);
    AgentFacts {
        mem_clock_mhz: of_bank("mem_clk_max"),
        mem_bus_bits: of_bank("width"),
        mem_bytes: of_bank("size_in_bytes"),
        uuid: uuid(details),
        ..agent_sizes(|name| detail(details, name))
    }
}

/// Location, sizes and clock of an agent by the numbers of its record.
pub(crate) fn agent_sizes(number: impl Fn(&str) -> Option<i64>) -> AgentFacts {
    let positive = |name: &str| number(name).filter(|value| *value > 0);
    AgentFacts {
        location: positive("location_id").map(|location| format!("{}:{location}", number("domain").unwrap_or(0))),
        cu_count: positive("cu_count"),
        num_xcc: positive("num_xcc"),
        simd_per_cu: positive("simd_per_cu"),
        max_waves_per_simd: positive("max_waves_per_simd"),
        wave_size: positive("wave_front_size"),
        lds_bytes: positive("lds_size_in_kb").and_then(|kib| kib.checked_mul(1024)),
        max_clock_mhz: positive("max_engine_clk_fcompute").or_else(|| positive("max_engine_clk_ccompute")),
        shader_engines: shader_engines(positive),
        max_waves_per_cu: positive("max_waves_per_cu"),
        ..AgentFacts::default()
    }
}

/// Shader engines of an agent. Its record calls them banks; older records only have the number of their arrays.
fn shader_engines(positive: impl Fn(&str) -> Option<i64>) -> Option<i64> {
    let of_arrays = || positive("array_count")?.checked_div(positive("simd_arrays_per_engine")?);
    positive("num_shader_banks").or_else(of_arrays)
}

/// An integer of an agent record.
pub fn detail(details: &Value, name: &str) -> Option<i64> {
    details.get(name).and_then(Value::as_i64)
}

/// The 16 bytes of the device's uuid as hexadecimal digits; `None` when they are all zero.
fn uuid(details: &Value) -> Option<String> {
    let bytes = details.get("uuid")?.get("bytes")?;
    let bytes: Vec<u64> =
        (0..16).map(|index| bytes.get(format!("value{index}")).and_then(Value::as_u64)).collect::<Option<_>>()?;
    let known = bytes.iter().any(|byte| *byte != 0);
    known.then(|| bytes.iter().map(|byte| format!("{:02x}", byte & 0xff)).collect())
}
