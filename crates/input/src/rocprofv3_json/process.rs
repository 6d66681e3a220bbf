//! A process and its agents, from their description in the file.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Deserialize;
use serde_json::Value;

use super::capture::{Capture, SectionAnomalies};
use super::parsing::values::{AgentRecord, Int, Text, or_default};
use super::structure::roles::COUNTERS;
use crate::common::{agent_details, detail};
use wavesieve_model::schema::facts::{AgentFacts, ProcessFacts};
use wavesieve_model::text::fnv::fnv1a;

/// `metadata` of a process. The recorded configuration and environment are skipped.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    #[serde(deserialize_with = "or_default")]
    node: Node,
    pid: Int,
    ppid: Int,
    init_time: Int,
    fini_time: Int,
    #[serde(deserialize_with = "or_default")]
    command: Vec<Text>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Node {
    machine_id: Text,
    hostname: Text,
    hash: Int,
}

/// Known facts about a process, apart from its place in the file.
pub fn facts(
    capture: &Capture,
    source: &str,
    agents: Vec<AgentFacts>,
    findings: &mut SectionAnomalies,
) -> Result<ProcessFacts> {
    let metadata: Metadata = capture.object("metadata", findings)?.unwrap_or_default();
    let node = metadata.node;
    let hash = node.hash.nonzero().map(|hash| format!("hash {hash}"));
    let (machine_id, hostname) = (node.machine_id.into_filled(), node.hostname.into_filled());
    let command: Vec<&str> = metadata.command.iter().filter_map(Text::filled).collect();
    let time = |time: Int| time.0.filter(|time| *time > 0);
    Ok(ProcessFacts {
        guid: None,
        content_hash: content_hash(capture)?,
        machine_key: machine_id.clone().or_else(|| hostname.clone()).or(hash).unwrap_or_default(),
        machine_id,
        hostname,
        pid: metadata.pid.0.unwrap_or(-1),
        ppid: metadata.ppid.0,
        command: (!command.is_empty()).then(|| command.join(" ")),
        start_ns: time(metadata.init_time),
        end_ns: time(metadata.fini_time),
        path: capture.path.clone(),
        source: source.to_owned(),
        format: super::FORMAT.to_owned(),
        has_counters: capture.process.rows(COUNTERS) > 0,
        replay_passes: capture.replays.last(),
        agents,
        ..ProcessFacts::default()
    })
}

/// A hash of the numbers of records and bytes of every section, and of the bytes at both ends of each section. Sizes are not enough,
/// because captures without metadata can have the same sizes.
fn content_hash(capture: &Capture) -> Result<String> {
    const LONGEST: u64 = 1 << 14;
    let mut bytes = Vec::new();
    for section in &capture.process.sections {
        let (start, end) = (section.start, section.end.max(section.start));
        capture.file.read(start, end.min(start.saturating_add(LONGEST)), &mut bytes)?;
        capture.file.read(start.max(end.saturating_sub(LONGEST)), end, &mut bytes)?;
        bytes.extend(section.name.bytes());
        bytes.extend(section.rows.to_le_bytes());
        bytes.extend(section.end.saturating_sub(section.start).to_le_bytes());
    }
    let hash = fnv1a(&bytes);
    Ok(format!("{hash:016x}"))
}

/// The agents, and the agent id of every handle: records refer to agents by handle, other data by the index of the kernel driver.
pub fn agents(capture: &Capture, findings: &mut SectionAnomalies) -> Result<(Vec<AgentFacts>, BTreeMap<i64, i64>)> {
    let mut handles = BTreeMap::new();
    let mut agents: Vec<AgentFacts> = Vec::new();
    let records = capture.gather("agents", findings, |agent: AgentRecord| Value::Object(agent.0))?;
    for (position, record) in (0_i64..).zip(records) {
        let agent_id = detail(&record, "node_id").unwrap_or(position);
        if let Some(handle) = record.get("id").and_then(|id| Int::deserialize(id).ok()).and_then(|id| id.0) {
            handles.insert(handle, agent_id);
        }
        if agents.iter().any(|agent| agent.agent_id == agent_id) {
            continue;
        }
        let agent_type = match detail(&record, "type") {
            Some(1) => "CPU",
            Some(2) => "GPU",
            Some(3) => "NIC",
            _ => "UNKNOWN",
        };
        let text = |name: &str| record.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        agents.push(AgentFacts {
            agent_id,
            agent_type: agent_type.to_owned(),
            absolute_index: Some(agent_id),
            type_index: detail(&record, "gpu_index")
                .filter(|index| agent_type == "GPU" && *index >= 0)
                .or_else(|| detail(&record, "logical_node_type_id")),
            name: text("name").unwrap_or_default().to_owned(),
            product_name: text("product_name").map(str::to_owned),
            pci_device_id: detail(&record, "device_id"),
            ..agent_details(&record)
        });
    }
    Ok((agents, handles))
}
