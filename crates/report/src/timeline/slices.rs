//! Events as slices: rows for those that overlap, sums of those too short to show.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::model::{Lane, Slices};

/// An event of a lane, or a sum of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// Start.
    pub start_ns: i64,
    /// End.
    pub end_ns: i64,
    /// Number of its name.
    pub name: usize,
    /// Number of its kind.
    pub kind: usize,
    /// Row within the lane.
    pub level: usize,
    /// Id in its table.
    pub id: i64,
    /// Events in it.
    pub count: i64,
    /// Covered time.
    pub busy_ns: i64,
    /// 1 gone, 2 new.
    pub mark: u8,
    /// Number of a text about it.
    pub about: Option<usize>,
}

impl Event {
    /// A single event.
    pub(super) fn new((start_ns, end_ns): (i64, i64), name: usize, kind: usize, id: i64) -> Self {
        let busy_ns = end_ns.saturating_sub(start_ns);
        Self { start_ns, end_ns, name, kind, level: 0, id, count: 1, busy_ns, mark: 0, about: None }
    }

    /// Its length.
    pub(super) fn length_ns(&self) -> i64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

/// Maximum number of rows of a lane.
pub(super) const MAX_ROWS: usize = 64;

/// The events of a lane.
#[derive(Clone, Debug, Default)]
pub(super) struct EventLane {
    /// Stable id.
    pub id: String,
    /// Id of its group.
    pub group: String,
    /// Kind of the lane.
    pub kind: &'static str,
    /// Its name for people.
    pub label: String,
    /// In the order of start, level, id once [`EventLane::arrange`] was called.
    pub events: Vec<Event>,
    /// Rows.
    pub levels: usize,
    /// Events that are not drawn because they would need more rows.
    pub hidden: usize,
    /// Resolution of sums.
    pub resolution_ns: i64,
    /// Number of the name of slices that sum up events with different names.
    pub several: usize,
}

impl EventLane {
    /// Gives each event the lowest row that is free at its start, and leaves out those below the last row. Events that enclose others come
    /// first.
    pub(super) fn arrange(&mut self) {
        self.events.sort_by_key(|event| (event.start_ns, Reverse(event.end_ns), event.id));
        let mut busy: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
        let mut free: BTreeSet<usize> = BTreeSet::new();
        let mut levels = 0;
        let mut last_empty: Vec<Option<i64>> = Vec::new();
        for event in &mut self.events {
            while let Some(Reverse((_, level))) = busy.peek().copied().filter(|next| next.0.0 <= event.start_ns) {
                busy.pop();
                free.insert(level);
            }
            // Events without length do not overlap unless they are at the same time.
            let is_free = |level: &&usize| last_empty.get(**level).copied().flatten() != Some(event.start_ns);
            let found = free.iter().find(is_free).copied();
            let level = found.unwrap_or(levels);
            if found.is_none() {
                levels += 1;
                last_empty.push(None);
            }
            free.remove(&level);
            if event.end_ns <= event.start_ns
                && let Some(slot) = last_empty.get_mut(level)
            {
                *slot = Some(event.start_ns);
            }
            busy.push(Reverse((event.end_ns, level)));
            event.level = level;
        }
        self.levels = levels.clamp(1, MAX_ROWS);
        let all = self.events.len();
        self.events.retain(|event| event.level < MAX_ROWS);
        self.hidden = all - self.events.len();
        self.events.sort_by_key(|event| (event.start_ns, event.level, event.id));
    }

    /// The same lane with shorter neighbors of one kind, or of any kinds, summed up.
    fn summed(&self, resolution_ns: i64, any_kind: bool) -> Vec<Event> {
        let mut open: BTreeMap<usize, Group> = BTreeMap::new();
        let mut done = Vec::new();
        for event in &self.events {
            let is_short = event.length_ns() < resolution_ns;
            match open.get_mut(&event.level) {
                Some(group) if is_short && group.takes(event, resolution_ns, any_kind) => group.add(event),
                _ => {
                    done.extend(open.remove(&event.level).map(|group| group.sum(self.several)));
                    if is_short {
                        open.insert(event.level, Group::new(event));
                    } else {
                        done.push(event.clone());
                    }
                }
            }
        }
        done.extend(open.into_values().map(|group| group.sum(self.several)));
        done.sort_by_key(|event| (event.start_ns, event.level, event.id));
        done
    }

