//! The picture of a comparison: the typical units of both sides, with their matched kernels.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::axis::Groups;
use super::kinds::Kinds;
use super::lanes::WindowLanes;
use super::model::{Overview, OverviewLane, Picture, VERSION};
use super::names::Names;
use super::overview::{self, Bins, WholeRun, overview};
use super::picture::{BUDGET, EventPlaces, Run, event_places, number_kinds, used_groups};
use super::record::TimelineReader;
use super::saved::saved_run;
use super::slices::{Event, EventLane};
use crate::compare::Digest;
use wavesieve_engine::NameForm;
use wavesieve_model::analysis::kernel_names::ReadableNames;
use wavesieve_tables::trace::Trace;

/// Values of [`Event::mark`].
const GONE: u8 = 1;
const NEW: u8 = 2;
/// Maximum number of pairs.
const MAX_PAIRS: usize = 6_000;

/// A side of a comparison: the picture of a run, not drawn yet.
#[derive(Clone)]
pub struct SideTimeline(Run);

impl SideTimeline {
    /// Finishes reading a side, and keeps only the rows that are drawn.
    ///
    /// # Errors
    /// When a table cannot be read or built.
    pub fn new(trace: &Trace, reader: TimelineReader) -> Result<Self> {
        let mut run = Run::new(trace, reader, None)?;
        run.keep_first()?;
        Ok(Self(run))
    }

    /// A side that was saved: its units one after the other, and the kernels of a typical one. Saved runs have no times of single events.
    pub fn of_digest(digest: &Digest) -> Self {
        Self(saved_run(digest))
    }
}

/// Full names of kernels on both sides that are matched.
pub type MatchedNames = (String, String);

/// The picture of two sides. `names` are the readable names of kernels.
///
/// # Errors
/// When the tables lack a column.
pub fn compared(
    base: SideTimeline,
    new: SideTimeline,
    matched: &[MatchedNames],
    readable: &ReadableNames,
) -> Result<Picture> {
    let (mut base, mut new) = (base.0, new.0);
    let span_ns = base.axis.span_ns.max(new.axis.span_ns);
    (base.axis.span_ns, new.axis.span_ns) = (span_ns, span_ns);
    let form = if readable.is_empty() { NameForm::Full } else { NameForm::Readable };
    let mut names = Names::new(readable, form);
    for (run, id, prefix) in [(&mut base, "base", "base/"), (&mut new, "new", "new/")] {
        run.groups = Groups::new(&run.records, prefix);
        for window in &mut run.chosen {
            window.id = id.to_owned();
            window.label = format!("{id}: {}", window.label);
        }
    }
    let within = Bins::Within(overview::BUDGET / 2);
    // Shown GPUs have lanes of their own on both sides.
    let mut ranks: BTreeSet<i64> = BTreeSet::new();
    for run in [&base, &new] {
        let shown = run.chosen.iter().filter_map(|window| run.records.processes.get(&window.process));
        ranks.extend(shown.map(|record| record.rank));
    }
    let (mut whole_base, mut whole_new) = (whole(&mut base, &ranks, within), whole(&mut new, &ranks, within));
    let bins = whole_base.overview.bins.min(whole_new.overview.bins);
    for (whole_run, run) in [(&mut whole_base, &mut base), (&mut whole_new, &mut new)] {
        if whole_run.overview.bins > bins {
            *whole_run = whole(run, &ranks, Bins::Exactly(bins));
        }
    }
    let mut lanes_of_base = base.lanes(&mut names)?;
    // From here on, both sides have the numbers of the base.
    let kinds_of_new = std::mem::replace(&mut new.records.kinds, std::mem::take(&mut base.records.kinds));
    renumber(&mut whole_new.overview, &kinds_of_new, &mut new.records.kinds);
    let mut lanes_of_new = new.lanes(&mut names)?;
    let pairs = match (lanes_of_base.first_mut(), lanes_of_new.first_mut()) {
        (Some((_, base)), Some((_, new))) => pair(base, new, &keys(matched, &mut names)),
        _ => Vec::new(),
    };
    let windows_of_base = base.windows(&lanes_of_base, BUDGET / 2, &names)?;
    let windows_of_new = new.windows(&lanes_of_new, BUDGET / 2, &names)?;
    let kept = match (windows_of_base.first(), windows_of_new.first()) {
        (Some((_, base)), Some((_, new))) => kept(&pairs, base, new),
        _ => Vec::new(),
    };
    let mut windows: Vec<_> = windows_of_base.into_iter().chain(windows_of_new).map(|(window, _)| window).collect();
    if let Some(last) = windows.last_mut().filter(|window| window.id == "new") {
        last.pairs = kept;
    }
    let names = names.finish(&mut windows, BUDGET)?;
    let mut notes = Vec::new();
    for (side, run, whole) in [("base", &mut base, &whole_base), ("new", &mut new, &whole_new)] {
        // Notes about a window begin with its name, and so with the side.
        let of_side =
            |note: String| if note.starts_with(&format!("{side}: ")) { note } else { format!("{side}: {note}") };
        notes.extend(run.notes.drain(..).chain(whole.notes.iter().cloned()).map(of_side));
    }
    let mut picture = Picture {
        version: VERSION,
        origin_ns: base.axis.origin_ns().to_string(),
        span_ns,
        names,
        overview: joined(whole_base.overview, whole_new.overview),
        windows,
        notes,
        ..Picture::default()
    };
    picture.groups = used_groups(&picture, &base, whole_base.others, Some("base"));
    let of_new = used_groups(&picture, &new, whole_new.others, Some("new"));
    picture.groups.extend(of_new);
    number_kinds(&mut picture, std::mem::take(&mut new.records.kinds));
    Ok(picture)
}

