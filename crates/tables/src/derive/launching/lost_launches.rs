//! Calls that launched kernels without a record.
//!
//! Launches into a stream that is captured run nothing. If calls nest, as in a runtime and its driver, any of them may have the id of the
//! kernel. Launches whose kernels are recorded show which ids are recorded at all.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::DataFrame;

use crate::columns::frames::values_by_text;
use crate::columns::values::{BoolValues, FrameValues};
use crate::derive::launching::launching_calls::no_calls;

/// Role of a call in launching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LaunchKind {
    Kernel,
    Graph,
    CaptureBegins,
    CaptureEnds,
}

impl LaunchKind {
    fn from_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let has = |part: &str| name.contains(part);
        if has("graphlaunch") {
            Some(Self::Graph)
        } else if has("begincapture") {
            Some(Self::CaptureBegins)
        } else if has("endcapture") {
            Some(Self::CaptureEnds)
        } else {
            (has("launchkernel") || has("launchcooperative") || has("launchbyptr")).then_some(Self::Kernel)
        }
    }
}

/// A call without a recorded kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LostLaunch {
    /// Its row in `regions`.
    pub row: usize,
    pub tid: Option<i64>,
    pub start_ns: i64,
}

/// Correlation ids of the work on the GPUs of a process.
#[derive(Debug, Default)]
pub(crate) struct RecordedWork {
    /// Ids of kernels and copies.
    ids: Vec<i64>,
    /// Ids of kernels.
    of_kernels: Vec<i64>,
    /// Number of kernels without an id.
    without_id: usize,
}

impl RecordedWork {
    /// Adds rows of `kernels` or `memory_copies`.
    ///
    /// # Errors
    /// When a column is missing.
    pub fn add(&mut self, work: &DataFrame, are_kernels: bool) -> Result<()> {
        let ids = work.column("correlation_id")?.i64()?;
        let known = || ids.iter().flatten().filter(|id| *id != 0);
        self.ids.extend(known());
        if are_kernels {
            let before = self.of_kernels.len();
            self.of_kernels.extend(known());
            self.without_id += ids.len() - (self.of_kernels.len() - before);
        }
        Ok(())
    }
}

/// The launches of one process.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LostLaunches {
    /// Launches without a recorded kernel, by their starts.
    pub lost: Vec<LostLaunch>,
    /// Number of launches of a kind (kernel or graph) for which some launch has its kernels.
    pub launches: usize,
    /// Number of kernels without a known launch: they may belong to as many of the lost launches.
    pub unclaimed: usize,
}

/// A launch, or several nested calls that form one.
#[derive(Clone, Copy, Debug)]
struct Launch {
    kind: LaunchKind,
    call: LostLaunch,
    end_ns: i64,
    has_work: bool,
}

/// The columns of `regions` that it reads.
pub const COLUMNS: &[&str] = &["correlation_id", "domain", "end_ns", "name", "start_ns", "tid", "valid"];

impl LostLaunches {
    /// Finds the lost launches among `regions`, which has [`COLUMNS`], by the recorded work.
    ///
    /// # Errors
    /// When a column is missing.
    pub fn find(regions: &DataFrame, recorded: &RecordedWork) -> Result<Self> {
        let kinds = values_by_text(regions.column("name")?, LaunchKind::from_name)?;
        if recorded.of_kernels.is_empty() || !kinds.iter().flatten().any(Option::is_some) {
            return Ok(Self::default());
        }
        let mut work = recorded.ids.clone();
        work.sort_unstable();
        let [ids, tids, starts, ends] = regions.integers(["correlation_id", "tid", "start_ns", "end_ns"])?;
        let valid = regions.truths("valid")?.are_true();
        let no_call = BoolValues::new(&no_calls(regions)?).are_true();
        let mut captures = Captures::default();
        let mut calls = Vec::new();
        for (row, kind) in kinds.iter().enumerate().filter_map(|(row, kind)| Some((row, (*kind)??))) {
            let (Some(start_ns), Some(end_ns)) = (starts.get(row), ends.get(row)) else { continue };
            if valid.get(row) != Some(true) || no_call.get(row) == Some(true) {
                continue;
            }
            let call = LostLaunch { row, tid: tids.get(row), start_ns };
            match (kind, ids.get(row).filter(|id| *id != 0)) {
                (LaunchKind::CaptureBegins, _) => captures.add(call.tid, start_ns, 1),
                (LaunchKind::CaptureEnds, _) => captures.add(call.tid, end_ns, -1),
                // A call without an id cannot be judged.
                (_, None) => {}
                (kind, Some(id)) => {
                    calls.push(Launch { kind, call, end_ns, has_work: work.binary_search(&id).is_ok() });
                }
            }
        }
        captures.sort();
        let mut found = Self::judge(joined(calls), &captures);
        if !found.lost.is_empty() {
            let mut of_calls: Vec<i64> = ids.iter().flatten().collect();
            of_calls.sort_unstable();
            let is_unclaimed = |id: &&i64| of_calls.binary_search(id).is_err();
            found.unclaimed = recorded.without_id + recorded.of_kernels.iter().filter(is_unclaimed).count();
            if found.unclaimed >= found.lost.len() {
                found.lost.clear();
            }
        }
        Ok(found)
    }

