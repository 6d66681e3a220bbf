//! Sums up GPU activity in order of start, in one pass and with almost no memory.
//!
//! [`gpu_segments`](wavesieve_model::analysis::gpu_time::segments) counts running work, and also needs the ends in order. The sums only
//! need to know whether work of a kind runs. Until the next start, the latest end so far of each kind is enough for that.

use std::collections::BTreeMap;

use crate::derive::gpu_work::gpu_times::GpuTime;
use wavesieve_model::analysis::gpu_time::segments::ActivityInterval;

/// Number of combinations of kinds of work, including none.
const STATES: usize = 8;

/// Activities of *one* process being summed up.
#[derive(Debug, Default)]
pub(crate) struct GpuTimeSweep {
    span: Option<Span>,
    places: BTreeMap<i64, usize>,
    gpus: Vec<Gpu>,
    /// The GPU of the activity before, and its place.
    last: Option<(i64, usize)>,
}

impl GpuTimeSweep {
    /// Adds an activity if it does not start before the last one; returns whether it was added. Reversed intervals are ignored.
    #[must_use]
    pub fn add(&mut self, activity: &ActivityInterval) -> bool {
        let (start_ns, end_ns) = (activity.start_ns, activity.end_ns);
        if end_ns < start_ns {
            return true;
        }
        match &mut self.span {
            Some(span) if start_ns < span.latest_start_ns => return false,
            Some(span) => {
                span.latest_start_ns = start_ns;
                span.last_ns = end_ns.max(span.last_ns);
            }
            None => self.span = Some(Span { first_ns: start_ns, latest_start_ns: start_ns, last_ns: end_ns }),
        }
        let place = self.place(activity.gpu);
        if let Some(gpu) = self.gpus.get_mut(place).filter(|_| start_ns < end_ns) {
            gpu.add(start_ns, end_ns, usize::from(activity.activity.lane()));
        }
        true
    }

    fn place(&mut self, gpu: i64) -> usize {
        if let Some((last, place)) = self.last
            && last == gpu
        {
            return place;
        }
        let place = *self.places.entry(gpu).or_insert(self.gpus.len());
        if place == self.gpus.len() {
            self.gpus.push(Gpu::default());
        }
        self.last = Some((gpu, place));
        place
    }

    /// The sums in the order of (gpu, compute, comm, copies), equal to the sums over the segments of all activities.
    #[must_use]
    pub fn finish(mut self) -> Vec<GpuTime> {
        let Some(Span { first_ns, last_ns, .. }) = self.span else { return Vec::new() };
        let mut times = Vec::new();
        for (gpu, place) in self.places {
            if let Some(sums) = self.gpus.get_mut(place) {
                sums.finish(first_ns, last_ns);
                times.extend(sums.sums.iter().enumerate().filter_map(|(state, sum)| sum.time(gpu, state)));
            }
        }
        times
    }
}

/// The interval that the activities of all GPUs cover, and the latest start so far.
#[derive(Clone, Copy, Debug)]
struct Span {
    first_ns: i64,
    latest_start_ns: i64,
    last_ns: i64,
}

/// Time of one GPU in one state.
#[derive(Clone, Copy, Debug)]
struct Sum {
    first_ns: i64,
    last_ns: i64,
    duration_ns: i64,
}

impl Sum {
    /// Appends an interval after the previous ones.
    fn add(&mut self, start_ns: i64, end_ns: i64) {
        self.first_ns = self.first_ns.min(start_ns);
        self.last_ns = self.last_ns.max(end_ns);
        self.duration_ns = self.duration_ns.saturating_add(end_ns.saturating_sub(start_ns));
    }

    fn time(&self, gpu: i64, state: usize) -> Option<GpuTime> {
        let &Self { first_ns, last_ns, duration_ns } = self;
        let [compute, comm, copies] = [4, 2, 1].map(|bit| state & bit != 0);
        (duration_ns > 0).then_some(GpuTime { gpu, compute, comm, copies, first_ns, last_ns, duration_ns })
    }
}

