//! What the info tables of a partition say about its process and agents.

use anyhow::Result;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde_json::Value;

use super::container::Partition;
use super::counter_facts::CounterFacts;
use super::database::Owner;
use crate::input::common::sqlite::{TableShape, quoted, text_of_blob};
use crate::input::common::{agent_details, detail};
use crate::schema::facts::{AgentFacts, ProcessFacts};

/// Environment variables that launchers set to the rank of a process, in the order of trust.
const RANK_VARIABLES: &[&str] = &[
    "OMPI_COMM_WORLD_RANK",
    "PMIX_RANK",
    "PMI_RANK",
    "MV2_COMM_WORLD_RANK",
    "MPI_RANKID",
    "SLURM_PROCID",
    "PALS_RANKID",
    "FLUX_TASK_RANK",
    "RANK",
];

/// A process of a partition.
pub struct FoundProcess {
    /// What rows of it have, set when there is more than one.
    pub owner: Option<Owner>,
    /// What is known about it.
    pub facts: ProcessFacts,
}

/// The processes of a partition; one without details when the info tables are empty or missing.
///
/// # Errors
/// When a page of the info tables is damaged.
pub fn processes(
    connection: &Connection,
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
    let columns = &["id", "nid", "ppid", "pid", "init", "fini", "start", "end", "command", "environment"];
    let mut found = Vec::new();
    each_row(connection, partition.table("info_process"), columns, |row, table| {
        let id = integer(row, table, "id");
        let mut facts = base.clone();
        node(connection, partition, integer(row, table, "nid"), &mut facts)?;
        facts.pid = integer(row, table, "pid").unwrap_or(-1);
        facts.ppid = integer(row, table, "ppid");
        facts.command = string(row, table, "command");
        facts.start_ns = time(row, table, "start").or_else(|| time(row, table, "init"));
        facts.end_ns = time(row, table, "end").or_else(|| time(row, table, "fini"));
        facts.environment_rank = string(row, table, "environment").and_then(|json| rank_in_environment(&json));
        facts.agents = agents(connection, partition, id)?;
        let owner = id.map(|row| Owner { row, pid: facts.pid, first: found.is_empty() });
        found.push(FoundProcess { owner, facts });
        Ok(())
    })?;
    if let [only] = found.as_mut_slice() {
        only.owner = None;
    }
    if found.is_empty() {
        let mut facts = base;
        node(connection, partition, None, &mut facts)?;
        facts.agents = agents(connection, partition, None)?;
        found.push(FoundProcess { owner: None, facts });
    }
    Ok(found)
}

/// Visits the rows of an info table with those of the wanted columns that it has.
fn each_row(
    connection: &Connection,
    table: Option<&TableShape>,
    wanted: &[&str],
    mut visit: impl FnMut(&Row<'_>, &Selection) -> Result<()>,
) -> Result<()> {
    let Some(table) = table else { return Ok(()) };
    let columns: Vec<String> = wanted.iter().filter(|name| table.has(name)).map(|name| (*name).to_owned()).collect();
    let list: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
    let order = if table.has("id") { "ORDER BY id" } else { "" };
    let sql = format!(include_str!("sql/rows.sql"), list = list.join(", "), table = quoted(&table.name), order = order);
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let selection = Selection { columns };
    while let Some(row) = rows.next()? {
        visit(row, &selection)?;
    }
    Ok(())
}

struct Selection {
    columns: Vec<String>,
}

fn value<'a>(row: &'a Row<'_>, selection: &Selection, name: &str) -> Option<ValueRef<'a>> {
    let position = selection.columns.iter().position(|column| column == name)?;
    row.get_ref(position).ok()
}

fn integer(row: &Row<'_>, selection: &Selection, name: &str) -> Option<i64> {
    match value(row, selection, name)? {
        ValueRef::Integer(integer) => Some(integer),
        ValueRef::Real(real) => Some(real as i64),
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).ok()?.trim().parse().ok(),
        ValueRef::Null | ValueRef::Blob(_) => None,
    }
}

