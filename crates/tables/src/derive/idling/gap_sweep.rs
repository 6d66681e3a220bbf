//! For each interval without kernels on a GPU, determines the activity of the host.

use std::collections::BTreeMap;

use polars_arrow::bitmap::MutableBitmap;

use crate::derive::idling::call_columns::CallColumns;
use crate::derive::idling::gap_columns::{Gap, GapColumns, GapPart};
use crate::derive::idling::host_pieces::{PiecePlaces, each_piece};
use crate::derive::idling::host_threads::{HostThreads, Thread};
use crate::derive::idling::idle_gaps::Launched;
use crate::derive::launching::launching_calls::{LaunchingCall, LaunchingCalls};
use crate::derive::launching::lost_launches::LostLaunches;
use wavesieve_model::analysis::gpu_time::idle_causes::{Cause, Launch, each_cause};
use wavesieve_model::analysis::gpu_time::idle_intervals::{IdleInterval, Work, each_interval};
use wavesieve_model::analysis::intervals::Interval;
use wavesieve_model::analysis::intervals::gallop::gallop;

/// Lifetime, GPU work and recording pauses of a process.
pub(crate) struct ProcessTimes {
    /// First start to last end of the work of all its GPUs.
    pub span: Interval,
    /// Start of the process, if known.
    pub start_ns: Option<i64>,
    /// End of the process, if known.
    pub end_ns: Option<i64>,
    /// Times at which the recording was stopped, in order and disjoint.
    pub pauses: Vec<Interval>,
}

/// Tables that the sweep fills.
#[derive(Clone, Copy)]
pub(crate) struct SweptTables {
    pub gaps: bool,
    pub calls: bool,
}

/// Data of one process next to the work of each GPU.
pub(crate) struct GapSweep<'a> {
    pub wanted: SweptTables,
    pub times: &'a ProcessTimes,
    pub kernels: Launched,
    /// Launches of the copies.
    pub copies: Launched,
    pub calls: LaunchingCalls,
    /// Calls whose kernels were not recorded; these kernels may have run while a GPU seems idle.
    pub lost: LostLaunches,
    /// Activity of the threads.
    pub threads: &'a HostThreads,
}

impl GapSweep<'_> {
    /// The intervals of one GPU from its work, which must be sorted by start. Columns of tables that are not wanted stay empty.
    pub fn gaps(&self, work: &[Work]) -> (GapColumns, CallColumns) {
        let mut gpu = OneGpu {
            sweep: self,
            work,
            columns: GapColumns::default(),
            calls: CallColumns::default(),
            places: BTreeMap::new(),
            pause: 0,
            begun: 0,
            started: MutableBitmap::from_len_zeroed(self.calls.numbers()),
        };
        let span = self.times.span;
        if let Some(start_ns) = self.times.start_ns {
            let first = work.iter().position(|item| item.start_ns < item.end_ns);
            let kernel_after = work.iter().position(|item| !item.is_copy && item.start_ns < item.end_ns);
            let time = Interval::new(start_ns, span.start_ns);
            gpu.outside(IdleInterval { time, kernel_after, after: first, ..NOTHING }, Cause::Lead);
        }
        each_interval(work, span, |gap| gpu.inside(&gap));
        if let Some(end_ns) = self.times.end_ns {
            let last = work.iter().filter(|item| !item.is_copy && item.start_ns < item.end_ns);
            let kernel_before = last.max_by_key(|item| item.end_ns).map(|item| item.row);
            let before = work.iter().rposition(|item| item.start_ns < item.end_ns);
            let time = Interval::new(span.end_ns, end_ns);
            gpu.outside(IdleInterval { time, kernel_before, before, ..NOTHING }, Cause::Tail);
        }
        (gpu.columns, gpu.calls)
    }

    fn launch_of(&self, work: &Work) -> (Option<LaunchingCall>, Option<i64>) {
        let launched = if work.is_copy { &self.copies } else { &self.kernels };
        let row = work.row as usize;
        let call = self.calls.get(launched.ids.get(row));
        let tid = call.and_then(|call| call.tid).or_else(|| launched.threads.get(row));
        (call, tid)
    }
}