#[derive(Debug)]
struct Gpu {
    /// Start and end of the summed time, once an activity with a length has started.
    reached: Option<(i64, i64)>,
    /// Latest end of each kind of work, which runs until then.
    until_ns: [i64; 3],
    sums: [Sum; STATES],
}

impl Default for Gpu {
    fn default() -> Self {
        let none = Sum { first_ns: i64::MAX, last_ns: i64::MIN, duration_ns: 0 };
        Self { reached: None, until_ns: [i64::MIN; 3], sums: [none; STATES] }
    }
}

impl Gpu {
    fn add(&mut self, start_ns: i64, end_ns: i64, lane: usize) {
        let (began_ns, reached_ns) = self.reached.unwrap_or((start_ns, start_ns));
        self.sum_up(reached_ns, start_ns);
        self.reached = Some((began_ns, start_ns));
        if let Some(until_ns) = self.until_ns.get_mut(lane) {
            *until_ns = end_ns.max(*until_ns);
        }
    }

    /// Sums up between two times; nothing starts between them.
    fn sum_up(&mut self, mut from_ns: i64, to_ns: i64) {
        while from_ns < to_ns {
            let (mut state, mut next_ns) = (0, to_ns);
            for (until_ns, bit) in self.until_ns.into_iter().zip([4, 2, 1]) {
                if until_ns > from_ns {
                    state |= bit;
                    next_ns = next_ns.min(until_ns);
                }
            }
            if let Some(sum) = self.sums.get_mut(state) {
                sum.add(from_ns, next_ns);
            }
            from_ns = next_ns;
        }
    }

    /// Sums up the rest of the span of the process.
    fn finish(&mut self, first_ns: i64, last_ns: i64) {
        let (began_ns, reached_ns) = self.reached.unwrap_or((last_ns, last_ns));
        self.sum_up(reached_ns, last_ns);
        if let [idle, ..] = &mut self.sums
            && first_ns < began_ns
        {
            idle.add(first_ns, began_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::derive::gpu_work::gpu_times::GpuTimes;
    use wavesieve_model::analysis::gpu_time::segments::{Activity, segments};

    fn swept(activities: &[ActivityInterval]) -> Option<Vec<GpuTime>> {
        let mut sweep = GpuTimeSweep::default();
        activities.iter().all(|activity| sweep.add(activity)).then(|| sweep.finish())
    }

    fn activities(times: impl Strategy<Value = (i64, i64)>) -> impl Strategy<Value = Vec<ActivityInterval>> {
        let kinds = prop_oneof![Just(Activity::Compute), Just(Activity::Communication), Just(Activity::Copy)];
        let activity = (-1_i64..3, times, kinds).prop_map(|(gpu, (start_ns, end_ns), activity)| ActivityInterval {
            gpu,
            start_ns,
            end_ns,
            activity,
        });
        prop::collection::vec(activity, 0..25).prop_map(|mut activities| {
            activities.sort_by_key(|activity| activity.start_ns);
            activities
        })
    }

    fn summed(activities: &[ActivityInterval]) -> Vec<GpuTime> {
        let mut times = GpuTimes::default();
        segments(activities.iter().copied()).iter().for_each(|segment| times.add(segment));
        times.finish()
    }

    proptest! {
        #[test]
        fn sums_are_those_of_segments(
            activities in activities((-20_i64..20, -1_i64..10).prop_map(|(start, length)| (start, start + length))),
        ) {
            prop_assert_eq!(swept(&activities), Some(summed(&activities)));
        }

        #[test]
        fn any_times_are_survived(activities in activities(any::<(i64, i64)>())) {
            prop_assert!(swept(&activities).is_some());
        }
    }

    #[test]
    fn a_start_before_the_last_is_refused() {
        let at = |start_ns, end_ns| ActivityInterval { gpu: 0, start_ns, end_ns, activity: Activity::Compute };
        assert_eq!(swept(&[at(5, 9), at(4, 6)]), None);
        assert_eq!(swept(&[at(5, 5), ActivityInterval { gpu: 1, ..at(4, 6) }]), None);
        assert!(swept(&[at(5, 9), at(5, 6)]).is_some());
    }
}
