//! Ids and names in the rows of a file, by process, gathered in one pass.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::columns::Col;
use super::kinds::RecordKind;
use super::rows::UnderstoodRow;
use crate::common::{DispatchRun, DispatchRuns};
use wavesieve_model::schema::domain::domain_of_category;

/// The identity of a row's process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RowKey {
    /// Id of the capture.
    Guid(String),
    Pid(i64),
    /// Only a thread, or no identity at all.
    Thread(Option<i64>),
}

/// A kernel, from its first row; the name is from the first row that has one.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// Name as written.
    pub name: Option<String>,
    /// Vector, accumulation and scalar registers, LDS, scratch memory.
    pub numbers: [Option<i64>; 5],
}

/// The use of an agent in rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AgentUse {
    /// It runs kernels or is the device side of a copy.
    pub as_gpu: bool,
    /// It is the host side of a copy.
    pub as_cpu: bool,
}

/// Ids and names in rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Census {
    pub rows: BTreeMap<RecordKind, u64>,
    /// Calls without a length.
    pub marks: u64,
    pub threads: BTreeSet<i64>,
    pub queues: BTreeSet<i64>,
    pub streams: BTreeSet<i64>,
    pub pids: BTreeSet<i64>,
    /// Codes of agent labels.
    pub agents: BTreeMap<i64, AgentUse>,
    /// Kernels with an id.
    pub kernels: BTreeMap<i64, Kernel>,
    /// Kernels without an id, by name.
    pub unnumbered: BTreeMap<String, Kernel>,
    /// Runs of the dispatches with counters.
    pub runs: DispatchRuns,
}

impl Census {
    pub fn rows(&self, kind: RecordKind) -> u64 {
        self.rows.get(&kind).copied().unwrap_or(0)
    }

    pub fn add(&mut self, kind: RecordKind, row: &UnderstoodRow<'_>) {
        *self.rows.entry(kind).or_insert(0) += 1;
        if kind == RecordKind::Calls {
            self.marks += u64::from(!has_length(row));
        }
        self.threads.extend(thread(kind, row));
        self.queues.extend(row.number(Col::Queue));
        self.streams.extend(row.number(Col::Stream));
        self.pids.extend(row.number(Col::ProcessId));
        self.add_agents(kind, row);
        if matches!(kind, RecordKind::Kernels | RecordKind::Counters) {
            self.add_kernel(row);
        }
        if kind == RecordKind::Counters {
            self.runs.add(row.number(Col::Dispatch), run(row));
        }
    }

    fn add_agents(&mut self, kind: RecordKind, row: &UnderstoodRow<'_>) {
        if let Some(agent) = row.number(Col::Agent) {
            let is_scratch = kind == RecordKind::Allocations && is_scratch(row);
            let runs = !matches!(kind, RecordKind::Allocations | RecordKind::Copies | RecordKind::Calls);
            self.agents.entry(agent).or_default().as_gpu |= runs || is_scratch;
        }
        if kind == RecordKind::Copies {
            let direction = row.text(Col::Direction).unwrap_or_default().to_ascii_uppercase();
            let (from, to) = direction.split_once("_TO_").unwrap_or_default();
            for (column, place) in [(Col::SourceAgent, from), (Col::DestinationAgent, to)] {
                if let Some(agent) = row.number(column) {
                    let used = self.agents.entry(agent).or_default();
                    used.as_gpu |= place.ends_with("DEVICE");
                    used.as_cpu |= place.ends_with("HOST");
                }
            }
        }
    }

