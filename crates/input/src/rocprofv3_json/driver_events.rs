//! Events of the kernel driver: the kind of a record, which the file does not state, and its details, which become arguments.

use std::collections::BTreeMap;

use anyhow::Result;

use super::capture::{Capture, SectionAnomalies};
use super::layouts::Activity;
use super::parsing::row::Row;
use super::structure::gathered::Keep;
use super::structure::index::Section;

/// Prefix of the names of their sections.
const SECTIONS: &str = "buffer_records.kfd";

/// Whether a section holds events of the driver.
pub(crate) fn are_in(section: &str) -> bool {
    section.starts_with(SECTIONS)
}

/// The kind of a record by its members: rocprofv3 writes the operation, but not its kind.
fn kind(event: &Row<Activity>) -> Option<&'static str> {
    let has = |field| event.get(field).is_some();
    let is_paired = has("own_start");
    let kinds = [
        ("src_agent", "KFD_PAGE_MIGRATE", "KFD_EVENT_PAGE_MIGRATE"),
        ("fault_address", "KFD_PAGE_FAULT", "KFD_EVENT_PAGE_FAULT"),
        ("start_address", "KFD_EVENT_UNMAP_FROM_GPU", "KFD_EVENT_UNMAP_FROM_GPU"),
        ("count", "KFD_EVENT_DROPPED_EVENTS", "KFD_EVENT_DROPPED_EVENTS"),
        ("agent_id", "KFD_QUEUE", "KFD_EVENT_QUEUE"),
    ];
    let (_, paired, single) = kinds.into_iter().find(|(field, ..)| has(field))?;
    Some(if is_paired { paired } else { single })
}

/// Kinds of the kept records of a section. Bad records are reported where the records are read.
pub fn kinds(capture: &Capture, section: &Section, keep: Keep) -> Result<Vec<Option<&'static str>>> {
    let push = |kinds: &mut Vec<_>, event: Row<Activity>| {
        if keep.accepts(event.get("start"), event.get("end")) {
            kinds.push(kind(&event));
        }
    };
    Ok(capture.records(section, &mut SectionAnomalies::default(), Vec::new, push)?.concat())
}

/// Names and values of the details of an event, under their names in rocpd databases. Agents are given by id; handle 0 means no agent.
pub fn details(event: &Row<Activity>, agents: &BTreeMap<i64, i64>) -> Vec<(&'static str, String)> {
    let of_agent = |name, field| {
        let agent = agents.get(&event.get(field).filter(|handle| *handle != 0)?)?;
        Some((name, agent.to_string()))
    };
    let of_address = |name, field| Some((name, (event.get(field)? as u64).to_string()));
    let of_number = |name| Some((name, event.get(name)?.to_string()));
    [
        of_agent("agent_id", "agent_id"),
        of_address("address", "fault_address"),
        of_address("start_address", "start_address"),
        of_address("end_address", "end_address"),
        of_agent("src_agent_id", "src_agent"),
        of_agent("dst_agent_id", "dst_agent"),
        of_agent("prefetch_agent_id", "prefetch_agent"),
        of_agent("preferred_agent_id", "preferred_agent"),
        of_number("error_code"),
        of_number("count"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Number of the details of the events of a section that have a length.
pub(crate) fn count_details(capture: &Capture, section: &Section) -> Result<u64> {
    let push = |count: &mut u64, event: Row<Activity>| {
        if Keep::WithLength.accepts(event.get("start"), event.get("end")) {
            *count += details(&event, &capture.agents).len() as u64;
        }
    };
    Ok(capture.records(section, &mut SectionAnomalies::default(), || 0, push)?.into_iter().sum())
}
