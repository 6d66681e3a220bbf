//! Answers requests for lanes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use wavesieve_report::timeline::kind_label;
use wavesieve_report::timeline::model::{Lane, SliceKind, Slices};

use super::event::{Event, NO_NAME};
use super::part::{Part, StoredLane};
use super::sums::joined;

/// Maximum number of flows in an answer.
const MAX_FLOWS: usize = 20_000;

/// A range of time at a width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LanesRequest {
    /// Start, from the start of the run.
    pub start_ns: i64,
    /// End.
    pub end_ns: i64,
    /// Number of pixels for it.
    pub pixels: i64,
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
    /// Id of its process, which groups of all of its GPUs have in common.
    fn process(&self) -> &str {
        let of_gpu = self.gpu.and_then(|gpu| self.id.strip_suffix(&format!("g{gpu}")));
        of_gpu.unwrap_or(&self.id)
    }
}

/// Texts of an answer, from those of several parts.
#[derive(Default)]
struct Shared {
    list: Vec<String>,
    known: BTreeMap<String, usize>,
}

impl Shared {
    fn index(&mut self, text: &str) -> usize {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        self.known.insert(text.to_owned(), self.list.len());
        self.list.push(text.to_owned());
        self.list.len() - 1
    }
}

/// Places of exact slices by member and id, for flows.
#[derive(Default)]
struct Exact {
    kernels: BTreeMap<(usize, i64), (usize, usize)>,
    copies: BTreeMap<(usize, i64), (usize, usize)>,
    calls: BTreeMap<(usize, i64), (usize, usize)>,
}

/// The lanes of groups in a range.
pub fn lanes(groups: &[AskedGroup], request: LanesRequest) -> LanesAnswer {
    let (mut names, mut kinds, mut exact) = (Shared::default(), Shared::default(), Exact::default());
    let (mut lanes, mut notes): (Vec<Lane>, Vec<String>) = (Vec::new(), Vec::new());
    for group in groups {
        for stored in group.part.lanes.iter().filter(|lane| lane.gpu == group.gpu) {
            let lane = lane(group, stored, request, &mut names, &mut kinds);
            let place = lanes.len();
            let by_id = match stored.kind {
                "kernels" => Some(&mut exact.kernels),
                "copies" => Some(&mut exact.copies),
                "calls" => Some(&mut exact.calls),
                _ => None,
            };
            if let Some(by_id) = by_id {
                let singles = lane.slices.id.iter().enumerate().filter(|(_, id)| **id >= 0);
                by_id.extend(singles.map(|(slice, id)| ((group.member, *id), (place, slice))));
            }
            lanes.push(lane);
        }
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
        notes,
        command: String::new(),
    }
}

fn lane(
    group: &AskedGroup,
    stored: &StoredLane,
    request: LanesRequest,
    names: &mut Shared,
    kinds: &mut Shared,
) -> Lane {
    let pixel_ns = request.pixel_ns();
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
        slices.kind.push(kinds.index(part.kinds.get(usize::from(event.kind)).map_or("other", String::as_str)));
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

/// Flows from calls to the work that they launched, where both have slices of their own.
fn flows(groups: &[AskedGroup], exact: &Exact) -> Vec<[usize; 4]> {
    let mut flows = Vec::new();
    let hosts = groups.iter().filter(|group| group.gpu.is_none());
    for host in hosts {
        let Some(gpus) = groups.iter().find(|group| group.member == host.member && group.gpu.is_some()) else {
            continue;
        };
        for (links, slices) in [(&gpus.part.links, &exact.kernels), (&gpus.part.copy_links, &exact.copies)] {
            for ((_, id), work) in slices.range((host.member, 0)..=(host.member, i64::MAX)) {
                let first = links.partition_point(|(known, _)| known < id);
                let Some((_, correlation)) = links.get(first).filter(|(known, _)| known == id) else { continue };
                let calls = &host.part.links;
                let first = calls.partition_point(|(known, _)| known < correlation);
                let of_call = calls.iter().skip(first).take_while(|(known, _)| known == correlation);
                let call = of_call.filter_map(|(_, region)| exact.calls.get(&(host.member, *region))).next();
                flows.extend(call.map(|call| [call.0, call.1, work.0, work.1]));
                if flows.len() >= MAX_FLOWS {
                    return flows;
                }
            }
        }
    }
    flows
}