    fn judge(launches: Vec<Launch>, captures: &Captures) -> Self {
        let runs = |launch: &Launch| launch.has_work || !captures.are_open(launch.call.tid, launch.call.start_ns);
        let mut found = Self::default();
        for kind in [LaunchKind::Kernel, LaunchKind::Graph] {
            let of_kind = || launches.iter().filter(|launch| launch.kind == kind && runs(launch));
            if of_kind().any(|launch| launch.has_work) {
                found.launches += of_kind().count();
                found.lost.extend(of_kind().filter(|launch| !launch.has_work).map(|launch| launch.call));
            }
        }
        found.lost.sort_unstable_by_key(|call| (call.start_ns, call.row));
        found
    }

    /// Whether a launch between two times has no recorded kernel, on a thread if that is known.
    pub(crate) fn any_between(&self, after_ns: i64, until_ns: i64, tid: Option<i64>) -> bool {
        let first = self.lost.partition_point(|call| call.start_ns <= after_ns);
        let later = self.lost.get(first..).unwrap_or_default();
        let is_of_thread = |call: &LostLaunch| call.tid.is_none() || tid.is_none() || call.tid == tid;
        later.iter().take_while(|call| call.start_ns <= until_ns).any(is_of_thread)
    }
}

/// Joins nested calls of a thread: keeps the outermost, with whether any of them has work.
fn joined(mut calls: Vec<Launch>) -> Vec<Launch> {
    calls.sort_unstable_by_key(|one| (one.call.tid, one.call.start_ns, Reverse(one.end_ns), one.call.row));
    let mut launches: Vec<Launch> = Vec::with_capacity(calls.len());
    for call in calls {
        match launches.last_mut() {
            Some(outer)
                if outer.call.tid == call.call.tid
                    && call.call.tid.is_some()
                    && call.end_ns <= outer.end_ns
                    && call.call.start_ns < outer.end_ns =>
            {
                outer.has_work |= call.has_work;
            }
            _ => launches.push(call),
        }
    }
    launches
}

/// Stream captures, by thread.
#[derive(Debug, Default)]
struct Captures(BTreeMap<Option<i64>, Vec<(i64, i64)>>);

impl Captures {
    fn add(&mut self, tid: Option<i64>, time_ns: i64, change: i64) {
        self.0.entry(tid).or_default().push((time_ns, change));
    }

    /// Sorts changes, and replaces each by the number of open captures after it.
    fn sort(&mut self) {
        for changes in self.0.values_mut() {
            changes.sort_unstable();
            let mut open = 0;
            for (_, change) in changes {
                open = (open + *change).max(0);
                *change = open;
            }
        }
    }

    fn are_open(&self, tid: Option<i64>, time_ns: i64) -> bool {
        let Some(changes) = self.0.get(&tid) else { return false };
        let before = changes.partition_point(|(time, _)| *time <= time_ns);
        before.checked_sub(1).and_then(|last| changes.get(last)).is_some_and(|(_, open)| *open > 0)
    }
}

#[cfg(test)]
mod tests {
    use polars::prelude::*;

    use super::*;
    use crate::columns::frames::categorical;

