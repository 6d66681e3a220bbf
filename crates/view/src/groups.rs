//! Groups of lanes: GPUs and hosts of processes.

use std::collections::BTreeMap;

use wavesieve_model::schema;
use wavesieve_model::schema::facts::Role;
use wavesieve_report::timeline::model::LaneGroup;
use wavesieve_tables::trace::Trace;

/// A group with the process behind it.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its id, label and rank.
    pub shown: LaneGroup,
    /// Index of its process in the trace.
    pub member: usize,
}

/// Indexes of the processes of ordinary traces, which a time line shows.
pub fn shown_members(trace: &Trace) -> Vec<usize> {
    let members = trace.members().iter().enumerate();
    members.filter(|(_, member)| member.process.role == Role::Trace).map(|(at, _)| at).collect()
}

/// The groups of a trace: each GPU, then the host of each process. `gpus` has the used GPUs by index of process.
pub fn groups(trace: &Trace, gpus: &BTreeMap<usize, Vec<i64>>) -> Vec<Group> {
    let shown = shown_members(trace);
    let mut of_rank: BTreeMap<i64, usize> = BTreeMap::new();
    for member in shown.iter().filter_map(|at| trace.members().get(*at)) {
        *of_rank.entry(member.process.rank).or_default() += 1;
    }
    let mut groups = Vec::new();
    for at in shown {
        let Some(member) = trace.members().get(at) else { continue };
        let (rank, process) = (member.process.rank, member.process.process);
        let is_only = of_rank.get(&rank) == Some(&1);
        let id = if is_only { format!("r{rank}") } else { format!("r{rank}p{process}") };
        let label = if is_only { format!("rank {rank}") } else { format!("rank {rank} process {process}") };
        let own = gpus.get(&at).map(Vec::as_slice).unwrap_or_default();
        let of_gpu = |gpu: &i64| {
            let (id, label) = (format!("{id}g{gpu}"), format!("{label} GPU {gpu}"));
            Group { shown: LaneGroup { id, label, rank, gpu: Some(*gpu), side: None }, member: at }
        };
        groups.extend(own.iter().map(of_gpu));
        let has_rows = |name: &str| schema::table(name).is_some_and(|table| trace.recorded_rows(member, table) > 0);
        let has_host = own.is_empty() || has_rows("regions") || has_rows("samples");
        if has_host {
            let label = format!("{label} host");
            groups.push(Group { shown: LaneGroup { id, label, rank, gpu: None, side: None }, member: at });
        }
    }
    groups
}
