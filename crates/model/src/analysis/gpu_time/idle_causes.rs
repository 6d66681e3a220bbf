//! Why a GPU is idle, from the state of the host before the next work.

use crate::analysis::intervals::{Interval, Joined};

spelled! {
    /// Why a GPU runs no kernel at a moment.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Cause by name {
        /// The call that launches the next work has not returned, and its thread is in no call that waits.
        HostBound = "host_bound",
        /// The thread that launches the next work is inside a call that waits.
        Sync = "sync",
        /// The next work is launched and has not started.
        LaunchDelay = "launch_delay",
        /// Only copies run.
        CopyOnly = "copy_only",
        /// No call is recorded that launched the next work.
        NoRecord = "no_record",
        /// The recording was stopped by the program.
        Paused = "paused",
        /// Before the first work of the process.
        Lead = "lead",
        /// After the last work of the process.
        Tail = "tail",
    }
}

impl Cause {
    /// Whether it is a cause of idle time. The others are time in which copies run, the recording was stopped, or outside of the span.
    pub const fn is_idle(self) -> bool {
        matches!(self, Self::HostBound | Self::Sync | Self::LaunchDelay | Self::NoRecord)
    }
}

/// State of the launch of the work that ends an idle interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launch {
    /// No call is recorded.
    Unknown,
    /// It was handed over to the GPU at this time.
    At(i64),
    /// No work follows.
    Never,
}

/// Splits an idle interval where its cause changes. `waits` and `pauses` are in order and do not overlap; those before
/// the interval may be left out.
///
/// While the recording is paused, nothing else can be known. After the launch the work is delayed; before it, the
/// thread waits or is otherwise busy. The parts are emitted in order, tile the interval, and neighbors differ.
pub fn each_cause(
    idle: Interval,
    launch: Launch,
    waits: &[Interval],
    pauses: &[Interval],
    emit: impl FnMut(Interval, Cause),
) {
    let mut parts = Joined::new(emit);
    alternate(idle, pauses, |time, paused| {
        if paused {
            return parts.push(time.start_ns, time.end_ns, Cause::Paused);
        }
        let launched_ns = match launch {
            Launch::Unknown => return parts.push(time.start_ns, time.end_ns, Cause::NoRecord),
            Launch::At(launched_ns) => launched_ns.clamp(time.start_ns, time.end_ns),
            Launch::Never => time.end_ns,
        };
        alternate(Interval::new(time.start_ns, launched_ns), waits, |time, waiting| {
            parts.push(time.start_ns, time.end_ns, if waiting { Cause::Sync } else { Cause::HostBound });
        });
        parts.push(launched_ns, time.end_ns, Cause::LaunchDelay);
    });
    parts.finish();
}

/// Emits the parts of an interval that lie inside and outside of others, in order.
fn alternate(gap: Interval, others: &[Interval], mut emit: impl FnMut(Interval, bool)) {
    let mut reached_ns = gap.start_ns;
    for other in others.iter().take_while(|other| other.start_ns < gap.end_ns) {
        let rest = Interval::new(reached_ns, gap.end_ns);
        let Some(inside) = rest.overlap(*other) else { continue };
        emit(Interval::new(reached_ns, inside.start_ns), false);
        emit(inside, true);
        reached_ns = inside.end_ns;
    }
    emit(Interval::new(reached_ns, gap.end_ns), false);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::analysis::intervals::union;

    fn causes(idle: Interval, launch: Launch, waits: &[Interval], pauses: &[Interval]) -> Vec<(i64, i64, Cause)> {
        let mut parts = Vec::new();
        each_cause(idle, launch, waits, pauses, |time, cause| parts.push((time.start_ns, time.end_ns, cause)));
        parts
    }

    fn intervals() -> impl Strategy<Value = Vec<Interval>> {
        prop::collection::vec((-10_i64..60, 1_i64..15), 0..6)
            .prop_map(|all| union(all.into_iter().map(|(start_ns, length)| Interval::new(start_ns, start_ns + length))))
    }

    fn at_moment(moment: i64, launch: Launch, waits: &[Interval], pauses: &[Interval]) -> Cause {
        let inside = |all: &[Interval]| all.iter().any(|other| other.start_ns <= moment && moment < other.end_ns);
        match launch {
            _ if inside(pauses) => Cause::Paused,
            Launch::Unknown => Cause::NoRecord,
            Launch::At(launched_ns) if launched_ns <= moment => Cause::LaunchDelay,
            _ if inside(waits) => Cause::Sync,
            _ => Cause::HostBound,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn every_moment_has_its_cause(
            (start_ns, length) in (0_i64..30, 0_i64..25),
            launch in prop_oneof![Just(Launch::Unknown), Just(Launch::Never), (-5_i64..60).prop_map(Launch::At)],
            waits in intervals(),
            pauses in intervals(),
        ) {
            let parts = causes(Interval::new(start_ns, start_ns + length), launch, &waits, &pauses);
            let mut reached_ns = start_ns;
            for pair in parts.windows(2) {
                prop_assert_ne!(pair[0].2, pair[1].2);
            }
            for (from_ns, to_ns, cause) in parts {
                prop_assert_eq!(from_ns, reached_ns);
                prop_assert!(from_ns < to_ns);
                for moment in from_ns..to_ns {
                    prop_assert_eq!(cause, at_moment(moment, launch, &waits, &pauses));
                }
                reached_ns = to_ns;
            }
            prop_assert_eq!(reached_ns, start_ns + length);
        }
    }

    #[test]
    fn a_wait_then_the_host_then_the_way_to_the_gpu() {
        let parts = causes(Interval::new(10, 50), Launch::At(40), &[Interval::new(0, 15)], &[]);
        assert_eq!(parts, [(10, 15, Cause::Sync), (15, 40, Cause::HostBound), (40, 50, Cause::LaunchDelay)]);
    }
}