    /// The lane in columns. `from_ns` is the start of the window.
    pub(super) fn packed(&self, from_ns: i64) -> Lane {
        let mut slices = Slices::default();
        let mut before_ns = from_ns;
        for event in &self.events {
            slices.start_ns.push(event.start_ns.saturating_sub(before_ns));
            before_ns = event.start_ns;
            slices.length_ns.push(event.length_ns());
            slices.name.push(event.name);
            slices.kind.push(event.kind);
            slices.level.push(event.level);
            slices.id.push(event.id);
            slices.count.push(event.count);
            slices.busy_ns.push(event.busy_ns);
            slices.mark.push(event.mark);
            slices.about.push(event.about.and_then(|about| i64::try_from(about).ok()).unwrap_or(-1));
        }
        let events = &self.events;
        drop_if(&mut slices.level, events.iter().all(|event| event.level == 0));
        drop_if(&mut slices.count, events.iter().all(|event| event.count == 1));
        drop_if(&mut slices.busy_ns, events.iter().all(|event| event.busy_ns == event.length_ns()));
        drop_if(&mut slices.mark, events.iter().all(|event| event.mark == 0));
        drop_if(&mut slices.about, events.iter().all(|event| event.about.is_none()));
        Lane {
            id: self.id.clone(),
            group: self.group.clone(),
            kind: self.kind,
            label: self.label.clone(),
            levels: self.levels,
            resolution_ns: self.resolution_ns,
            slices,
        }
    }
}

fn drop_if<T>(column: &mut Vec<T>, is_same: bool) {
    if is_same {
        column.clear();
    }
}

/// Short neighbors of one level.
struct Group {
    first: Event,
    end_ns: i64,
    count: i64,
    busy_ns: i64,
    /// Covered time by kind.
    kinds: BTreeMap<usize, i64>,
    has_one_name: bool,
    has_one_text: bool,
    has_one_mark: bool,
}

/// Length of a sum in resolutions: longer ones would hide the rhythm of the events.
const LONGEST_SUM: i64 = 4;

impl Group {
    fn new(event: &Event) -> Self {
        Self {
            first: event.clone(),
            end_ns: event.end_ns,
            count: event.count,
            busy_ns: event.busy_ns,
            kinds: BTreeMap::from([(event.kind, event.busy_ns)]),
            has_one_name: true,
            has_one_text: true,
            has_one_mark: true,
        }
    }

    fn takes(&self, event: &Event, resolution_ns: i64, any_kind: bool) -> bool {
        let is_of_kind = any_kind || self.first.kind == event.kind;
        let is_near = event.start_ns.saturating_sub(self.end_ns) < resolution_ns;
        let length_ns = event.end_ns.saturating_sub(self.first.start_ns);
        is_of_kind && is_near && length_ns <= resolution_ns.saturating_mul(LONGEST_SUM)
    }

    fn add(&mut self, event: &Event) {
        self.end_ns = self.end_ns.max(event.end_ns);
        self.count += event.count;
        self.busy_ns += event.busy_ns;
        *self.kinds.entry(event.kind).or_default() += event.busy_ns;
        self.has_one_name &= event.name == self.first.name;
        self.has_one_text &= event.about == self.first.about;
        self.has_one_mark &= event.mark == self.first.mark;
    }