fn time(row: &Row<'_>, selection: &Selection, name: &str) -> Option<i64> {
    integer(row, selection, name).filter(|time| *time > 0)
}

fn string(row: &Row<'_>, selection: &Selection, name: &str) -> Option<String> {
    match value(row, selection, name)? {
        ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Integer(integer) => Some(integer.to_string()),
        ValueRef::Blob(bytes) => text_of_blob(bytes),
        ValueRef::Real(_) | ValueRef::Null => None,
    }
}

fn node(connection: &Connection, partition: &Partition, nid: Option<i64>, facts: &mut ProcessFacts) -> Result<()> {
    let mut fallback = nid.map(|nid| format!("node {nid}"));
    each_row(connection, partition.table("info_node"), &["id", "hash", "machine_id", "hostname"], |row, table| {
        if nid.is_none() || integer(row, table, "id") == nid {
            facts.machine_id = string(row, table, "machine_id").filter(|id| !id.is_empty());
            facts.hostname = string(row, table, "hostname").filter(|name| !name.is_empty());
            fallback = integer(row, table, "hash").map(|hash| format!("hash {hash}")).or(fallback.take());
        }
        Ok(())
    })?;
    facts.machine_key = facts.machine_id.clone().or_else(|| facts.hostname.clone()).or(fallback).unwrap_or_default();
    Ok(())
}

fn agents(connection: &Connection, partition: &Partition, process: Option<i64>) -> Result<Vec<AgentFacts>> {
    let columns = &[
        "id",
        "pid",
        "type",
        "absolute_index",
        "type_index",
        "uuid",
        "name",
        "generic_name",
        "product_name",
        "extdata",
    ];
    let mut agents = Vec::new();
    each_row(connection, partition.table("info_agent"), columns, |row, table| {
        let of_other = process.is_some() && integer(row, table, "pid").is_some_and(|pid| Some(pid) != process);
        if let (Some(agent_id), false) = (integer(row, table, "id"), of_other) {
            let details = string(row, table, "extdata")
                .and_then(|json| serde_json::from_str::<Value>(&json).ok())
                .unwrap_or_default();
            agents.push(AgentFacts {
                agent_id,
                agent_type: string(row, table, "type").unwrap_or_else(|| "UNKNOWN".to_owned()),
                absolute_index: integer(row, table, "absolute_index"),
                type_index: integer(row, table, "type_index"),
                // From schema 4.1.0 on the name is a label of the user's choice.
                name: string(row, table, "generic_name")
                    .filter(|name| !name.is_empty())
                    .or_else(|| string(row, table, "name"))
                    .unwrap_or_default(),
                product_name: string(row, table, "product_name"),
                // The column named uuid holds the PCI device id; the true uuid is in the details.
                pci_device_id: detail(&details, "device_id").or_else(|| integer(row, table, "uuid")),
                ..agent_details(&details)
            });
        }
        Ok(())
    })?;
    // A partition whose agents name another process than the only one still describes what it saw.
    if agents.is_empty() && process.is_some() {
        return self::agents(connection, partition, None);
    }
    Ok(agents)
}

/// The rank that the recorded environment names. Nothing else of the environment is kept.
fn rank_in_environment(json: &str) -> Option<i64> {
    let environment: Value = serde_json::from_str(json).ok()?;
    RANK_VARIABLES
        .iter()
        .find_map(|name| match environment.get(name)? {
            Value::String(text) => text.trim().parse().ok(),
            Value::Number(number) => number.as_i64(),
            _ => None,
        })
        .filter(|rank| *rank >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_is_found_in_the_environment() {
        assert_eq!(rank_in_environment(r#"{"RANK":"3","PMI_RANK":"7"}"#), Some(7));
        assert_eq!(rank_in_environment(r#"{"RANK":"x"}"#), None);
        assert_eq!(rank_in_environment("{"), None);
    }
}