    fn add_kernel(&mut self, row: &UnderstoodRow<'_>) {
        let kernel = || {
            // The output of rocpd convert has the LDS and scratch memory of the dispatch, not of the symbol.
            let of_symbol = row.text(Col::Guid).is_none();
            let size = |column: Col| row.number(column).filter(|_| of_symbol);
            let numbers = [
                row.number(Col::Vgpr),
                row.number(Col::AccumVgpr),
                row.number(Col::Sgpr),
                size(Col::Lds),
                size(Col::Scratch),
            ];
            Kernel { name: row.text(Col::KernelName).map(Cow::into_owned), numbers }
        };
        if let Some(id) = row.number(Col::KernelId) {
            let known = self.kernels.entry(id).or_insert_with(kernel);
            if known.name.is_none() {
                known.name = row.text(Col::KernelName).map(Cow::into_owned);
            }
        } else if let Some(name) = row.text(Col::KernelName)
            && !self.unnumbered.contains_key(name.as_ref())
        {
            self.unnumbered.insert(name.into_owned(), kernel());
        }
    }

    /// Adds the content of another census.
    pub fn absorb(&mut self, other: Self) {
        for (kind, rows) in other.rows {
            *self.rows.entry(kind).or_insert(0) += rows;
        }
        self.marks += other.marks;
        self.runs.absorb(other.runs);
        self.threads.extend(other.threads);
        self.queues.extend(other.queues);
        self.streams.extend(other.streams);
        self.pids.extend(other.pids);
        for (agent, used) in other.agents {
            let known = self.agents.entry(agent).or_default();
            known.as_gpu |= used.as_gpu;
            known.as_cpu |= used.as_cpu;
        }
        for (id, kernel) in other.kernels {
            let name = kernel.name.clone();
            let known = self.kernels.entry(id).or_insert(kernel);
            known.name = known.name.take().or(name);
        }
        for (name, kernel) in other.unnumbered {
            self.unnumbered.entry(name).or_insert(kernel);
        }
    }
}

/// The process of a row, if the row identifies it.
pub fn key(row: &UnderstoodRow<'_>) -> RowKey {
    if let Some(guid) = row.text(Col::Guid) {
        return RowKey::Guid(guid.into_owned());
    }
    match row.number(Col::ProcessId) {
        Some(pid) => RowKey::Pid(pid),
        None => RowKey::Thread(row.number(Col::ThreadId)),
    }
}

/// The dispatch run of a row.
fn run(row: &UnderstoodRow<'_>) -> DispatchRun {
    DispatchRun { replay: row.number(Col::ReplayPass), start: row.number(Col::Start), end: row.number(Col::End) }
}

/// Whether a call has a length; a call without one is an instant.
pub(crate) fn has_length(row: &UnderstoodRow<'_>) -> bool {
    row.number(Col::Start) != row.number(Col::End)
}

/// Whether an allocation is scratch memory.
pub fn is_scratch(row: &UnderstoodRow<'_>) -> bool {
    let names_it = |column: Col| row.text(column).is_some_and(|text| text.to_ascii_uppercase().contains("SCRATCH"));
    names_it(Col::Kind) || names_it(Col::Operation)
}

/// Whether a row is a marker of the whole process: such a range has no thread.
pub fn is_process_range(row: &UnderstoodRow<'_>) -> bool {
    let is_marker = || row.text(Col::Domain).is_some_and(|domain| domain_of_category(&domain) == "marker");
    row.number(Col::ThreadId) == Some(0) && is_marker()
}

pub fn thread(kind: RecordKind, row: &UnderstoodRow<'_>) -> Option<i64> {
    row.number(Col::ThreadId).filter(|_| kind != RecordKind::Calls || !is_process_range(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_file_may_have_the_name_of_a_kernel() {
        let census = |name: Option<&str>| {
            let kernel = Kernel { name: name.map(str::to_owned), ..Kernel::default() };
            Census { kernels: [(7, kernel)].into(), ..Census::default() }
        };
        for (first, second, expected) in
            [(None, Some("b"), Some("b")), (Some("a"), Some("b"), Some("a")), (Some("a"), None, Some("a"))]
        {
            let mut all = census(first);
            all.absorb(census(second));
            assert_eq!(all.kernels[&7].name.as_deref(), expected);
        }
    }
}
