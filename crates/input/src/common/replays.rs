//! The passes of dispatches that were run again to collect more counters.

use std::collections::BTreeMap;

/// A run of a dispatch, from a row of its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DispatchRun {
    /// The pass, if the row states it.
    pub replay: Option<i64>,
    /// Start in ns.
    pub start: Option<i64>,
    /// End in ns.
    pub end: Option<i64>,
}

impl DispatchRun {
    fn has_times(&self) -> bool {
        self.start.is_some() || self.end.is_some()
    }
}

/// The runs of each dispatch, in recorded order.
#[derive(Clone, Debug, Default)]
pub(crate) struct DispatchRuns {
    first: BTreeMap<i64, DispatchRun>,
    others: BTreeMap<i64, Vec<DispatchRun>>,
    /// The previous row, which mostly belongs to the same run.
    last: Option<(i64, DispatchRun)>,
}

impl DispatchRuns {
    /// Adds a run, unless it is known. Rows without a dispatch are ignored.
    pub fn add(&mut self, dispatch: Option<i64>, run: DispatchRun) {
        let Some(dispatch) = dispatch else { return };
        if self.last.replace((dispatch, run)) == Some((dispatch, run)) {
            return;
        }
        let first = self.first.entry(dispatch).or_insert(run);
        if *first != run {
            let others = self.others.entry(dispatch).or_default();
            if !others.contains(&run) {
                others.push(run);
            }
        }
    }

    /// Adds the runs of another part.
    pub fn absorb(&mut self, other: Self) {
        self.last = None;
        if self.first.is_empty() {
            *self = other;
            return;
        }
        let others =
            other.others.into_iter().flat_map(|(dispatch, runs)| runs.into_iter().map(move |run| (dispatch, run)));
        for (dispatch, run) in other.first.into_iter().chain(others) {
            self.add(Some(dispatch), run);
        }
    }

    /// The passes that these runs belong to.
    pub fn replays(&self) -> Replays {
        let mut replays = Replays::default();
        for (dispatch, first) in &self.first {
            let others = self.others.get(dispatch).map(Vec::as_slice).unwrap_or_default();
            if others.is_empty() && first.replay.is_none_or(|replay| replay <= 0) {
                continue;
            }
            let mut passes = numbered([first].into_iter().chain(others).copied().collect());
            passes.sort_by_key(|(pass, _)| *pass);
            replays.last = passes.iter().map(|(pass, _)| *pass).fold(replays.last, i64::max);
            replays.of_dispatches.insert(*dispatch, passes);
        }
        replays
    }
}

/// The pass of each run of a dispatch: as stated, otherwise by time.
fn numbered(mut runs: Vec<DispatchRun>) -> Vec<(i64, DispatchRun)> {
    if runs.iter().any(|run| run.replay.is_some()) {
        return runs.into_iter().map(|run| (run.replay.unwrap_or(0).max(0), run)).collect();
    }
    if runs.iter().any(DispatchRun::has_times) {
        runs.retain(DispatchRun::has_times);
    }
    runs.sort_by_key(|run| (run.start, run.end));
    (0..).zip(runs).collect()
}

/// The passes of the dispatches that ran more than once, or whose first run is lost.
#[derive(Clone, Debug, Default)]
pub struct Replays {
    of_dispatches: BTreeMap<i64, Vec<(i64, DispatchRun)>>,
    last: i64,
}

impl Replays {
    /// Whether every dispatch ran once.
    pub fn is_empty(&self) -> bool {
        self.of_dispatches.is_empty()
    }

    /// Whether a dispatch ran more than once, or its first run is lost.
    pub fn has(&self, dispatch: i64) -> bool {
        self.of_dispatches.contains_key(&dispatch)
    }

    /// The highest pass, counted from 0.
    pub fn last(&self) -> i64 {
        self.last
    }

    /// The pass of a row.
    pub fn pass(&self, dispatch: i64, run: DispatchRun) -> i64 {
        if let Some(replay) = run.replay {
            return replay.max(0);
        }
        let passes = self.of_dispatches.get(&dispatch).map(Vec::as_slice).unwrap_or_default();
        let same = passes.iter().find(|(_, known)| known.start == run.start && known.end == run.end);
        same.map_or_else(|| self.first(dispatch), |(pass, _)| *pass)
    }

    /// The lowest recorded pass of a dispatch.
    pub fn first(&self, dispatch: i64) -> i64 {
        self.of_dispatches.get(&dispatch).and_then(|passes| passes.first()).map_or(0, |(pass, _)| *pass)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(replay: Option<i64>, start: i64) -> DispatchRun {
        DispatchRun { replay, start: Some(start), end: Some(start + 10) }
    }

    fn replays(rows: &[(Option<i64>, DispatchRun)]) -> Replays {
        let mut all = DispatchRuns::default();
        for (dispatch, run) in rows {
            // In parts, like the reading of files.
            let mut part = DispatchRuns::default();
            part.add(*dispatch, *run);
            part.add(*dispatch, *run);
            all.absorb(part);
        }
        all.replays()
    }

    #[test]
    fn dispatches_that_run_once_have_no_passes() {
        let once =
            replays(&[(Some(1), run(None, 5)), (Some(2), run(Some(0), 7)), (None, run(None, 9)), (None, run(None, 8))]);
        assert!(once.is_empty());
        assert_eq!((once.last(), once.pass(1, run(None, 5)), once.first(3)), (0, 0, 0));
        // Without times nothing distinguishes the rows of a dispatch.
        let untimed = DispatchRun { replay: None, start: None, end: None };
        assert!(replays(&[(Some(1), untimed), (Some(1), untimed)]).is_empty());
    }

    #[test]
    fn passes_are_as_stated_otherwise_by_time() {
        let stated = replays(&[(Some(1), run(Some(2), 5)), (Some(1), run(Some(0), 7)), (Some(2), run(Some(1), 9))]);
        assert_eq!((stated.last(), stated.first(1), stated.first(2)), (2, 0, 1));
        assert_eq!(stated.pass(1, run(Some(2), 5)), 2);
        // A row of a kernel trace does not state its pass.
        assert_eq!(
            (stated.pass(1, run(None, 5)), stated.pass(1, run(None, 6)), stated.pass(2, run(None, 1))),
            (2, 0, 1)
        );
        let timed = replays(&[(Some(1), run(None, 30)), (Some(1), run(None, 10)), (Some(1), run(None, 20))]);
        assert_eq!([10, 20, 30].map(|start| timed.pass(1, run(None, start))), [0, 1, 2]);
        assert_eq!((timed.last(), timed.first(1)), (2, 0));
    }
}
