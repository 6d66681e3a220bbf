//! Activity of a thread between the calls that launch or wait.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::rows_named;
use crate::columns::values::{BoolValues, FrameValues};
use wavesieve_model::analysis::api_classes::ApiClasses;
use wavesieve_model::analysis::intervals::Interval;
use wavesieve_model::analysis::ranges::innermost::{Range, innermost};

/// The innermost calls of some threads in some intervals.
pub(crate) struct HostIntervals {
    threads: BTreeMap<Option<i64>, Thread>,
}

#[derive(Default)]
struct Thread {
    first_ns: Option<i64>,
    calls: Vec<Range>,
}

/// Kind of a piece of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Inside the call with this row of `regions`.
    Call(u32),
    /// Outside of all calls.
    Outside,
    /// Before the first call of the thread.
    Before,
}

impl HostIntervals {
    /// Finds the calls in the intervals of each thread, which are sorted.
    pub fn new(regions: &DataFrame, gaps: &BTreeMap<Option<i64>, Vec<Interval>>) -> Result<Self> {
        let tids = regions.integer("tid")?;
        let facts = ApiClasses::builtin();
        let annotations = rows_named(regions.column("domain")?, |domain| facts.annotates(domain))?;
        let annotations = BoolValues::new(&annotations).are_true();
        let mut threads: BTreeMap<Option<i64>, Thread> = gaps.keys().map(|tid| (*tid, Thread::default())).collect();
        for (row, [start_ns, end_ns]) in regions.valid_rows(["start_ns", "end_ns"])? {
            let tid = tids.get(row as usize);
            let is_call = annotations.get(row as usize) != Some(true);
            let known = threads.get_mut(&tid).zip(gaps.get(&tid)).filter(|_| is_call);
            let Some((thread, gaps)) = known else { continue };
            thread.first_ns = Some(thread.first_ns.map_or(start_ns, |first_ns| first_ns.min(start_ns)));
            let next = gaps.partition_point(|gap| gap.end_ns <= start_ns);
            if gaps.get(next).is_some_and(|gap| gap.start_ns < end_ns) {
                thread.calls.push(Range { time: Interval::new(start_ns, end_ns), row });
            }
        }
        for thread in threads.values_mut() {
            thread.calls = innermost(std::mem::take(&mut thread.calls));
        }
        Ok(Self { threads })
    }

    /// The pieces of an interval, in order and without gaps.
    pub fn pieces(&self, tid: Option<i64>, gap: Interval) -> Vec<(Interval, Piece)> {
        let Some(thread) = self.threads.get(&tid) else { return vec![(gap, Piece::Outside)] };
        let first_ns = thread.first_ns.unwrap_or(gap.end_ns).clamp(gap.start_ns, gap.end_ns);
        let mut pieces = vec![(Interval::new(gap.start_ns, first_ns), Piece::Before)];
        let mut reached_ns = first_ns;
        let from = thread.calls.partition_point(|call| call.time.end_ns <= first_ns);
        let inside = thread.calls.iter().skip(from).take_while(|call| call.time.start_ns < gap.end_ns);
        for call in inside {
            let time = Interval::new(call.time.start_ns.max(reached_ns), call.time.end_ns.min(gap.end_ns));
            pieces.push((Interval::new(reached_ns, time.start_ns), Piece::Outside));
            pieces.push((time, Piece::Call(call.row)));
            reached_ns = time.end_ns;
        }
        pieces.push((Interval::new(reached_ns, gap.end_ns), Piece::Outside));
        pieces.retain(|(time, _)| !time.is_empty());
        pieces
    }
}
