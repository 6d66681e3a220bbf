//! The agents of a process: from the file that lists them, otherwise from the rows.

use std::collections::BTreeMap;

use anyhow::Result;
use csv::ByteRecord;

use super::census::Census;
use super::header::spelling;
use super::values::AgentLabel;
use crate::common::agent_sizes;
use crate::common::csv::{CsvFile, Parsed, integer, line_at, start};
use wavesieve_model::schema::facts::AgentFacts;

#[derive(Clone, Debug)]
pub struct Listed {
    guid: Option<String>,
    logical: Option<i64>,
    facts: AgentFacts,
}

/// A list of agents, and its damage.
#[derive(Debug, Default)]
pub struct List {
    pub agents: Vec<Listed>,
    /// The reason why the list is incomplete.
    pub damage: Option<String>,
}

/// Reads a list of agents.
pub fn read(file: &CsvFile) -> Result<List> {
    let (header, mut records) = start(file)?;
    let names: BTreeMap<String, usize> =
        header.iter().enumerate().rev().map(|(at, name)| (spelling(&String::from_utf8_lossy(name)), at)).collect();
    let mut list = List::default();
    let mut record = ByteRecord::new();
    loop {
        match records.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return Ok(list),
            Err(error) => {
                list.damage = Some(format!("{}: the rest of the list is missing: {error}", file.shown));
                return Ok(list);
            }
        }
        let agent = if record.len() == header.len() { listed(&record, &names) } else { None };
        match agent {
            Some(agent) => list.agents.push(agent),
            None => {
                list.damage.get_or_insert_with(|| {
                    let line = line_at(&file.path, record.position().map_or(0, csv::Position::byte)).unwrap_or(0);
                    format!(
                        "{}:{line}: an agent cannot be parsed and is excluded; {} of {} fields, or not a number",
                        file.shown,
                        record.len(),
                        header.len()
                    )
                });
            }
        }
    }
}

fn listed(record: &ByteRecord, names: &BTreeMap<String, usize>) -> Option<Listed> {
    let field = |name: &str| names.get(name).and_then(|at| record.get(*at));
    let number = |name: &str| match field(name).map(integer) {
        Some(Parsed::Value(value)) => Some(value),
        _ => None,
    };
    let text = |name: &str| {
        let text = String::from_utf8_lossy(field(name)?).trim().to_owned();
        (!text.is_empty()).then_some(text)
    };
    let logical = number("logical_node_id");
    let agent_id = number("node_id").or(logical)?;
    let agent_type = text("agent_type").unwrap_or_default().to_uppercase();
    let known = ["CPU", "GPU", "NIC"].into_iter().find(|known| agent_type.ends_with(known));
    let facts = AgentFacts {
        agent_id,
        agent_type: known.unwrap_or("UNKNOWN").to_owned(),
        absolute_index: Some(agent_id),
        type_index: number("logical_node_type_id"),
        name: text("name").unwrap_or_default(),
        product_name: text("product_name"),
        pci_device_id: number("device_id"),
        ..agent_sizes(number)
    };
    Some(Listed { guid: text("guid"), logical, facts })
}

/// The agents of a process, and the agent id of every label that its rows use.
pub fn agents(listed: &[Listed], guid: Option<&str>, census: &Census) -> (Vec<AgentFacts>, BTreeMap<i64, i64>) {
    let own = |agent: &&Listed| agent.guid.is_none() || guid.is_none() || agent.guid.as_deref() == guid;
    let mut agents: Vec<&Listed> = Vec::new();
    for agent in listed.iter().filter(own) {
        if agents.iter().all(|known| known.facts.agent_id != agent.facts.agent_id) {
            agents.push(agent);
        }
    }
    if agents.is_empty() { synthesized(census) } else { (facts(&agents), ids(&agents, census)) }
}

fn facts(agents: &[&Listed]) -> Vec<AgentFacts> {
    agents.iter().map(|agent| agent.facts.clone()).collect()
}

