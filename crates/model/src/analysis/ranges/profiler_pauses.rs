//! Intervals in which the program itself had stopped the recording.

use crate::analysis::intervals::{Interval, union};

/// A call that stops or starts the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control {
    /// Start and return of the call.
    pub time: Interval,
    /// Whether it starts the recording; otherwise it stops it.
    pub resumes: bool,
}

/// The intervals of a process lifetime in which nothing was recorded, in order and disjoint.
///
/// A pause lasts from the start of the first call that stops the recording to the return of the next call that starts
/// it, or to the end of the process. If the first of all calls starts the recording, and nothing ran on a GPU before,
/// the recording was stopped from the start. `first_work_ns` is the first start of anything on a GPU.
pub fn pauses(mut controls: Vec<Control>, lifetime: Interval, first_work_ns: Option<i64>) -> Vec<Interval> {
    controls.sort_by_key(|control| (control.time.start_ns, control.time.end_ns, control.resumes));
    let starts_stopped = controls.first().is_some_and(|first| {
        first.resumes && first_work_ns.is_none_or(|work_ns| work_ns >= first.time.end_ns.max(first.time.start_ns))
    });
    let mut paused_since = starts_stopped.then_some(lifetime.start_ns);
    let mut pauses = Vec::new();
    for control in controls {
        match (control.resumes, paused_since) {
            (false, None) => paused_since = Some(control.time.start_ns),
            (true, Some(since_ns)) => {
                pauses.push(Interval::new(since_ns, control.time.end_ns.max(control.time.start_ns)));
                paused_since = None;
            }
            (false, Some(_)) | (true, None) => {}
        }
    }
    pauses.extend(paused_since.map(|since_ns| Interval::new(since_ns, lifetime.end_ns)));
    union(pauses)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFE: Interval = Interval::new(0, 100);

    fn control(start_ns: i64, end_ns: i64, resumes: bool) -> Control {
        Control { time: Interval::new(start_ns, end_ns), resumes }
    }

    fn paused(controls: &[Control], first_work_ns: Option<i64>) -> Vec<(i64, i64)> {
        pauses(controls.to_vec(), LIFE, first_work_ns).iter().map(|pause| (pause.start_ns, pause.end_ns)).collect()
    }

    #[test]
    fn from_pause_to_resume() {
        let controls = [control(60, 61, true), control(20, 22, false), control(30, 31, false), control(70, 70, true)];
        assert_eq!(paused(&controls, Some(5)), [(20, 61)]);
        assert_eq!(paused(&[control(20, 20, false)], Some(5)), [(20, 100)]);
        assert_eq!(paused(&[], Some(5)), []);
    }

    #[test]
    fn a_recording_may_begin_stopped() {
        assert_eq!(paused(&[control(40, 41, true)], Some(41)), [(0, 41)]);
        assert_eq!(paused(&[control(40, 41, true)], None), [(0, 41)]);
        assert_eq!(paused(&[control(40, 41, true)], Some(39)), []);
    }
}