const NOTHING: IdleInterval = IdleInterval {
    time: Interval::new(0, 0),
    copies: false,
    kernel_before: None,
    before: None,
    kernel_after: None,
    after: None,
};

/// Positions in the lists of a thread, up to which the sweep has looked.
#[derive(Default)]
struct Places {
    outermost: usize,
    begun: usize,
    wait: usize,
    range: usize,
    pieces: PiecePlaces,
}

struct OneGpu<'a> {
    sweep: &'a GapSweep<'a>,
    work: &'a [Work],
    columns: GapColumns,
    calls: CallColumns,
    places: BTreeMap<i64, Places>,
    pause: usize,
    /// Place of the first work that has not started, as far as the sweep has looked.
    begun: usize,
    /// The calls that have started work on this GPU, by their numbers.
    started: MutableBitmap,
}

impl OneGpu<'_> {
    /// Adds an interval before or after the span, whose cause is known.
    fn outside(&mut self, gap: IdleInterval, cause: Cause) {
        if !gap.time.is_empty() {
            let (_, tid) = self.launch(&gap);
            self.begin(&gap, tid);
            self.push(gap.time, cause, tid);
        }
    }

    /// Adds an interval of the span.
    fn inside(&mut self, gap: &IdleInterval) {
        let (launch, tid) = self.launch(gap);
        self.begin(gap, tid);
        if gap.copies {
            return self.push(gap.time, Cause::CopyOnly, tid);
        }
        let sweep = self.sweep;
        let is_over = |over: &Interval| over.end_ns <= gap.time.start_ns;
        let pauses = &sweep.times.pauses;
        self.pause = gallop(self.pause, pauses.len(), |place| pauses.get(place).is_some_and(is_over));
        let waits = tid.and_then(|tid| sweep.threads.get(tid)).map_or(&[][..], |thread| &thread.waits);
        let place = tid.map_or(0, |tid| {
            let places = self.places.entry(tid).or_default();
            places.wait = gallop(places.wait, waits.len(), |place| waits.get(place).is_some_and(is_over));
            places.wait
        });
        let (waits, pauses) = (waits.get(place..).unwrap_or_default(), pauses.get(self.pause..).unwrap_or_default());
        each_cause(gap.time, launch, waits, pauses, |time, cause| self.push(time, cause, tid));
    }

    fn begin(&mut self, gap: &IdleInterval, tid: Option<i64>) {
        if self.sweep.wanted.gaps {
            self.columns.begin(self.gap(gap, tid));
        }
        if self.sweep.wanted.calls {
            self.calls.begin(gap.time.length_ns(), tid);
        }
    }

    fn gap(&self, gap: &IdleInterval, tid: Option<i64>) -> Gap {
        let row = |place: Option<usize>| self.work.get(place?);
        Gap {
            next_is_copy: row(gap.after).map(|work| work.is_copy),
            kernel_before: gap.kernel_before,
            kernel_after: row(gap.kernel_after).map(|work| work.row),
            tid,
        }
    }

    /// The time at which the work after an interval was submitted to the GPU, and the submitting thread.
    fn launch(&mut self, gap: &IdleInterval) -> (Launch, Option<i64>) {
        let Some((place, next)) = gap.after.and_then(|place| Some((place, self.work.get(place)?))) else {
            let before = gap.before.and_then(|place| self.work.get(place));
            let (call, tid) = before.map_or((None, None), |before| self.sweep.launch_of(before));
            let is_known = call.is_some() && !self.is_lost(gap, None, tid);
            return (if is_known { Launch::Never } else { Launch::Unknown }, tid);
        };
        // Work after copies may start later than the next work.
        while !gap.copies && self.begun < place {
            if let Some(work) = self.work.get(self.begun).filter(|work| work.start_ns < work.end_ns)
                && let (Some(call), _) = self.sweep.launch_of(work)
            {
                self.started.set(call.row as usize, true);
            }
            self.begun += 1;
        }
        let (call, tid) = self.sweep.launch_of(next);
        let launch = call.filter(|call| !self.is_lost(gap, Some(*call), tid)).map_or(Launch::Unknown, |call| {
            // A call that launches much, such as a graph, may start work before it returns.
            let has_begun = self.started.get(call.row as usize);
            Launch::At(if has_begun { gap.time.start_ns } else { call.end_ns })
        });
        (launch, tid)
    }

    /// Whether an unrecorded kernel may have run in an interval: a kernel that was launched after the work before the interval, and not
    /// after the work after it.
    fn is_lost(&self, gap: &IdleInterval, next: Option<LaunchingCall>, tid: Option<i64>) -> bool {
        if self.sweep.lost.lost.is_empty() {
            return false;
        }
        let before = gap.before.and_then(|place| self.work.get(place));
        let before = before.and_then(|work| self.sweep.launch_of(work).0);
        let after_ns = before.map_or(gap.time.start_ns, |call| call.start_ns);
        let until_ns = next.map_or(gap.time.end_ns, |call| call.start_ns);
        self.sweep.lost.any_between(after_ns, until_ns, tid)
    }

    fn push(&mut self, time: Interval, cause: Cause, tid: Option<i64>) {
        let GapSweep { wanted, threads, .. } = *self.sweep;
        let known = tid.and_then(|tid| Some((tid, threads.get(tid)?)));
        if wanted.gaps {
            let (mut call, mut range) = (None, None);
            if let Some((tid, thread)) = known {
                let places = self.places.entry(tid).or_default();
                call = longest_call(threads, thread, time, places);
                range = longest_range(thread, time, places);
            }
            self.columns.push(GapPart { time, cause, call, range });
        }
        if wanted.calls && cause.is_idle() {
            let places = &mut self.places.entry(tid.unwrap_or_default()).or_default().pieces;
            each_piece(threads, known.map(|(_, thread)| thread), time, places, |time, piece| {
                self.calls.push(time, cause, piece);
            });
        }
    }
}

