//! Facts that a trace states about its process: rank, GPUs, time, names.

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::Value;

use super::capture::Capture;
use super::cursor::{members, text_of};
use super::document::{Document, OPTIONS};
use super::event::number_of;
use super::gathered::{Field, Keep, Wanted};
use super::kinds::Role;
use crate::common::{detail, numbered_gpu};
use wavesieve_model::schema::facts::{AgentFacts, ProcessFacts};
use wavesieve_model::text::fnv::fnv1a;

/// Bytes at both ends of a file that distinguish it from others.
const HASHED_BYTES: u64 = 1 << 14;

/// A name of a process or of one of its threads.
pub struct Named {
    pub what: String,
    pub pid: Option<i64>,
    pub tid: Option<i64>,
    pub name: String,
}

impl Capture {
    /// The names that viewers show.
    pub fn names(&self) -> Result<Vec<Named>> {
        let mut names = Vec::new();
        for (chunk, first) in self.chunks().iter().zip(self.numbers(Role::Name)) {
            self.visit(chunk, *first, Role::Name, Keep::All, |_, _, event| {
                let name = members(event.args)
                    .find_map(|(key, value)| text_of(value).filter(|_| key.raw == b"name" || key.raw == b"labels"));
                if let Some(name) = name {
                    names.push(Named {
                        what: event.name.text().into_owned(),
                        pid: number_of(event.pid),
                        tid: number_of(event.tid),
                        name: name.text().trim().to_owned(),
                    });
                }
            })?;
        }
        Ok(names)
    }

    /// The process that called the runtime, otherwise the process labeled `CPU`.
    pub fn pid(&self) -> Result<Option<i64>> {
        if let Some(caller) = self.census.callers.iter().find(|caller| **caller >= 0) {
            return Ok(Some(*caller));
        }
        let is_host = |named: &Named| named.what == "process_labels" && named.name == "CPU";
        Ok(self.names()?.iter().find(|named| is_host(named)).and_then(|named| named.pid))
    }
}

/// Facts about the process of a file. In a merged file, they are about the process with the `merged_rank`.
pub fn facts(capture: &Capture, document: &Document, source: &str, merged_rank: Option<i64>) -> Result<ProcessFacts> {
    let member = |name: &str| document.members.get(name);
    let of_job = |name: &str| member("distributedInfo").and_then(|info| detail(info, name)).filter(|value| *value >= 0);
    let rank = of_job("rank");
    let version = member("schemaVersion").map(Value::to_string);
    let fields = [Field::Start, Field::End];
    let spans = capture.gather(&Wanted { role: Role::Span, keep: Keep::All, fields: &fields, names: false })?;
    let pid = capture.pid()?;
    let named = capture.names()?;
    let command = named.iter().find(|named| named.what == "process_name" && named.pid.is_some() && named.pid == pid);
    Ok(ProcessFacts {
        content_hash: content_hash(capture)?,
        pid: pid.unwrap_or(-1),
        command: command.map(|named| named.name.clone()).filter(|name| !name.is_empty()),
        start_ns: spans.get(Field::Start).iter().flatten().filter(|start| *start > 0).min(),
        end_ns: spans.get(Field::End).iter().flatten().filter(|end| *end > 0).max(),
        path: capture.path.clone(),
        source: source.to_owned(),
        format: super::FORMAT.to_owned(),
        schema_version: version,
        rocm_version: member("hip_runtime_version").and_then(Value::as_i64).and_then(release_of_hip),
        profiler_options: OPTIONS.iter().filter(|name| is_on(member(name))).map(ToString::to_string).collect(),
        environment_rank: merged_rank.or(rank),
        world_size: of_job("world_size").filter(|size| *size > 0),
        is_merged: !capture.label.is_empty(),
        work_key: work_key(capture),
        callers: capture.census.callers.len(),
        agents: agents(capture, member("deviceProperties")),
        ..ProcessFacts::default()
    })
}

/// Whether an option was given: older versions write 0 for others.
fn is_on(option: Option<&Value>) -> bool {
    option.is_some_and(|value| value.as_bool().unwrap_or(value.as_i64() == Some(1)))
}

/// The release of ROCm with a version of HIP as a number, in which 7.2.5 is 70200005.
fn release_of_hip(version: i64) -> Option<String> {
    let (major, minor) = (version / 10_000_000, version / 100_000 % 100);
    (1..100).contains(&major).then(|| format!("{major}.{minor}"))
}

