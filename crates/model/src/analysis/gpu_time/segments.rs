//! Activity of each GPU of one process at every moment: the basis of all time accounting.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::analysis::intervals::{Interval, Joined};

/// Kinds of work that time accounting distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activity {
    /// A kernel of any category but communication.
    Compute,
    /// A kernel of the category `communication`.
    Communication,
    /// A memory copy.
    Copy,
}

impl Activity {
    /// Its place among the kinds.
    pub const fn lane(self) -> u8 {
        self as u8
    }
}

/// One valid kernel or copy on one GPU. A copy between two GPUs is given once for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActivityInterval {
    /// Index of the GPU among those of the process.
    pub gpu: i64,
    /// Start in raw nanoseconds.
    pub start_ns: i64,
    /// End in raw nanoseconds; equal to the start for work of zero length.
    pub end_ns: i64,
    pub activity: Activity,
}

/// An interval on one GPU during which the number of running kernels and copies does not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Index of the GPU among those of the process.
    pub gpu: i64,
    /// Start in raw nanoseconds.
    pub start_ns: i64,
    /// End in raw nanoseconds, always after the start.
    pub end_ns: i64,
    /// Running kernels other than communication.
    pub compute: i64,
    /// Running communication kernels.
    pub comm: i64,
    /// Running copies.
    pub copies: i64,
}

/// Segments of all GPUs of *one* process, sorted by (gpu, start).
///
/// The span is the first start to the last end over all GPUs. For each GPU with at least one
/// activity the segments tile exactly that span: none overlap, none are of zero length,
/// neighbors differ in their counts, and idle intervals (also before its first and after its
/// last activity) are segments of zeros. Work of zero length widens the span and is never
/// counted as running; reversed intervals are ignored. A span of zero length has no segments.
///
/// Takes `O(n log n)`, close to linear when the activities come sorted by start.
pub fn segments(activities: impl IntoIterator<Item = ActivityInterval>) -> Vec<Segment> {
    let mut segments = Vec::new();
    each_segment(activities.into_iter().collect(), |segment| segments.push(segment));
    segments
}

/// Same as [`segments`], but hands over one segment after the other, so that millions of them need not be held twice.
pub fn each_segment(mut activities: Vec<ActivityInterval>, mut emit: impl FnMut(Segment)) {
    activities.retain(|activity| activity.start_ns <= activity.end_ns);
    let Some(span) = span(&activities) else { return };
    let order = |activity: &ActivityInterval| (activity.gpu, activity.start_ns);
    // A stable sort, because it uses the sorted runs that tables sorted by start have.
    if !activities.is_sorted_by_key(order) {
        activities.sort_by_key(order);
    }

    let mut tiles = Joined::new(|Interval { start_ns, end_ns }, (gpu, [compute, comm, copies]): Running| {
        emit(Segment { gpu, start_ns, end_ns, compute, comm, copies });
    });
    for on_one_gpu in activities.chunk_by(|a, b| a.gpu == b.gpu) {
        let Some(gpu) = on_one_gpu.first().map(|activity| activity.gpu) else {
            continue;
        };
        let mut sweep = Sweep { gpu, reached_ns: span.start_ns, counts: [0; 3], ends: BinaryHeap::new() };
        for activity in on_one_gpu.iter().filter(|activity| activity.start_ns < activity.end_ns) {
            sweep.until(activity.start_ns, &mut tiles);
            sweep.begin(activity);
        }
        sweep.until(span.end_ns, &mut tiles);
    }
    tiles.finish();
}

/// A GPU, and the number of running items of each kind of work.
type Running = (i64, [i64; 3]);

/// Work that runs on one GPU at a moment.
struct Sweep {
    gpu: i64,
    reached_ns: i64,
    counts: [i64; 3],
    /// Ends of running work with its kind; the next one first.
    ends: BinaryHeap<Reverse<(i64, u8)>>,
}

impl Sweep {
    /// Advances to a time before which nothing else starts.
    fn until(&mut self, time_ns: i64, tiles: &mut Joined<Running, impl FnMut(Interval, Running)>) {
        while let Some(&Reverse((end_ns, lane))) = self.ends.peek()
            && end_ns <= time_ns
        {
            tiles.push(self.reached_ns, end_ns, (self.gpu, self.counts));
            self.reached_ns = end_ns;
            self.count(lane, -1);
            self.ends.pop();
        }
        tiles.push(self.reached_ns, time_ns, (self.gpu, self.counts));
        self.reached_ns = time_ns;
    }

    fn begin(&mut self, activity: &ActivityInterval) {
        let lane = activity.activity.lane();
        self.count(lane, 1);
        self.ends.push(Reverse((activity.end_ns, lane)));
    }

    fn count(&mut self, lane: u8, change: i64) {
        if let Some(count) = self.counts.get_mut(usize::from(lane)) {
            *count += change;
        }
    }
}

fn span(activities: &[ActivityInterval]) -> Option<Interval> {
    let start_ns = activities.iter().map(|activity| activity.start_ns).min()?;
    let end_ns = activities.iter().map(|activity| activity.end_ns).max()?;
    Some(Interval::new(start_ns, end_ns))
}

#[cfg(test)]
mod tests;
