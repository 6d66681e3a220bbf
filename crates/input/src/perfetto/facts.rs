//! Facts about a process, from its track.

use std::path::Path;

use super::gpus::Agent;
use super::kinds::Writer;
use super::processes::Process;
use super::rows::Field;
use wavesieve_model::schema::facts::{AgentFacts, ProcessFacts};
use wavesieve_model::text::fnv::fnv1a;

/// Words that wavesieve writes before the rank and before the process id.
const RANK: &str = "rank ";
const PID: &str = "pid ";

/// The facts about a process of a file; `number` is its place in the file, which distinguishes processes without rows.
pub fn facts(process: &Process, number: usize, writer: Writer, shown: &str, source: &str) -> ProcessFacts {
    let track = &process.track;
    let own = writer == Writer::Wavesieve;
    let label_pid = track.labels.iter().find_map(|label| label.strip_prefix(PID)?.parse().ok());
    let host = track.labels.iter().find(|label| !label.starts_with(PID)).filter(|_| own).cloned();
    let (rank, program) = match track.name.strip_prefix(RANK).filter(|_| own) {
        Some(name) => {
            let (rank, program) = name.split_once(" · ").unwrap_or((name, ""));
            (rank.parse().ok(), program.to_owned())
        }
        None => (None, track.name.clone()),
    };
    let command = if track.command.is_empty() { program } else { track.command.join(" ") };
    ProcessFacts {
        content_hash: if process.has_rows() { content_hash(process) } else { format!("empty {number}") },
        machine_key: host.clone().unwrap_or_default(),
        hostname: host,
        pid: label_pid.filter(|_| own).or(track.pid).unwrap_or(-1),
        command: Some(command).filter(|command| !command.is_empty()),
        start_ns: track.start_ns,
        path: shown.to_owned(),
        source: source.to_owned(),
        format: super::FORMAT.to_owned(),
        environment_rank: rank,
        agents: process.agents.known.iter().map(|(id, agent)| agent_facts(*id, agent)).collect(),
        ..ProcessFacts::default()
    }
}

/// Whether `other`, of another format, is the same process: it has the same process id and host, and lies below the folder of the trace. If
/// a host is unknown, both must be in the same folder.
pub fn is_same_run(facts: &ProcessFacts, other: &ProcessFacts) -> bool {
    let folder = |path: &str| Path::new(path).parent().map(Path::to_owned).unwrap_or_default();
    let (own, others) = (folder(&facts.path), folder(&other.path));
    let is_near = match (&facts.hostname, &other.hostname) {
        (Some(own_host), Some(other_host)) => own_host == other_host && others.starts_with(&own),
        _ => own == others,
    };
    is_near && facts.pid >= 0 && facts.pid == other.pid
}

/// A hash of the times and numbers of the rows of a process. It does not depend on row order or on other content of the file, because a
/// merged trace has the processes of its parts.
fn content_hash(process: &Process) -> String {
    let mut bytes: Vec<u8> = process.track.name.bytes().collect();
    for word in &process.track.command {
        bytes.extend(word.bytes());
    }
    for rows in process.rows.iter().chain([&process.values]) {
        bytes.extend(rows.height().to_le_bytes());
        let both = rows.column(Field::Start).zip(rows.column(Field::End));
        let sum = both.fold(0_u64, |sum, (start, end)| {
            let times = [start.unwrap_or(0).to_le_bytes(), end.unwrap_or(0).to_le_bytes()].concat();
            sum.wrapping_add(fnv1a(&times))
        });
        bytes.extend(sum.to_le_bytes());
    }
    format!("{:016x}", fnv1a(&bytes))
}

fn agent_facts(id: i64, agent: &Agent) -> AgentFacts {
    let kind = if agent.is_gpu { "GPU" } else { "CPU" };
    AgentFacts {
        agent_id: id,
        agent_type: kind.to_owned(),
        absolute_index: Some(id),
        type_index: agent.gpu,
        name: agent.architecture.clone().unwrap_or_else(|| "unknown".to_owned()),
        ..AgentFacts::default()
    }
}
