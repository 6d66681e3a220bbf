//! GPU work whose recorded duration runs over later work of its stream. That is impossible: a stream runs its work in order.
//!
//! Work may start before the previous work ends, for example with a programmatic dependent launch. But a kernel that was launched later
//! cannot also end earlier. Kernels of one graph launch run in parallel on one stream, so they prove nothing about each other. The same
//! holds for a GPU with only one stream, because ROCm may record several streams as one. There a duration counts as wrong if it is many
//! times the median of the kernels with its name.

use std::collections::BTreeMap;

use anyhow::Result;
use fnv::FnvHashMap;

use super::capture::Capture;
use super::gathered::{Field, Keep, Wanted};
use super::kinds::Role;

/// A duration is wrong if it is longer than this many times the median of the kernel name.
const MANY_TIMES: i64 = 5;
/// A name needs more kernels than this for a median.
const MIN_OTHERS: usize = 3;
/// Maximum later activities that are checked: a few that overlap are enough.
const MAX_LATER: usize = 1_024;
/// Part of the names of communication kernels, which wait for other ranks.
const COMMUNICATION: &str = "nccl";

const FIELDS: [Field; 6] = [Field::Number, Field::Start, Field::End, Field::Device, Field::Stream, Field::Correlation];

/// Ends to use instead of the recorded ends, by role and event number.
#[derive(Default)]
pub(crate) struct Overruns(BTreeMap<Role, FnvHashMap<i64, i64>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Activity {
    start_ns: i64,
    end_ns: i64,
    role: Role,
    number: i64,
    correlation: Option<i64>,
    name: u32,
}

impl Activity {
    fn duration_ns(&self) -> i64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

/// The activities of the streams of each device.
type Devices = BTreeMap<i64, BTreeMap<i64, Vec<Activity>>>;

impl Overruns {
    pub fn find(capture: &Capture) -> Result<Self> {
        let mut devices: Devices = BTreeMap::new();
        let mut launched: FnvHashMap<i64, u32> = FnvHashMap::default();
        let mut is_communication: Vec<bool> = Vec::new();
        for role in [Role::Copy, Role::Kernel] {
            let names = role == Role::Kernel;
            let rows = capture.gather(&Wanted { role, keep: Keep::All, fields: &FIELDS, names })?;
            for (row, [number, start, end, device, stream, correlation]) in rows.rows(FIELDS).enumerate() {
                if let Some(id) = correlation {
                    *launched.entry(id).or_default() += 1;
                }
                let (Some(start_ns), Some(end_ns)) = (start, end) else { continue };
                if let (Some(number), Some(device), Some(stream)) = (number, device, stream) {
                    let name = rows.names.codes.get(row).copied().unwrap_or(u32::MAX);
                    let activity = Activity { start_ns, end_ns, role, number, correlation, name };
                    devices.entry(device).or_default().entry(stream).or_default().push(activity);
                }
            }
            let communicates = |name: &Option<String>| {
                name.as_ref().is_some_and(|name| name.to_ascii_lowercase().contains(COMMUNICATION))
            };
            is_communication = rows.names.texts.iter().map(communicates).collect();
        }
        let mut overruns = Self::default();
        let is_alone = |id: Option<i64>| id.is_some_and(|id| launched.get(&id) == Some(&1));
        for mut streams in devices.into_values() {
            let usual = if streams.len() == 1 { streams.values().next().map(|only| medians(only)) } else { None };
            let is_suspect = |activity: &Activity| match &usual {
                _ if activity.role != Role::Kernel || !is_alone(activity.correlation) => false,
                None => true,
                Some(usual) => {
                    let is_unusual =
                        |usual: &i64| activity.duration_ns() > usual.saturating_mul(MANY_TIMES).max(MANY_TIMES);
                    let waits = is_communication.get(activity.name as usize) == Some(&true);
                    !waits && usual.get(&activity.name).is_some_and(is_unusual)
                }
            };
            for activities in streams.values_mut() {
                for (activity, end_ns) in cut(activities, is_suspect) {
                    overruns.0.entry(activity.role).or_default().insert(activity.number, end_ns);
                }
            }
        }
        Ok(overruns)
    }

    /// The end to use instead of the recorded end of an event.
    pub fn end_of(&self, role: Role, number: Option<i64>) -> Option<i64> {
        self.0.get(&role)?.get(&number?).copied()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Median duration of the kernels of each name that has several.
fn medians(activities: &[Activity]) -> FnvHashMap<u32, i64> {
    let mut durations: FnvHashMap<u32, Vec<i64>> = FnvHashMap::default();
    for activity in activities.iter().filter(|activity| activity.role == Role::Kernel) {
        durations.entry(activity.name).or_default().push(activity.duration_ns());
    }
    let several = durations.into_iter().filter(|(_, durations)| durations.len() > MIN_OTHERS);
    several
        .map(|(name, mut durations)| {
            let middle = durations.len() / 2;
            (name, *durations.select_nth_unstable(middle).1)
        })
        .collect()
}

/// Suspects of a stream that run over a kernel launched later, with the start of the next activity.
fn cut(activities: &mut [Activity], is_suspect: impl Fn(&Activity) -> bool) -> Vec<(Activity, i64)> {
    activities.sort_unstable();
    let mut cut = Vec::new();
    for place in (0..activities.len()).rev() {
        let Some((activity, later)) = activities.get(place..).and_then(<[Activity]>::split_first) else { continue };
        let activity = *activity;
        let mut behind = later.iter().filter(|next| next.start_ns > activity.start_ns).peekable();
        let Some(next_ns) = behind.peek().map(|next| next.start_ns).filter(|next_ns| *next_ns < activity.end_ns) else {
            continue;
        };
        let is_inside = |next: &&Activity| {
            next.role == Role::Kernel && next.end_ns < activity.end_ns && next.correlation > activity.correlation
        };
        let within = behind.take_while(|next| next.start_ns < activity.end_ns);
        let runs_over = within.take(MAX_LATER).any(|next| is_inside(&next));
        if runs_over && is_suspect(&activity) {
            cut.push((activity, next_ns));
            if let Some(slot) = activities.get_mut(place) {
                slot.end_ns = next_ns;
            }
        }
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ends of activities, each given by start, end and correlation id. Activities with id 0 share their launch.
    fn ends(rows: &[(i64, i64, i64)]) -> Vec<i64> {
        let activity = |(number, (start_ns, end_ns, id)): (i64, &(i64, i64, i64))| Activity {
            start_ns: *start_ns,
            end_ns: *end_ns,
            role: Role::Kernel,
            number,
            correlation: Some(*id),
            name: 0,
        };
        let mut activities: Vec<Activity> = (0..).zip(rows).map(activity).collect();
        let mut ends: Vec<i64> = rows.iter().map(|row| row.1).collect();
        for (activity, end_ns) in cut(&mut activities, |activity| activity.correlation != Some(0)) {
            ends[activity.number as usize] = end_ns;
        }
        ends
    }

    #[test]
    fn work_ends_where_the_next_of_its_stream_begins_if_it_runs_over_all_of_that() {
        assert_eq!(ends(&[(0, 900, 1), (10, 20, 2), (30, 40, 3)]), [10, 20, 40]);
        assert_eq!(ends(&[(30, 40, 3), (0, 900, 1), (10, 800, 2)]), [40, 10, 30], "each that runs over");
        assert_eq!(ends(&[(0, 15, 1), (10, 20, 2), (20, 30, 3)]), [15, 20, 30], "those may overlap");
        assert_eq!(ends(&[(0, 900, 0), (10, 20, 0), (5, 60, 2), (30, 40, 3)]), [900, 20, 10, 40]);
        assert_eq!(ends(&[(0, 30, 1), (30, 30, 2), (40, 50, 3)]), [30, 30, 50]);
        assert_eq!(ends(&[(0, 9, 1), (0, 5, 2)]), [9, 5], "nothing begins later");
        assert_eq!(ends(&[(0, 90, 5), (10, 20, 2)]), [90, 20], "what was launched before it is of another stream");
    }
}
