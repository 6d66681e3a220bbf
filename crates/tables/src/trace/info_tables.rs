//! The tables that are known before anything is read: `processes`, `agents`, and tables derived from facts.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::categorical;
use crate::derive;
use wavesieve_model::schema::facts::AgentFacts;
use wavesieve_model::schema::process::Process;

/// The rows of such a table for one process; `None` for every other table.
pub fn from_facts(table: &str, process: &Process) -> Result<Option<DataFrame>> {
    match table {
        "processes" => Ok(Some(processes(process)?)),
        "agents" => Ok(Some(agents(process)?)),
        derived => derive::from_facts(derived).map(|build| build(process)).transpose(),
    }
}

pub(crate) fn is_from_facts(table: &str) -> bool {
    matches!(table, "processes" | "agents") || derive::from_facts(table).is_some()
}

fn processes(process: &Process) -> PolarsResult<DataFrame> {
    let facts = &process.facts;
    DataFrame::new_infer_height(vec![
        cat("role", [Some(process.role.name())])?,
        text("guid", [facts.guid.as_deref()]),
        integer("node", [Some(process.node)]),
        text("hostname", [facts.hostname.as_deref()]),
        text("machine_id", [facts.machine_id.as_deref()]),
        integer("pid", [Some(facts.pid)]),
        integer("ppid", [facts.ppid]),
        text("command", [facts.command.as_deref()]),
        integer("start_ns", [facts.start_ns]),
        integer("end_ns", [facts.end_ns]),
        text("source", [Some(facts.source.as_str())]),
        cat("format", [Some(facts.format.as_str())])?,
        text("schema_version", [facts.schema_version.as_deref()]),
    ])
}

fn agents(process: &Process) -> PolarsResult<DataFrame> {
    let mut agents: Vec<&AgentFacts> = process.facts.agents.iter().collect();
    agents.sort_by_key(|agent| agent.agent_id);
    let gpu_of = |agent: &&AgentFacts| process.gpus.get(&agent.agent_id).copied();
    let each = |value: fn(&AgentFacts) -> Option<i64>| agents.iter().map(move |agent| value(agent)).collect::<Vec<_>>();
    DataFrame::new_infer_height(vec![
        integer("agent_id", agents.iter().map(|agent| Some(agent.agent_id))),
        cat("agent_type", agents.iter().map(|agent| Some(agent.agent_type.as_str())))?,
        integer("gpu", agents.iter().map(|agent| gpu_of(agent).map(|gpu| gpu.gpu))),
        integer("device", agents.iter().map(|agent| gpu_of(agent).map(|gpu| gpu.device))),
        cat("name", agents.iter().map(|agent| Some(agent.name.as_str())))?,
        text("product_name", agents.iter().map(|agent| agent.product_name.as_deref())),
        integer("cu_count", each(|agent| agent.cu_count)),
        integer("num_xcc", each(|agent| agent.num_xcc)),
        integer("simd_per_cu", each(|agent| agent.simd_per_cu)),
        integer("max_waves_per_simd", each(|agent| agent.max_waves_per_simd)),
        integer("wave_size", each(|agent| agent.wave_size)),
        integer("lds_bytes", each(|agent| agent.lds_bytes)),
        integer("max_clock_mhz", each(|agent| agent.max_clock_mhz)),
        integer("mem_clock_mhz", each(|agent| agent.mem_clock_mhz)),
        integer("mem_bus_bits", each(|agent| agent.mem_bus_bits)),
        integer("mem_bytes", each(|agent| agent.mem_bytes)),
        integer("shader_engines", each(|agent| agent.shader_engines)),
        integer("max_waves_per_cu", each(|agent| agent.max_waves_per_cu)),
        integer("lds_banks", each(|agent| agent.lds_banks)),
        integer("scalar_caches", each(|agent| agent.scalar_caches)),
        integer("l2_channels", each(|agent| agent.l2_channels)),
        integer("hbm_channels", each(|agent| agent.hbm_channels)),
        integer("command_pipes", each(|agent| agent.command_pipes)),
        integer("mem_bytes_per_s", each(|agent| agent.mem_bytes_per_s)),
        integer("pci_device_id", each(|agent| agent.pci_device_id)),
        text("uuid", agents.iter().map(|agent| agent.uuid.as_deref())),
    ])
}

fn integer(name: &str, values: impl IntoIterator<Item = Option<i64>>) -> Column {
    Int64Chunked::from_iter_options(name.into(), values.into_iter()).into_series().into_column()
}

fn text<'a>(name: &str, values: impl IntoIterator<Item = Option<&'a str>>) -> Column {
    StringChunked::from_iter_options(name.into(), values.into_iter()).into_series().into_column()
}

fn cat<'a>(name: &str, values: impl IntoIterator<Item = Option<&'a str>>) -> PolarsResult<Column> {
    text(name, values).cast(&categorical())
}