/// The overview of a side. `wanted` are ranks that have lanes of their own.
fn whole(run: &mut Run, wanted: &BTreeSet<i64>, bins: Bins) -> WholeRun {
    overview(&mut run.records, &run.axis, &run.groups, run.focus, wanted, bins)
}

/// Lanes with the numbers of other kinds.
fn renumber(overview: &mut Overview, from: &Kinds, to: &mut Kinds) {
    for lane in &mut overview.lanes {
        let shares = std::mem::take(&mut lane.shares);
        lane.shares = shares.into_iter().map(|(kind, row)| (to.index(from.id(kind)), row)).collect();
    }
}

/// Both overviews in one, with the units of the base.
fn joined(base: Overview, new: Overview) -> Overview {
    let mut all = base;
    for mark in &mut all.marks {
        mark.label = format!("base: {}", mark.label);
    }
    for mut mark in new.marks {
        mark.label = format!("new: {}", mark.label);
        all.marks.push(mark);
    }
    all.marks.sort_by_key(|mark| (mark.start_ns, mark.end_ns, mark.kind));
    let named = |side: &str, lanes: Vec<OverviewLane>| {
        let side = side.to_owned();
        lanes.into_iter().map(move |lane| OverviewLane { label: format!("{side}: {}", lane.label), ..lane })
    };
    let of_base = std::mem::take(&mut all.lanes);
    all.lanes = named("base", of_base).chain(named("new", new.lanes)).collect();
    all
}

/// Number of a match by the number of a name, for both sides.
type Keys = [BTreeMap<usize, usize>; 2];

fn keys(matched: &[MatchedNames], names: &mut Names<'_>) -> Keys {
    let mut keys = Keys::default();
    let [of_base, of_new] = &mut keys;
    for (key, (base, new)) in matched.iter().enumerate() {
        of_base.insert(names.kernel(base), key);
        of_new.insert(names.kernel(new), key);
    }
    keys
}

/// Lane, start, end and id of a kernel.
type KernelPlace = (usize, (i64, i64, i64));

/// Pairs the occurrences of matched kernels in their order, and marks the others as gone or new. Kernels of one name are matched without an
/// entry.
fn pair(base: &mut WindowLanes, new: &mut WindowLanes, keys: &Keys) -> Vec<[KernelPlace; 2]> {
    let [keys_of_base, keys_of_new] = keys;
    let of_base = occurrences(base, keys_of_base);
    let of_new = occurrences(new, keys_of_new);
    let mut pairs = Vec::new();
    for (key, places) in &of_base {
        let partners = of_new.get(key).map_or(&[][..], Vec::as_slice);
        pairs.extend(places.iter().zip(partners).map(|(one, other)| [*one, *other]));
        mark(base, places.get(partners.len()..).unwrap_or_default(), GONE);
    }
    for (key, places) in &of_new {
        let partners = of_base.get(key).map_or(0, Vec::len);
        mark(new, places.get(partners..).unwrap_or_default(), NEW);
    }
    pairs.sort_unstable();
    pairs
}

