//! The part of rocprofv3 JSON that describes the process: all that the templates leave open but the records.

use std::io::Write;

use anyhow::{Result, bail};
use serde_json::to_string;

use crate::json_kinds::Kinds;
use crate::json_lists::{CodeObjectRow, CounterRow, KernelSymbolRow, dimensions};
use crate::json_records::Handle;
use crate::model::{Agent, Setup};

const AGENT_CPU: &str = include_str!("agent_cpu.json");
const AGENT_GPU: &str = include_str!("agent_gpu.json");

/// Copies a template and lets `value` write what stands for each `@name@`.
pub fn fill<W: Write>(template: &str, output: &mut W, mut value: impl FnMut(&str, &mut W) -> Result<()>) -> Result<()> {
    for (piece, index) in template.split('@').zip(0_u64..) {
        if index % 2 == 0 {
            output.write_all(piece.as_bytes())?;
        } else {
            value(piece, output)?;
        }
    }
    Ok(())
}

/// The JSON that stands for `name` in `process.json`.
pub fn process_value(name: &str, setup: &Setup, kinds: &Kinds, end_ns: u64) -> Result<String> {
    let (node, process) = (&setup.node, &setup.process);
    Ok(match name {
        "node_id" => node.id.to_string(),
        "node_hash" => node.hash.to_string(),
        "machine_id" => to_string(&node.machine_id)?,
        "hostname" => to_string(&node.hostname)?,
        "pid" => process.pid.to_string(),
        "init_time" => process.start_ns.to_string(),
        "fini_time" => end_ns.to_string(),
        "command" => to_string(&process.command.split(' ').collect::<Vec<_>>())?,
        "output_file" => to_string(&format!("{}/{}", node.hostname, process.pid))?,
        "agents" => agents(setup)?,
        "counters" => to_string(&setup.counters.iter().map(CounterRow::from).collect::<Vec<_>>())?,
        "callback_kinds" => kinds.callback_json().to_string(),
        "buffer_kinds" => kinds.buffer_json().to_string(),
        "dimensions" => to_string(&dimensions(setup))?,
        "code_objects" => {
            let placeholder = std::iter::once(CodeObjectRow::default());
            to_string(&placeholder.chain(setup.code_objects.iter().map(CodeObjectRow::from)).collect::<Vec<_>>())?
        }
        "kernel_symbols" => {
            let placeholder = std::iter::once(KernelSymbolRow::placeholder());
            to_string(&placeholder.chain(setup.symbols.iter().map(KernelSymbolRow::from)).collect::<Vec<_>>())?
        }
        _ => bail!("process.json asks for an unknown {name}"),
    })
}

fn agents(setup: &Setup) -> Result<String> {
    let mut records = Vec::new();
    for agent in &setup.agents {
        let template = if agent.kind == "GPU" { AGENT_GPU } else { AGENT_CPU };
        if !records.is_empty() {
            records.push(b',');
        }
        fill(template, &mut records, |name, output| Ok(output.write_all(agent_value(name, agent)?.as_bytes())?))?;
    }
    Ok(format!("[{}]", String::from_utf8(records)?))
}

/// The same as the columns and details of `rocpd_info_agent`.
fn agent_value(name: &str, agent: &Agent) -> Result<String> {
    let is_gpu = agent.kind == "GPU";
    Ok(match name {
        "handle" => Handle::of_agent(Some(agent.id)).handle.to_string(),
        "name" => to_string(agent.name)?,
        "product_name" => to_string(agent.product_name)?,
        "vendor_name" => to_string(if is_gpu { "AMD" } else { "CPU" })?,
        "model_name" => to_string(if is_gpu { "ip discovery" } else { "" })?,
        "node_id" => agent.id.to_string(),
        "kind_index" => agent.kind_index.to_string(),
        "pci_device_id" => agent.pci_device_id.to_string(),
        "location_id" => agent.location_id.to_string(),
        "uuid_bytes" => {
            let bytes = agent.uuid_bytes.iter().copied().chain(std::iter::repeat(0)).zip(0..16);
            let values: Vec<String> = bytes.map(|(byte, index)| format!(r#""value{index}":{byte}"#)).collect();
            format!("{{{}}}", values.join(","))
        }
        _ => bail!("an agent has no {name}"),
    })
}
