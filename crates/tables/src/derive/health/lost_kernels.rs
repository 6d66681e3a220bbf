//! Launches without their kernels, and graph replays that lack kernels.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::DataFrame;

use crate::columns::values::{FrameValues, I64Values};
use crate::derive::launching::lost_launches::{COLUMNS, LostLaunches, RecordedWork};
use wavesieve_model::schema::anomaly::{Anomaly, Severity};

/// The launches and recorded kernels of one process.
#[derive(Default)]
pub(crate) struct LostKernels {
    work: RecordedWork,
    kernels: usize,
    /// Kernels of each replay, by graph and correlation id.
    replays: BTreeMap<(i64, i64), i64>,
    calls: Vec<DataFrame>,
}

impl LostKernels {
    /// Adds rows of `kernels`.
    pub(crate) fn add_kernels(&mut self, kernels: &DataFrame) -> Result<()> {
        self.kernels += kernels.height();
        let graphs = kernels.column("graph_exec_id")?;
        if graphs.null_count() < graphs.len() {
            let graphs = I64Values::new(graphs.i64()?);
            let ids = kernels.integer("correlation_id")?;
            for (graph, id) in graphs.iter().zip(ids.iter()).filter_map(|(graph, id)| Some((graph?, id?))) {
                if graph != 0 && id != 0 {
                    *self.replays.entry((graph, id)).or_default() += 1;
                }
            }
        }
        self.work.add(kernels, true)
    }

    /// Adds rows of `memory_copies`.
    pub(crate) fn add_copies(&mut self, copies: &DataFrame) -> Result<()> {
        self.work.add(copies, false)
    }

    /// Adds rows of `regions`.
    pub fn add_calls(&mut self, regions: &DataFrame) {
        let columns: Vec<_> = COLUMNS.iter().chain(&["region_id"]).copied().collect();
        self.calls.extend(regions.select(columns));
    }

    /// The lost launches. Another check reports traces without kernels.
    ///
    /// # Errors
    /// When a table lacks a column, which is a defect.
    pub fn check(self) -> Result<Vec<Anomaly>> {
        let mut found = Vec::new();
        if self.kernels == 0 {
            return Ok(found);
        }
        let note = |count: usize, first: Option<i64>, detail: String| {
            Anomaly::new("lost_kernels", Severity::Warning, "kernels", count, detail).first(first)
        };
        for calls in &self.calls {
            let launches = LostLaunches::find(calls, &self.work)?;
            let lost = launches.lost.len().saturating_sub(launches.unclaimed);
            let all = launches.launches;
            if lost > 0 {
                let keys = calls.column("region_id")?.i64()?;
                let first = launches.lost.iter().filter_map(|call| keys.get(call.row)).min();
                let detail = format!(
                    "{lost} of {all} launches have no recorded kernel; GPU time is higher by what they took, and idle time next to them has \
                     no known cause"
                );
                found.push(note(lost, first, detail));
            }
        }
        let (replays, kernels, first) = self.incomplete();
        if replays > 0 {
            let detail =
                format!("{replays} graph replays lack {kernels} kernels that most replays of their graph have");
            found.push(note(replays, first, detail));
        }
        Ok(found)
    }

    /// Replays with fewer kernels than most replays of their graph, the kernels that they lack, and the first of their correlation ids.
    fn incomplete(&self) -> (usize, i64, Option<i64>) {
        let mut graphs: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
        for ((graph, id), kernels) in &self.replays {
            graphs.entry(*graph).or_default().push((*id, *kernels));
        }
        let (mut replays, mut lacking, mut first) = (0, 0, None);
        for counts in graphs.values() {
            let mut often: BTreeMap<i64, usize> = BTreeMap::new();
            counts.iter().for_each(|(_, kernels)| *often.entry(*kernels).or_default() += 1);
            let Some((usual, times)) = often.iter().max_by_key(|(kernels, times)| (**times, **kernels)) else {
                continue;
            };
            if *times * 2 <= counts.len() {
                continue;
            }
            for (id, kernels) in counts.iter().filter(|(_, kernels)| kernels < usual) {
                replays += 1;
                lacking += usual - kernels;
                first = Some(first.map_or(*id, |first: i64| first.min(*id)));
            }
        }
        (replays, lacking, first)
    }
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;

    #[test]
    fn replays_with_fewer_kernels_than_most_lack_some() {
        let mut lost = LostKernels::default();
        let of = |graph: Option<i64>, id: i64, kernels: usize| vec![(graph, id); kernels];
        let rows = [
            of(Some(1), 10, 3),
            of(Some(1), 11, 3),
            of(Some(1), 12, 1),
            of(Some(1), 13, 3),
            // Two counts are equally frequent: none is usual.
            of(Some(2), 20, 4),
            of(Some(2), 21, 2),
            of(None, 30, 1),
        ]
        .concat();
        let graphs: Vec<Option<i64>> = rows.iter().map(|row| row.0).collect();
        let ids: Vec<i64> = rows.iter().map(|row| row.1).collect();
        lost.add_kernels(&df!("graph_exec_id" => graphs, "correlation_id" => ids).unwrap()).unwrap();
        assert_eq!(lost.incomplete(), (1, 2, Some(12)));
        let found = lost.check().unwrap();
        assert_eq!((found.len(), found[0].count, found[0].check_id), (1, 1, "lost_kernels"));
        assert!(found[0].detail.contains("lack 2 kernels"), "{}", found[0].detail);
    }
}