/// The key that a trace and the same trace in a merged file share: programs that merge traces keep work and its durations.
fn work_key(capture: &Capture) -> Option<String> {
    let work = capture.census.work;
    (work.activities > 0).then(|| format!("{}/{}", work.activities, work.duration_ns))
}

/// A hash of the number of events and of the bytes at both ends.
fn content_hash(capture: &Capture) -> Result<String> {
    let length = capture.file.length()?;
    let mut bytes = Vec::new();
    capture.file.read(0, length.min(HASHED_BYTES), &mut bytes)?;
    capture.file.read(length.saturating_sub(HASHED_BYTES), length, &mut bytes)?;
    bytes.extend(length.to_le_bytes());
    bytes.extend(capture.count(Role::Kernel, Keep::All).to_le_bytes());
    bytes.extend(capture.label.as_bytes());
    Ok(format!("{:016x}", fnv1a(&bytes)))
}

/// The listed GPUs if all GPUs that worked are listed, otherwise the GPUs that worked. Device numbers of HIP count the CPUs of the node
/// first, but the list counts only GPUs. So the properties listed for a number may belong to another GPU; they are used only if all GPUs
/// are alike.
fn agents(capture: &Capture, listed: Option<&Value>) -> Vec<AgentFacts> {
    let mut listed: Vec<AgentFacts> =
        listed.and_then(Value::as_array).into_iter().flatten().filter_map(agent).collect();
    // A merged file has the list of each rank.
    let mut seen = BTreeSet::new();
    listed.retain(|agent| seen.insert(agent.agent_id));
    let mut worked = capture.census.devices.clone();
    worked.extend(capture.memory_devices().into_values());
    let is_listed = |device: &i64| listed.iter().any(|agent| agent.agent_id == *device);
    if worked.iter().all(is_listed) && !listed.is_empty() {
        return listed;
    }
    let numbered = |agent: &AgentFacts, device: i64| AgentFacts {
        agent_id: device,
        absolute_index: Some(device),
        type_index: Some(device),
        ..agent.clone()
    };
    let alike = listed.first().filter(|first| listed.iter().all(|agent| numbered(agent, first.agent_id) == **first));
    let of_device = |device: i64| alike.map_or_else(|| numbered_gpu(device), |agent| numbered(agent, device));
    worked.into_iter().map(of_device).collect()
}

fn agent(properties: &Value) -> Option<AgentFacts> {
    let positive = |name: &str| detail(properties, name).filter(|value| *value > 0);
    let id = detail(properties, "id")?;
    let product = properties.get("name").and_then(Value::as_str).unwrap_or_default();
    let version = (positive("computeMajor").unwrap_or(0), detail(properties, "computeMinor").unwrap_or(0));
    Some(AgentFacts {
        name: architecture(product, version),
        product_name: Some(product.to_owned()).filter(|name| !name.is_empty()),
        cu_count: positive("numSms"),
        wave_size: positive("warpSize"),
        lds_bytes: positive("maxSharedMemoryPerMultiProcessor"),
        mem_bytes: positive("totalGlobalMem"),
        ..numbered_gpu(id)
    })
}

/// The architecture of a GPU by its product name and compute capability. The capability of HIP omits the last digit of the architecture.
fn architecture(product: &str, (major, minor): (i64, i64)) -> String {
    let contains = |names: &[&str]| names.iter().any(|name| product.contains(name));
    match (major, minor) {
        _ if product.starts_with("gfx") => product.to_owned(),
        (0, _) => "unknown".to_owned(),
        _ if contains(&["NVIDIA", "Tesla", "GeForce", "Quadro"]) => format!("sm_{major}{minor}"),
        (9, 4) => "gfx942".to_owned(),
        (9, 5) => "gfx950".to_owned(),
        (9, 0) if contains(&["MI210", "MI250"]) => "gfx90a".to_owned(),
        (9, 0) if contains(&["MI100"]) => "gfx908".to_owned(),
        _ => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::architecture;

    #[test]
    fn architectures() {
        for (product, version, name) in [
            ("AMD Instinct MI300X", (9, 4), "gfx942"),
            ("", (9, 4), "gfx942"),
            ("AMD Instinct MI350X", (9, 5), "gfx950"),
            ("AMD Instinct MI210", (9, 0), "gfx90a"),
            ("NVIDIA H100 80GB HBM3", (9, 0), "sm_90"),
            ("AMD Radeon Graphics", (9, 0), "unknown"),
            ("gfx942", (0, 0), "gfx942"),
            ("", (0, 0), "unknown"),
        ] {
            assert_eq!(architecture(product, version), name, "{product}");
        }
    }
}
