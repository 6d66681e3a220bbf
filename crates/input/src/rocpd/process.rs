//! Facts about a process and its agents, from the info tables of a partition.

use anyhow::Result;
use serde_json::Value;

use super::container::Partition;
use super::counter_facts::CounterFacts;
use super::database::Owner;
use super::info_rows::info_rows;
use crate::common::sqlite::{OpeningDatabase, Wanted, integer, text};
use crate::common::{agent_details, detail};
use wavesieve_model::schema::facts::{AgentFacts, ProcessFacts};

/// Environment variables that launchers set to the rank of a process, in the order of trust, with those for the number of ranks.
const RANK_VARIABLES: &[(&str, &str)] = &[
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMIX_RANK", ""),
    ("PMI_RANK", "PMI_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("MPI_RANKID", "MPI_NRANKS"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
    ("PALS_RANKID", ""),
    ("FLUX_TASK_RANK", "FLUX_JOB_SIZE"),
    ("RANK", "WORLD_SIZE"),
];

/// Start of the tags under which `trim` and `merge` keep ranks in the metadata; the id of the process's row follows.
pub const RANK_TAG: &str = "wavesieve_rank_";

const PROCESS_COLUMNS: &[Wanted] = &[
    integer("nid"),
    integer("ppid"),
    integer("pid"),
    integer("init"),
    integer("fini"),
    integer("start"),
    integer("end"),
    text("command"),
    text("environment"),
];

const NODE_COLUMNS: &[Wanted] = &[integer("hash"), text("machine_id"), text("hostname")];

const AGENT_COLUMNS: &[Wanted] = &[
    integer("pid"),
    text("type"),
    integer("absolute_index"),
    integer("type_index"),
    integer("uuid"),
    text("name"),
    text("generic_name"),
    text("product_name"),
    text("extdata"),
];

/// A process of a partition.
pub(crate) struct FoundProcess {
    /// The owner that its rows name, set if there is more than one process.
    pub owner: Option<Owner>,
    pub facts: ProcessFacts,
}

/// The processes of a partition; one without details when the info tables are empty or missing.
pub fn processes(
    database: &OpeningDatabase,
    partition: &Partition,
    counters: &CounterFacts,
    path: &str,
    source: &str,
) -> Result<Vec<FoundProcess>> {
    let base = ProcessFacts {
        guid: partition.guid.clone(),
        content_hash: partition.suffix.clone(),
        machine_key: String::new(),
        pid: -1,
        path: path.to_owned(),
        source: source.to_owned(),
        format: "rocpd".to_owned(),
        schema_version: partition.schema_version.clone(),
        has_counters: counters.has_counters,
        replay_passes: counters.replay_passes,
        ..ProcessFacts::default()
    };
    let mut found = Vec::new();
    for row in info_rows(database, partition.table("info_process"), PROCESS_COLUMNS)? {
        let id = row.integer("id");
        let mut facts = base.clone();
        node(database, partition, row.integer("nid"), &mut facts)?;
        facts.pid = row.integer("pid").unwrap_or(-1);
        facts.ppid = row.integer("ppid");
        facts.command = row.text("command");
        facts.start_ns = row.time_ns("start").or_else(|| row.time_ns("init"));
        facts.end_ns = row.time_ns("end").or_else(|| row.time_ns("fini"));
        let recorded = row.text("environment").and_then(|json| rank_in_environment(&json));
        facts.world_size = recorded.and_then(|(_, size)| size);
        let rank = recorded.map(|(rank, _)| rank);
        facts.environment_rank = rank.or_else(|| id.and_then(|id| partition.kept_rank(id)));
        facts.agents = agents(database, partition, id)?;
        let owner = id.map(|row| Owner { row, pid: facts.pid, first: found.is_empty() });
        found.push(FoundProcess { owner, facts });
    }
    if let [only] = found.as_mut_slice() {
        only.owner = None;
    }
    if found.is_empty() {
        let mut facts = base;
        node(database, partition, None, &mut facts)?;
        facts.agents = agents(database, partition, None)?;
        found.push(FoundProcess { owner: None, facts });
    }
    Ok(found)
}

fn node(database: &OpeningDatabase, partition: &Partition, nid: Option<i64>, facts: &mut ProcessFacts) -> Result<()> {
    let mut fallback = nid.map(|nid| format!("node {nid}"));
    for row in info_rows(database, partition.table("info_node"), NODE_COLUMNS)? {
        if nid.is_none() || row.integer("id") == nid {
            facts.machine_id = row.text("machine_id").filter(|id| !id.is_empty());
            facts.hostname = row.text("hostname").filter(|name| !name.is_empty());
            fallback = row.integer("hash").map(|hash| format!("hash {hash}")).or(fallback.take());
        }
    }
    facts.machine_key = facts.machine_id.clone().or_else(|| facts.hostname.clone()).or(fallback).unwrap_or_default();
    Ok(())
}

fn agents(database: &OpeningDatabase, partition: &Partition, process: Option<i64>) -> Result<Vec<AgentFacts>> {
    let mut agents = Vec::new();
    for row in info_rows(database, partition.table("info_agent"), AGENT_COLUMNS)? {
        let of_other = process.is_some() && row.integer("pid").is_some_and(|pid| Some(pid) != process);
        if let (Some(agent_id), false) = (row.integer("id"), of_other) {
            let details =
                row.text("extdata").and_then(|json| serde_json::from_str::<Value>(&json).ok()).unwrap_or_default();
            agents.push(AgentFacts {
                agent_id,
                agent_type: row.text("type").unwrap_or_else(|| "UNKNOWN".to_owned()),
                absolute_index: row.integer("absolute_index"),
                type_index: row.integer("type_index"),
                // From schema 4.1.0 on the name is a label of the user's choice.
                name: row
                    .text("generic_name")
                    .filter(|name| !name.is_empty())
                    .or_else(|| row.text("name"))
                    .unwrap_or_default(),
                product_name: row.text("product_name"),
                // The column named uuid holds the PCI device id; the true uuid is in the details.
                pci_device_id: detail(&details, "device_id").or_else(|| row.integer("uuid")),
                ..agent_details(&details)
            });
        }
    }
    // If no agent names this process, all agents of the partition still describe its GPUs.
    if agents.is_empty() && process.is_some() {
        return self::agents(database, partition, None);
    }
    Ok(agents)
}

/// The rank that the recorded environment names, and how many there are. Nothing else of the environment is kept.
fn rank_in_environment(json: &str) -> Option<(i64, Option<i64>)> {
    let environment: Value = serde_json::from_str(json).ok()?;
    let number = |name: &str| match environment.get(name)? {
        Value::String(text) => text.trim().parse::<i64>().ok(),
        Value::Number(number) => number.as_i64(),
        _ => None,
    };
    let (rank, size) = RANK_VARIABLES.iter().find_map(|(rank, size)| Some((number(rank)?, number(size))))?;
    // A launcher inside of another one may leave the number of the outer one.
    (rank >= 0).then_some((rank, size.filter(|size| *size > rank)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_is_found_in_the_environment() {
        assert_eq!(rank_in_environment(r#"{"RANK":"3","PMI_RANK":"7"}"#), Some((7, None)));
        assert_eq!(rank_in_environment(r#"{"RANK":"3","WORLD_SIZE":"8","PMI_SIZE":"2"}"#), Some((3, Some(8))));
        assert_eq!(rank_in_environment(r#"{"SLURM_PROCID":3,"SLURM_NTASKS":3}"#), Some((3, None)));
        assert_eq!(rank_in_environment(r#"{"RANK":"x"}"#), None);
        assert_eq!(rank_in_environment("{"), None);
    }
}