    fn sum(self, several: usize) -> Event {
        let mut event = self.first;
        if self.count == event.count {
            return event;
        }
        let most = self.kinds.iter().max_by_key(|(kind, time)| (**time, Reverse(**kind)));
        event.kind = most.map_or(event.kind, |(kind, _)| *kind);
        event.end_ns = self.end_ns;
        event.id = -1;
        event.count = self.count;
        event.busy_ns = self.busy_ns;
        if !self.has_one_name {
            event.name = several;
        }
        if !self.has_one_text {
            event.about = None;
        }
        if !self.has_one_mark {
            event.mark = 0;
        }
        event
    }
}

/// Sums up short events of lanes until at most `most` slices are left. Lanes with few slices stay exact as long as others have more than
/// their share. Returns the largest resolution.
pub(super) fn fit(lanes: &mut [EventLane], most: usize, length_ns: i64) -> i64 {
    let share = most / lanes.len().max(1);
    let mut resolution_ns = (length_ns / 1_000_000).max(1);
    let mut any_kind = false;
    let total = |lanes: &[EventLane]| lanes.iter().map(|lane| lane.events.len()).sum::<usize>();
    let mut coarsest_ns = 0;
    while total(lanes) > most {
        for lane in lanes.iter_mut().filter(|lane| lane.events.len() > share) {
            let summed = lane.summed(resolution_ns, any_kind);
            if summed.len() < lane.events.len() {
                lane.events = summed;
                lane.resolution_ns = resolution_ns;
                coarsest_ns = resolution_ns;
            }
        }
        if resolution_ns > length_ns && any_kind {
            break;
        }
        // Neighbors of different kinds are summed up only where a pixel would hold several.
        any_kind = any_kind || resolution_ns > length_ns / 2_000;
        resolution_ns = resolution_ns.saturating_mul(2);
    }
    coarsest_ns
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lane(events: &[(i64, i64, usize, usize)]) -> EventLane {
        let event = |(id, (start, length, name, kind)): (usize, &(i64, i64, usize, usize))| {
            Event::new((*start, start + length), *name, *kind, id as i64)
        };
        let mut lane = EventLane { several: 99, ..EventLane::default() };
        lane.events = events.iter().enumerate().map(event).collect();
        lane.arrange();
        lane
    }

    fn do_not_overlap(events: &[Event]) -> bool {
        events.iter().enumerate().all(|(place, one)| {
            events[place + 1..].iter().all(|next| next.level != one.level || next.start_ns >= one.end_ns)
        })
    }

    proptest! {
        #[test]
        fn rows_do_not_overlap_and_sums_keep_counts_and_time(
            events in prop::collection::vec((0_i64..400, 0_i64..40, 0_usize..3, 0_usize..3), 1..60),
            resolution_ns in 1_i64..60, any_kind: bool, most in 1_usize..40,
        ) {
            let whole = lane(&events);
            prop_assert!(do_not_overlap(&whole.events));
            let deepest = whole.events.iter().map(|event| event.level).max().unwrap_or(0);
            prop_assert_eq!(whole.levels, deepest + 1);
            let count = |events: &[Event]| events.iter().map(|event| event.count).sum::<i64>();
            let busy = |events: &[Event]| events.iter().map(|event| event.busy_ns).sum::<i64>();
            let summed = whole.summed(resolution_ns, any_kind);
            prop_assert_eq!((count(&summed), busy(&summed)), (count(&whole.events), busy(&whole.events)));
            prop_assert!(do_not_overlap(&summed));
            for event in &whole.events {
                // Events as long as the resolution are exact; others are within a slice of their row.
                let is_kept = summed.iter().any(|slice| slice == event);
                let is_within = summed.iter().any(|slice| slice.level == event.level
                    && slice.start_ns <= event.start_ns && event.end_ns <= slice.end_ns);
                let is_right = if event.length_ns() >= resolution_ns { is_kept } else { is_within };
                prop_assert!(is_right);
            }
            let mut lanes = [whole.clone()];
            fit(&mut lanes, most, 440);
            prop_assert_eq!((count(&lanes[0].events), busy(&lanes[0].events)), (count(&whole.events), busy(&whole.events)));
            prop_assert!(do_not_overlap(&lanes[0].events));
            prop_assert!(lanes[0].events.len() <= most.max(whole.levels));
        }
    }

    #[test]
    fn columns_count_from_the_slice_before() {
        let packed = lane(&[(110, 5, 1, 2), (120, 10, 3, 2)]).packed(100);
        assert_eq!((packed.slices.start_ns, packed.slices.length_ns), (vec![10, 10], vec![5, 10]));
        assert!(packed.slices.count.is_empty() && packed.slices.level.is_empty() && packed.slices.about.is_empty());
    }

    #[test]
    fn events_that_all_overlap_have_a_bounded_number_of_rows() {
        let events: Vec<(i64, i64, usize, usize)> = (0..100).map(|at| (at, 1_000, 0, 0)).collect();
        let mut lanes = [lane(&events)];
        assert_eq!((lanes[0].levels, lanes[0].events.len(), lanes[0].hidden), (MAX_ROWS, MAX_ROWS, 100 - MAX_ROWS));
        // No two of them are neighbors in a row, so nothing is summed up.
        assert_eq!(fit(&mut lanes, 10, 1_100), 0);
        assert_eq!((lanes[0].resolution_ns, lanes[0].events.len()), (0, MAX_ROWS));
    }

    #[test]
    fn enclosing_calls_are_above() {
        let nested = lane(&[(5, 2, 0, 0), (0, 10, 0, 0), (8, 1, 0, 0), (12, 0, 0, 0), (12, 0, 0, 0)]);
        let levels: Vec<(i64, usize)> = nested.events.iter().map(|event| (event.start_ns, event.level)).collect();
        assert_eq!(levels, [(0, 0), (5, 1), (8, 1), (12, 0), (12, 1)]);
    }
}