/// The call with the largest overlap, and that overlap. If several calls span the whole interval, the innermost; otherwise the first of
/// equals.
fn longest_call(threads: &HostThreads, thread: &Thread, time: Interval, places: &mut Places) -> Option<(u32, i64)> {
    let call = |place: usize| thread.calls.get(place).copied();
    let time_of = |place: usize| call(place).map(|row| threads.time(row));
    let begins = |place: usize| time_of(place).is_some_and(|call| call.start_ns <= time.start_ns);
    places.begun = gallop(places.begun, thread.calls.len(), begins);
    let mut around = places.begun.checked_sub(1);
    while let Some(place) = around {
        if time_of(place).is_some_and(|call| call.end_ns >= time.end_ns) {
            return call(place).map(|row| (row, time.length_ns()));
        }
        around = thread.nesting.parent(place);
    }
    let outermost = |place: usize| thread.outermost.get(place).map(|call| *call as usize);
    let is_over = |place: usize| outermost(place).and_then(time_of).is_some_and(|call| call.end_ns <= time.start_ns);
    places.outermost = gallop(places.outermost, thread.outermost.len(), is_over);
    let mut longest = (0, None);
    for place in thread.outermost.iter().skip(places.outermost).map(|place| *place as usize) {
        let Some(of_call) = time_of(place).filter(|call| call.start_ns < time.end_ns) else { break };
        let overlap_ns = time.overlap(of_call).map_or(0, Interval::length_ns);
        if overlap_ns > longest.0 {
            longest = (overlap_ns, call(place).map(|row| (row, overlap_ns)));
        }
    }
    longest.1
}

/// The range that is innermost for the longest time, the first of equals. `None` if the time outside of ranges is longer.
fn longest_range(thread: &Thread, time: Interval, places: &mut Places) -> Option<u32> {
    let ranges = &thread.ranges;
    let is_over = |place: usize| ranges.get(place).is_some_and(|range| range.time.end_ns <= time.start_ns);
    places.range = gallop(places.range, ranges.len(), is_over);
    let mut outside_ns = time.length_ns();
    let mut longest = (0, None);
    for range in ranges.iter().skip(places.range) {
        if range.time.start_ns >= time.end_ns {
            break;
        }
        let overlap_ns = time.overlap(range.time).map_or(0, Interval::length_ns);
        outside_ns = outside_ns.saturating_sub(overlap_ns);
        if overlap_ns > longest.0 {
            longest = (overlap_ns, Some(range.row));
        }
    }
    longest.1.filter(|_| longest.0 >= outside_ns)
}