/// The key of a match, or the number of a name without one.
type MatchKey = (bool, usize);

fn occurrences(window: &WindowLanes, keys: &BTreeMap<usize, usize>) -> BTreeMap<MatchKey, Vec<KernelPlace>> {
    let mut found: BTreeMap<MatchKey, Vec<KernelPlace>> = BTreeMap::new();
    for (lane, of_lane) in window.lanes.iter().enumerate().filter(|(_, lane)| lane.kind == "kernels") {
        for event in &of_lane.events {
            let key = keys.get(&event.name).map_or((false, event.name), |key| (true, *key));
            found.entry(key).or_default().push((lane, place(event)));
        }
    }
    for places in found.values_mut() {
        places.sort_by_key(|(lane, (start_ns, _, id))| (*start_ns, *lane, *id));
    }
    found
}

fn place(event: &Event) -> (i64, i64, i64) {
    (event.start_ns, event.end_ns, event.id)
}

fn mark(window: &mut WindowLanes, places: &[KernelPlace], value: u8) {
    let wanted: BTreeSet<&KernelPlace> = places.iter().collect();
    for (lane, of_lane) in window.lanes.iter_mut().enumerate() {
        for event in &mut of_lane.events {
            if wanted.contains(&(lane, place(event))) {
                event.mark = value;
            }
        }
    }
}

/// The pairs whose kernels have slices of their own, by index.
fn kept(pairs: &[[KernelPlace; 2]], base: &[EventLane], new: &[EventLane]) -> Vec<[usize; 4]> {
    let places = |lanes: &[EventLane]| lanes.iter().map(event_places).collect::<Vec<EventPlaces>>();
    let (of_base, of_new) = (places(base), places(new));
    let slice = |places: &[EventPlaces], (lane, key): KernelPlace| Some((lane, *places.get(lane)?.get(&key)?));
    let pair = |[one, other]: &[KernelPlace; 2]| {
        let (base, new) = (slice(&of_base, *one)?, slice(&of_new, *other)?);
        Some([base.0, base.1, new.0, new.1])
    };
    pairs.iter().filter_map(pair).take(MAX_PAIRS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(names: &[usize]) -> WindowLanes {
        let event = |(at, name): (i64, &usize)| Event::new((at * 10, at * 10 + 5), *name, 0, at);
        let events = (0_i64..).zip(names).map(event).collect();
        let lane = EventLane { kind: "kernels", events, ..EventLane::default() };
        WindowLanes { lanes: vec![lane], ..WindowLanes::default() }
    }

    fn marks(window: &WindowLanes) -> Vec<u8> {
        window.lanes[0].events.iter().map(|event| event.mark).collect()
    }

    #[test]
    fn occurrences_are_paired_in_their_order_and_others_marked() {
        // Kernel 1 is called 5 on the new side, 2 is gone once, 3 is new, 7 has one name.
        let (mut base, mut new) = (window(&[1, 2, 2, 7]), window(&[5, 3, 2, 7]));
        let keys = [BTreeMap::from([(1, 0), (2, 1)]), BTreeMap::from([(5, 0), (2, 1)])];
        let pairs = pair(&mut base, &mut new, &keys);
        let ids: Vec<(i64, i64)> = pairs.iter().map(|[one, other]| (one.1.2, other.1.2)).collect();
        assert_eq!(ids, [(0, 0), (1, 2), (3, 3)]);
        assert_eq!((marks(&base), marks(&new)), (vec![0, 0, GONE, 0], vec![0, NEW, 0, 0]));
        let shown = kept(&pairs, &base.lanes, &new.lanes);
        assert_eq!(shown, [[0, 0, 0, 0], [0, 1, 0, 2], [0, 3, 0, 3]]);
    }
}