    /// A call of domain `hip`: name, thread, id, start and end.
    type Call = (&'static str, i64, i64, i64, i64);

    fn regions(calls: &[Call]) -> DataFrame {
        let integers = |value: &dyn Fn(&Call) -> i64| calls.iter().map(value).collect::<Vec<_>>();
        let names: Vec<&str> = calls.iter().map(|call| call.0).collect();
        let mut frame = df!(
            "tid" => integers(&|call| call.1),
            "correlation_id" => integers(&|call| call.2),
            "start_ns" => integers(&|call| call.3),
            "end_ns" => integers(&|call| call.4),
            "valid" => vec![true; calls.len()],
        )
        .unwrap();
        for (name, values) in [("domain", vec!["hip"; calls.len()]), ("name", names)] {
            let column = Series::new(name.into(), values).cast(&categorical()).unwrap();
            frame.with_column(column.into_column()).unwrap();
        }
        frame
    }

    fn found(calls: &[Call], work: &[i64]) -> (Vec<usize>, usize) {
        let mut recorded = RecordedWork::default();
        recorded.add(&df!("correlation_id" => work).unwrap(), true).unwrap();
        let found = LostLaunches::find(&regions(calls), &recorded).unwrap();
        (found.lost.iter().map(|call| call.row).collect(), found.launches)
    }

    #[test]
    fn launches_without_kernels_are_lost() {
        let calls = [
            ("hipLaunchKernel", 1, 10, 100, 110),
            ("hipExtModuleLaunchKernel", 1, 11, 120, 130),
            ("hipMemcpyAsync", 1, 12, 140, 150),
            ("hipLaunchHostFunc", 1, 13, 160, 170),
            ("cudaLaunchKernelExC", 2, 14, 100, 110),
        ];
        assert_eq!(found(&calls, &[10, 12]), (vec![4, 1], 3));
        // Without ids or any record, other checks report it.
        assert_eq!(found(&calls, &[99]), (vec![], 0));
        assert_eq!(found(&calls, &[]), (vec![], 0));
    }

    #[test]
    fn kernels_of_no_launch_may_be_those_of_the_lost_ones() {
        let calls: Vec<_> = (1..=5).map(|id| ("hipLaunchKernel", 1, id, id * 10, id * 10 + 5)).collect();
        assert_eq!(found(&calls, &[1, 2, 3]), (vec![3, 4], 5));
        assert_eq!(found(&calls, &[1, 2, 3, 77]), (vec![3, 4], 5));
        assert_eq!(found(&calls, &[1, 2, 3, 77, 0]), (vec![], 5));
    }

    #[test]
    fn calls_in_calls_are_one_launch() {
        let calls = [
            ("cudaLaunchKernel", 1, 20, 100, 200),
            ("cuLaunchKernel", 1, 21, 110, 190),
            ("cudaLaunchKernel", 1, 22, 300, 400),
            ("cuLaunchKernel", 1, 23, 310, 390),
            ("cudaLaunchKernel", 2, 24, 310, 390),
        ];
        assert_eq!(found(&calls, &[20, 23]), (vec![4], 3));
    }

    #[test]
    fn what_is_captured_runs_with_its_graph() {
        let calls = [
            ("hipLaunchKernel", 1, 1, 10, 20),
            ("hipStreamBeginCapture", 1, 2, 100, 110),
            ("hipLaunchKernel", 1, 3, 120, 130),
            ("hipLaunchKernel", 2, 4, 120, 130),
            ("hipStreamEndCapture", 1, 5, 140, 150),
            ("hipLaunchKernel", 1, 6, 160, 170),
            ("hipGraphLaunch", 1, 7, 180, 190),
            ("hipGraphLaunch", 1, 8, 200, 210),
        ];
        assert_eq!(found(&calls, &[1, 7]), (vec![3, 5, 7], 5));
        // No kernel of these graphs has the id of its launch.
        assert_eq!(found(&calls, &[1]), (vec![3, 5], 3));
    }

    #[test]
    fn launches_between_two_times() {
        let lost = [(1, 50), (2, 80)].map(|(tid, start_ns)| LostLaunch { row: 0, tid: Some(tid), start_ns });
        let launches = LostLaunches { lost: lost.to_vec(), launches: 9, unclaimed: 0 };
        assert!(launches.any_between(40, 60, Some(1)) && launches.any_between(40, 90, None));
        assert!(!launches.any_between(50, 79, None) && !launches.any_between(40, 60, Some(2)));
        assert!(!launches.any_between(81, 90, None));
    }
}
