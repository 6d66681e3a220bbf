//! Answers requests for lanes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use wavesieve_engine::findings::duration;
use wavesieve_report::timeline::kind_label;
use wavesieve_report::timeline::model::{Lane, PathLine, SliceKind, Slices};

use super::counters::COUNTER;
use super::event::{Event, NO_NAME};
use super::flows::{Exact, flows};
use super::part::{Part, StoredLane};
use super::row::FIRST_WIDTH_NS;
use super::sums::joined;

/// A range of time at a width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LanesRequest {
    /// Start, from the start of the run.
    pub start_ns: i64,
    /// End.
    pub end_ns: i64,
    /// Number of pixels for it.
    pub pixels: i64,
    /// Maximum number of slices of a group.
    pub most: usize,
}

impl LanesRequest {
    /// Width of a pixel, rounded down.
    pub fn pixel_ns(&self) -> i64 {
        self.end_ns.saturating_sub(self.start_ns) / self.pixels.max(1)
    }
}

/// Lanes of a range.
#[derive(Debug, Serialize)]
pub struct LanesAnswer {
    /// Start of the range.
    pub start_ns: i64,
    /// End of the range.
    pub end_ns: i64,
    /// Names of slices.
    pub names: Vec<String>,
    /// Color classes of slices.
    pub kinds: Vec<SliceKind>,
    /// The lanes.
    pub lanes: Vec<Lane>,
    /// Lane and slice of a call, lane and slice of its work.
    pub flows: Vec<[usize; 4]>,
    /// The critical path of the process of the first GPU, if it was requested.
    pub path: PathLine,
    /// Sentences about what is missing or summed up.
    pub notes: Vec<String>,
    /// The command with the same rows.
    pub command: String,
}

/// A group whose lanes are requested: its id, its GPU, and its part.
pub struct AskedGroup {
    /// Id of the group.
    pub id: String,
    /// Index of the GPU; `None` for the host.
    pub gpu: Option<i64>,
    /// Index of its process, by which flows are joined.
    pub member: usize,
    /// Its part.
    pub part: Arc<Part>,
}

impl AskedGroup {
    /// Its lanes.
    fn lanes(&self) -> impl Iterator<Item = &StoredLane> {
        self.part.lanes.iter().filter(|lane| lane.gpu == self.gpu)
    }

    /// Id of its process, which groups of all of its GPUs have in common.
    pub fn process(&self) -> &str {
        let of_gpu = self.gpu.and_then(|gpu| self.id.strip_suffix(&format!("g{gpu}")));
        of_gpu.unwrap_or(&self.id)
    }
}

/// Texts of an answer, from those of several parts.
#[derive(Default)]
pub struct Shared {
    /// The texts in order.
    pub list: Vec<String>,
    known: BTreeMap<String, usize>,
}

impl Shared {
    /// Starts with these texts.
    pub fn from_list(list: Vec<String>) -> Self {
        let known = list.iter().enumerate().map(|(index, text)| (text.clone(), index)).collect();
        Self { list, known }
    }

    /// The index of a text.
    pub fn index(&mut self, text: &str) -> usize {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        self.known.insert(text.to_owned(), self.list.len());
        self.list.push(text.to_owned());
        self.list.len() - 1
    }
}

