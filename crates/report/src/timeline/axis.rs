//! The common axis of all processes, and their groups of lanes.

use std::collections::{BTreeMap, BTreeSet};

use super::columns::Extent;
use super::model::LaneGroup;
use super::record::{ProcessRecord, Records};

/// The axis of a picture.
#[derive(Clone, Debug, Default)]
pub(super) struct Axis {
    /// Time 0 of each clock.
    zeros: BTreeMap<i64, i64>,
    /// Length of the run.
    pub span_ns: i64,
}

impl Axis {
    /// From the first to the last event. Clocks that cannot be compared start at the same place.
    pub(super) fn new(records: &Records) -> Self {
        let mut extents: BTreeMap<i64, Extent> = BTreeMap::new();
        for record in records.processes.values() {
            let Some(extent) = record.extent else { continue };
            let own = Extent {
                start_ns: extent.start_ns.saturating_add(record.offset_ns),
                end_ns: extent.end_ns.saturating_add(record.offset_ns),
            };
            extents.entry(record.clock).and_modify(|known| *known = known.with(own)).or_insert(own);
        }
        let span_ns = extents.values().map(|extent| extent.length_ns()).max().unwrap_or(0).max(1);
        Self { zeros: extents.into_iter().map(|(clock, extent)| (clock, extent.start_ns)).collect(), span_ns }
    }

    /// How many clocks there are that cannot be compared.
    pub(super) fn clocks(&self) -> usize {
        self.zeros.len()
    }

    /// Time 0 on the clock of the first process.
    pub(super) fn origin_ns(&self) -> i64 {
        self.zeros.values().next().copied().unwrap_or(0)
    }

    /// To be added to a time of a process.
    pub(super) fn shift_ns(&self, record: &ProcessRecord) -> i64 {
        record.offset_ns.saturating_sub(self.zeros.get(&record.clock).copied().unwrap_or(0))
    }

    /// A part of the time of a process on the axis, within the run.
    pub(super) fn place(&self, record: &ProcessRecord, time: Extent) -> (i64, i64) {
        let shift_ns = self.shift_ns(record);
        let at = |time_ns: i64| time_ns.saturating_add(shift_ns).clamp(0, self.span_ns);
        (at(time.start_ns), at(time.end_ns))
    }
}

/// Groups of lanes by process and GPU.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    /// Ids by process.
    stems: BTreeMap<i64, String>,
    prefix: &'static str,
}

impl Groups {
    /// Groups of these processes. `prefix` is that of a side of a comparison.
    pub(super) fn new(records: &Records, prefix: &'static str) -> Self {
        let mut of_rank: BTreeMap<i64, usize> = BTreeMap::new();
        for record in records.processes.values() {
            *of_rank.entry(record.rank).or_default() += 1;
        }
        let stem = |record: &ProcessRecord| match of_rank.get(&record.rank) {
            Some(1) | None => format!("{prefix}r{}", record.rank),
            Some(_) => format!("{prefix}r{}p{}", record.rank, record.process),
        };
        let stems = records.processes.values().map(|record| (record.process, stem(record))).collect();
        Self { stems, prefix }
    }

    /// Id of the group of a GPU, or of the host.
    pub(super) fn id(&self, process: i64, gpu: Option<i64>) -> String {
        let stem = self.stems.get(&process).map_or(self.prefix, String::as_str);
        gpu.map_or_else(|| stem.to_owned(), |gpu| format!("{stem}g{gpu}"))
    }

    /// Id of the group that sums up GPUs.
    pub(super) fn others(&self) -> String {
        format!("{}others", self.prefix)
    }

    /// All groups of these processes, each with its GPUs and the host.
    pub(super) fn all(
        &self,
        records: &Records,
        wanted: &BTreeSet<String>,
        side: Option<&'static str>,
    ) -> Vec<LaneGroup> {
        let mut groups = Vec::new();
        for record in records.processes.values() {
            let gpus = record.gpus.iter().map(|gpu| Some(gpu.gpu)).chain([None]);
            for gpu in gpus {
                let id = self.id(record.process, gpu);
                if wanted.contains(&id) {
                    let label = gpu_label(record.rank, gpu);
                    groups.push(LaneGroup { id, label, rank: record.rank, gpu, side });
                }
            }
        }
        groups
    }
}

/// `rank 0 GPU 1`, or `rank 0, host`.
pub(super) fn gpu_label(rank: i64, gpu: Option<i64>) -> String {
    gpu.map_or_else(|| format!("rank {rank}, host"), |gpu| format!("rank {rank} GPU {gpu}"))
}
