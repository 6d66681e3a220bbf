//! Events of the kernel driver: of which kind a record is that does not state it, and its details, which become arguments.

use std::collections::BTreeMap;

use anyhow::Result;

use super::capture::{Capture, SectionAnomalies};
use super::parsing::records::Activity;
use super::parsing::values::Int;
use super::parts::Sink;
use super::structure::gathered::Keep;
use super::structure::index::Section;

/// The prefix of the names of their sections.
const SECTIONS: &str = "buffer_records.kfd";

/// Whether a section holds events of the driver.
pub(crate) fn are_in(section: &str) -> bool {
    section.starts_with(SECTIONS)
}

/// The kind of a record by its members: rocprofv3 writes the operation, but not of which kind.
fn kind(event: &Activity) -> Option<&'static str> {
    let is_paired = event.start_timestamp.0.is_some();
    match (event.src_agent.0, event.address.0, event.start_address.0, event.count.0, event.agent_id.0) {
        (Some(_), ..) if is_paired => Some("KFD_PAGE_MIGRATE"),
        (Some(_), ..) => Some("KFD_EVENT_PAGE_MIGRATE"),
        (_, Some(_), ..) if is_paired => Some("KFD_PAGE_FAULT"),
        (_, Some(_), ..) => Some("KFD_EVENT_PAGE_FAULT"),
        (_, _, Some(_), ..) => Some("KFD_EVENT_UNMAP_FROM_GPU"),
        (_, _, _, Some(_), _) => Some("KFD_EVENT_DROPPED_EVENTS"),
        (.., Some(_)) if is_paired => Some("KFD_QUEUE"),
        (.., Some(_)) => Some("KFD_EVENT_QUEUE"),
        _ => None,
    }
}

struct KindSink {
    keep: Keep,
    kinds: Vec<Option<&'static str>>,
}

impl Sink for KindSink {
    type Output = Vec<Option<&'static str>>;
    type Record<'de> = Activity;

    fn push(&mut self, event: Activity) {
        if self.keep.accepts(|| (event.start(), event.end())) {
            self.kinds.push(kind(&event));
        }
    }

    fn finish(self) -> Self::Output {
        self.kinds
    }
}

/// Kinds of the records of a section that are kept. What is wrong with others is noted where they are read.
pub fn kinds(capture: &Capture, section: &Section, keep: Keep) -> Result<Vec<Option<&'static str>>> {
    let sink = || KindSink { keep, kinds: Vec::new() };
    Ok(capture.records(section, &mut SectionAnomalies::default(), sink)?.concat())
}

/// Names and values of the details of an event, under the names that they have in rocpd databases. Agents have their ids;
/// handle 0 stands for none.
pub fn details(event: &Activity, agents: &BTreeMap<i64, i64>) -> Vec<(&'static str, String)> {
    let of_agent = |name, handle: Int| {
        let agent = agents.get(&handle.nonzero()?)?;
        Some((name, agent.to_string()))
    };
    let of_address = |name, address: Int| Some((name, (address.0? as u64).to_string()));
    let of_number = |name, number: Int| Some((name, number.0?.to_string()));
    [
        of_agent("agent_id", event.agent_id),
        of_address("address", event.address),
        of_address("start_address", event.start_address),
        of_address("end_address", event.end_address),
        of_agent("src_agent_id", event.src_agent),
        of_agent("dst_agent_id", event.dst_agent),
        of_agent("prefetch_agent_id", event.prefetch_agent),
        of_agent("preferred_agent_id", event.preferred_agent),
        of_number("error_code", event.error_code),
        of_number("count", event.count),
    ]
    .into_iter()
    .flatten()
    .collect()
}

struct CountSink<'a> {
    agents: &'a BTreeMap<i64, i64>,
    details: u64,
}

impl Sink for CountSink<'_> {
    type Output = u64;
    type Record<'de> = Activity;

    fn push(&mut self, event: Activity) {
        if event.has_length() {
            self.details += details(&event, self.agents).len() as u64;
        }
    }

    fn finish(self) -> u64 {
        self.details
    }
}

/// Number of the details of the events of a section that have a length.
pub(crate) fn count_details(capture: &Capture, section: &Section) -> Result<u64> {
    let sink = || CountSink { agents: &capture.agents, details: 0 };
    Ok(capture.records(section, &mut SectionAnomalies::default(), sink)?.into_iter().sum())
}