/// The lanes of groups of a process in a range.
pub fn lanes(groups: &[AskedGroup], request: LanesRequest) -> LanesAnswer {
    let (mut names, mut kinds, mut exact) = (Shared::default(), Shared::default(), Exact::default());
    let (mut lanes, mut notes): (Vec<Lane>, Vec<String>) = (Vec::new(), Vec::new());
    for group in groups {
        let pixel_ns = pixel_of(group, request);
        let mut left = request.most;
        let mut hidden = 0;
        for stored in group.lanes() {
            let lane = lane(group, stored, request, pixel_ns, &mut names, &mut kinds);
            if lane.slices.id.len() > left {
                hidden += 1;
                continue;
            }
            left -= lane.slices.id.len();
            exact.add(stored.kind, group.member, lanes.len(), &lane.slices.id);
            lanes.push(lane);
        }
        notes.extend(limit_notes(group, request, pixel_ns, hidden));
        for note in &group.part.notes {
            let note = format!("{}: {note}", group.process());
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    let flows = flows(groups, &exact);
    let kind = |id: String| SliceKind { label: kind_label(&id), id };
    LanesAnswer {
        start_ns: request.start_ns,
        end_ns: request.end_ns,
        names: names.list,
        kinds: kinds.list.into_iter().map(kind).collect(),
        lanes,
        flows,
        path: PathLine::default(),
        notes,
        command: String::new(),
    }
}

/// The width below which events of a group are summed up: a pixel, or more if the answer would have too many slices.
fn pixel_of(group: &AskedGroup, request: LanesRequest) -> i64 {
    let mut pixel_ns = request.pixel_ns();
    let length_ns = request.end_ns.saturating_sub(request.start_ns);
    // Values over time have no sums: their number stays, however wide a pixel is.
    let rows = || group.lanes().filter(|lane| lane.kind != COUNTER).flat_map(|lane| &lane.rows);
    let slices =
        |pixel_ns| -> usize { rows().map(|row| row.between(request.start_ns, request.end_ns, pixel_ns).0.len()).sum() };
    while pixel_ns < length_ns && slices(pixel_ns) > request.most {
        pixel_ns = pixel_ns.saturating_mul(4).clamp(FIRST_WIDTH_NS, length_ns.max(FIRST_WIDTH_NS));
    }
    pixel_ns
}

/// Sentences about the limit of slices.
fn limit_notes(group: &AskedGroup, request: LanesRequest, pixel_ns: i64, hidden: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if pixel_ns > request.pixel_ns() {
        let (id, width) = (&group.id, duration(pixel_ns as f64));
        notes.push(format!("{id}: events shorter than {width} are summed up; zoom in or choose fewer GPUs"));
    }
    if hidden > 0 {
        let lanes = if hidden == 1 { "1 lane is".to_owned() } else { format!("{hidden} lanes are") };
        notes.push(format!("{}: {lanes} left out; zoom in or choose fewer GPUs", group.id));
    }
    notes
}

fn lane(
    group: &AskedGroup,
    stored: &StoredLane,
    request: LanesRequest,
    pixel_ns: i64,
    names: &mut Shared,
    kinds: &mut Shared,
) -> Lane {
    let mut events: Vec<(usize, Event)> = Vec::new();
    let mut resolution_ns = 0;
    for (level, row) in stored.rows.iter().enumerate() {
        let (found, width_ns) = row.between(request.start_ns, request.end_ns, pixel_ns);
        let shown = joined(found.iter().copied(), pixel_ns);
        if width_ns > 0 || shown.len() < found.len() {
            resolution_ns = pixel_ns;
        }
        events.extend(shown.into_iter().map(|event| (level, event)));
    }
    events.sort_by_key(|(level, event)| (event.start_ns, *level, event.id));
    Lane {
        id: format!("{}/{}", group.id, stored.id),
        group: group.id.clone(),
        kind: stored.kind,
        label: stored.label.clone(),
        levels: stored.rows.len().max(1),
        resolution_ns,
        slices: slices(&events, request.start_ns, &group.part, names, kinds),
    }
}

fn slices(events: &[(usize, Event)], start_ns: i64, part: &Part, names: &mut Shared, kinds: &mut Shared) -> Slices {
    let mut slices = Slices::default();
    let mut before_ns = start_ns;
    let has = |differs: &dyn Fn(&(usize, Event)) -> bool| events.iter().any(differs);
    let (has_levels, has_counts) = (has(&|(level, _)| *level > 0), has(&|(_, event)| event.count != 1));
    let has_busy = has(&|(_, event)| event.busy_ns != event.length_ns);
    let has_about = has(&|(_, event)| event.about != NO_NAME);
    // Most events have names of others.
    let mut known: Vec<Option<usize>> = vec![None; part.names.len()];
    let mut known_kinds: Vec<Option<usize>> = vec![None; part.kinds.len()];
    let mut kind_of = |index: u16| -> usize {
        match known_kinds.get_mut(usize::from(index)).zip(part.kinds.get(usize::from(index))) {
            Some((slot, id)) => *slot.get_or_insert_with(|| kinds.index(id)),
            None => kinds.index("other"),
        }
    };
    let mut name_of = |index: u32| -> Option<usize> {
        let slot = known.get_mut(index as usize)?;
        if slot.is_none() {
            *slot = Some(names.index(part.names.get(index as usize)?));
        }
        *slot
    };
    for (level, event) in events {
        slices.start_ns.push(event.start_ns.saturating_sub(before_ns));
        before_ns = event.start_ns;
        slices.length_ns.push(event.length_ns);
        slices.name.push(name_of(event.name).unwrap_or_default());
        slices.kind.push(kind_of(event.kind));
        slices.id.push(event.id);
        if has_levels {
            slices.level.push(*level);
        }
        if has_counts {
            slices.count.push(i64::from(event.count));
        }
        if has_busy {
            slices.busy_ns.push(event.busy_ns);
        }
        if has_about {
            let about = name_of(event.about).and_then(|about| i64::try_from(about).ok());
            slices.about.push(about.unwrap_or(-1));
        }
    }
    slices
}

#[cfg(test)]
mod tests {
    use super::super::row::Row;
    use super::*;

    fn group(rows: usize) -> AskedGroup {
        let event = |at: i64| Event::one((at * 100, at * 100 + 60), at, 0, 0, NO_NAME);
        let lane = |number: usize| StoredLane {
            gpu: Some(0),
            id: format!("stream/{number}"),
            kind: "kernels",
            label: String::new(),
            rows: vec![Row::new((0..20_000).map(event).collect())],
        };
        let (names, kinds) = (vec!["several".to_owned()], vec!["gemm".to_owned()]);
        let part = Part { lanes: (0..rows).map(lane).collect(), names, kinds, ..Part::default() };
        AskedGroup { id: "r0g0".to_owned(), gpu: Some(0), member: 0, part: Arc::new(part) }
    }

    #[test]
    fn values_over_time_do_not_make_events_coarser() {
        let with_values = |values: i64| {
            let value = |at: i64| Event::one((at * 100, at * 100 + 100), at, at as u32 % 2, 0, NO_NAME);
            let rows = vec![Row::exact((0..values).map(value).collect())];
            let counter =
                StoredLane { gpu: Some(0), id: "counter/0".to_owned(), kind: COUNTER, label: String::new(), rows };
            let mut group = group(1);
            Arc::get_mut(&mut group.part).unwrap().lanes.push(counter);
            pixel_of(&group, LanesRequest { start_ns: 0, end_ns: 2_000_000, pixels: 65_536, most: 20_000 })
        };
        assert_eq!(with_values(20_000), with_values(0));
    }

    #[test]
    fn an_answer_has_a_limited_number_of_slices() {
        let whole = |most| LanesRequest { start_ns: 0, end_ns: 2_000_000, pixels: 65_536, most };
        let exact = lanes(&[group(2)], whole(100_000));
        assert_eq!((exact.lanes[0].slices.id.len(), exact.notes.len()), (20_000, 0));
        let fewer = lanes(&[group(2)], whole(5_000));
        let slices: usize = fewer.lanes.iter().map(|lane| lane.slices.id.len()).sum();
        let events: i64 = fewer.lanes.iter().flat_map(|lane| &lane.slices.count).sum();
        assert_eq!((fewer.lanes.len(), events), (2, 40_000));
        assert!(slices <= 5_000 && fewer.notes[0].contains("summed up"), "{slices} {:?}", fewer.notes);
        let none = lanes(&[group(2)], whole(0));
        assert!(none.lanes.is_empty() && none.notes[1].contains("2 lanes are left out"), "{:?}", none.notes);
    }
}