/// Finds the agent of each label. The numbers of `Agent N` are the logical numbers of the list, which count the agents that the process
/// sees. If some of them are not logical numbers, they are numbers of the kernel driver, like plain numbers.
fn ids(agents: &[&Listed], census: &Census) -> BTreeMap<i64, i64> {
    let labels: Vec<(i64, AgentLabel)> = census.agents.keys().map(|code| (*code, AgentLabel::of_code(*code))).collect();
    let is_logical = |number: i64| agents.iter().any(|agent| agent.logical == Some(number));
    let all_logical = labels.iter().all(|(_, label)| !matches!(label, AgentLabel::Agent(at) if !is_logical(*at)));
    let of_type = |wanted: &str, at: i64| {
        let mut same: Vec<&&Listed> = agents.iter().filter(|agent| agent.facts.agent_type == wanted).collect();
        same.sort_by_key(|agent| (agent.logical, agent.facts.agent_id));
        let by_index = same.iter().find(|agent| agent.facts.type_index == Some(at));
        by_index.or_else(|| same.get(usize::try_from(at).ok()?)).map(|agent| agent.facts.agent_id)
    };
    let by_node = |at: i64| agents.iter().map(|agent| agent.facts.agent_id).find(|id| *id == at);
    let by_logical = |at: i64| agents.iter().find(|agent| agent.logical == Some(at)).map(|agent| agent.facts.agent_id);
    let mut unlisted = agents.iter().map(|agent| agent.facts.agent_id).max().unwrap_or(0);
    let mut ids = BTreeMap::new();
    for (code, label) in labels {
        let id = match label {
            AgentLabel::Agent(at) if all_logical => by_logical(at),
            AgentLabel::Agent(at) | AgentLabel::Number(at) => by_node(at),
            AgentLabel::Cpu(at) => of_type("CPU", at),
            AgentLabel::Gpu(at) => of_type("GPU", at),
            AgentLabel::Nic(at) => of_type("NIC", at),
        };
        // An id without an agent, so that a check reports the rows.
        let id = id.unwrap_or_else(|| {
            unlisted = unlisted.saturating_add(1);
            unlisted
        });
        ids.insert(code, id);
    }
    ids
}

/// The agents in the rows, with types inferred from their use.
fn synthesized(census: &Census) -> (Vec<AgentFacts>, BTreeMap<i64, i64>) {
    let labels = || census.agents.iter().map(|(code, used)| (*code, AgentLabel::of_code(*code), *used));
    let largest = |matching: fn(&AgentLabel) -> bool| {
        labels().map(|(_, label, _)| label).filter(matching).map(AgentLabel::number).max().map_or(0, |at| at + 1)
    };
    // The numbers of each type start after the numbers of the previous type.
    let plain = largest(|label| matches!(label, AgentLabel::Number(_) | AgentLabel::Agent(_)));
    let cpus = largest(|label| matches!(label, AgentLabel::Cpu(_)));
    let gpus = largest(|label| matches!(label, AgentLabel::Gpu(_)));
    let mut agents: Vec<AgentFacts> = Vec::new();
    let mut ids = BTreeMap::new();
    for (code, label, used) in labels() {
        let by_use = match (used.as_gpu, used.as_cpu) {
            (true, _) => "GPU",
            (false, true) => "CPU",
            (false, false) => "UNKNOWN",
        };
        let (agent_id, agent_type, name) = match label {
            AgentLabel::Number(at) | AgentLabel::Agent(at) => (at, by_use, format!("Agent {at}")),
            AgentLabel::Cpu(at) => (plain + at, "CPU", format!("CPU {at}")),
            AgentLabel::Gpu(at) => (plain + cpus + at, "GPU", format!("GPU {at}")),
            AgentLabel::Nic(at) => (plain + cpus + gpus + at, "NIC", format!("NIC {at}")),
        };
        ids.insert(code, agent_id);
        if let Some(known) = agents.iter_mut().find(|known| known.agent_id == agent_id) {
            if agent_type == "GPU" || known.agent_type == "UNKNOWN" {
                agent_type.clone_into(&mut known.agent_type);
            }
            continue;
        }
        let is_plain = matches!(label, AgentLabel::Number(_) | AgentLabel::Agent(_));
        agents.push(AgentFacts {
            agent_id,
            agent_type: agent_type.to_owned(),
            absolute_index: is_plain.then_some(agent_id),
            type_index: (!is_plain).then_some(label.number()),
            name,
            ..AgentFacts::default()
        });
    }
    (agents, ids)
}
