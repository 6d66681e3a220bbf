//! Makes the picture of a run.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::axis::{Axis, Groups};
use super::lanes::{Legend, WindowLanes, lanes};
use super::model::{LaneGroup, Picture, VERSION, Window};
use super::names::Names;
use super::overview::{OTHERS, WholeRun, overview};
use super::places::Places;
use super::record::{Records, TimelineReader, read_again};
use super::slices::{Event, EventLane, fit};
use super::windows::{Chosen, focus, of_units, processes, without_units};
use wavesieve_engine::findings::{Finding, duration};
use wavesieve_engine::{NameForm, Registry};
use wavesieve_model::analysis::kernel_names::ReadableNames;
use wavesieve_tables::trace::Trace;

/// Bytes of windows as JSON.
const BUDGET: usize = 900_000;
/// Slices of all windows together, to begin with.
const SLICES: usize = 24_000;
/// Flows of a window.
const MAX_FLOWS: usize = 4_000;

/// Content of a picture besides the trace.
pub struct PictureOptions<'a> {
    /// The queries, whose rows are evidence of findings.
    pub registry: &'a Registry,
    /// Findings to place.
    pub findings: &'a [Finding],
    /// Names of kernels as the document shows them.
    pub names: &'a ReadableNames,
    /// Form of kernel names.
    pub form: NameForm,
}

/// The picture of a run.
///
/// # Errors
/// When a table cannot be read or built.
pub fn picture(trace: &Trace, reader: TimelineReader, options: &PictureOptions<'_>) -> Result<Picture> {
    let (mut records, request) = reader.finish(trace)?;
    let focus = focus(&records);
    if let Some(process) = focus.filter(|_| records.processes.values().all(|record| record.extent.is_none())) {
        read_again(trace, &request, &mut records, &BTreeSet::from([process]))?;
    }
    let straggler =
        options.findings.iter().find(|finding| finding.rule == "straggler").and_then(|finding| finding.rank);
    let mut chosen = focus.map(|focus| of_units(&records, focus, straggler)).unwrap_or_default();
    let mut wanted = processes(&chosen);
    wanted.extend(focus);
    read_again(trace, &request, &mut records, &wanted)?;
    if let Some(focus) = focus.filter(|_| chosen.is_empty()) {
        chosen = without_units(&records, focus)?;
    }
    let axis = Axis::new(&records);
    let groups = Groups::new(&records, "");
    let mut notes = notes(trace, &records, &axis);
    let ranks: BTreeSet<i64> = options
        .findings
        .iter()
        .filter_map(|finding| finding.rank)
        .chain(chosen.iter().filter_map(|window| Some(records.processes.get(&window.process)?.rank)))
        .collect();
    let WholeRun { overview, notes: summed, others } = overview(&mut records, &axis, &groups, focus, &ranks);
    notes.extend(summed);
    let mut names = Names::new(options.names, options.form);
    let (windows, detail) = windows(&mut records, &axis, &groups, &chosen, &mut names)?;
    notes.extend(detail);
    let places = Places { records: &records, axis: &axis, groups: &groups, registry: options.registry, focus };
    let places = places.of(options.findings)?;
    let mut picture = Picture {
        version: VERSION,
        origin_ns: axis.origin_ns().to_string(),
        span_ns: axis.span_ns,
        names: names.into_list(),
        overview,
        windows,
        places,
        notes,
        ..Picture::default()
    };
    picture.groups = used_groups(&picture, &groups, &records, others);
    number_kinds(&mut picture, std::mem::take(&mut records.kinds));
    Ok(picture)
}

/// The windows, and notes about them.
fn windows(
    records: &mut Records,
    axis: &Axis,
    groups: &Groups,
    chosen: &[Chosen],
    names: &mut Names<'_>,
) -> Result<(Vec<Window>, Vec<String>)> {
    let mut all = Vec::new();
    let mut notes = Vec::new();
    for window in chosen {
        let Some(tables) = records.processes.get(&window.process).and_then(|record| record.tables.clone()) else {
            continue;
        };
        let mut legend = Legend {
            names,
            kinds: &mut records.kinds,
            gpu_group: groups.id(window.process, window.gpu),
            host_group: groups.id(window.process, None),
        };
        let made = lanes(&tables, window.gpu, window.time, &mut legend)?;
        notes.extend(made.notes.iter().map(|note| format!("{}: {note}", window.label)));
        all.push((window, made));
    }
    let mut most = SLICES / all.len().max(1);
    loop {
        let fitted = fitted(records, axis, groups, &all, most);
        let bytes = serde_json::to_vec(&fitted)?.len();
        if bytes <= BUDGET || most <= 100 {
            let coarse = fitted
                .iter()
                .filter_map(|window| Some((window, window.lanes.iter().map(|lane| lane.resolution_ns).max()?)));
            for (window, resolution_ns) in coarse.filter(|(_, resolution_ns)| *resolution_ns > 0) {
                let short = duration(resolution_ns as f64);
                notes.push(format!("{}: neighbors shorter than {short} are summed up.", window.label));
            }
            return Ok((fitted, notes));
        }
        most /= 2;
    }
}

fn fitted(records: &Records, axis: &Axis, groups: &Groups, all: &[(&Chosen, WindowLanes)], most: usize) -> Vec<Window> {
    let fit_window = |(chosen, made): &(&Chosen, WindowLanes)| {
        let record = records.processes.get(&chosen.process)?;
        let mut lanes = made.lanes.clone();
        fit(&mut lanes, most, chosen.time.length_ns());
        let shift_ns = axis.shift_ns(record);
        let flows = flows(&lanes, made);
        Some(Window {
            id: chosen.id.to_owned(),
            label: chosen.label.clone(),
            reason: chosen.reason.clone(),
            group: groups.id(chosen.process, chosen.gpu),
            start_ns: chosen.time.start_ns.saturating_add(shift_ns),
            end_ns: chosen.time.end_ns.saturating_add(shift_ns),
            lanes: lanes.iter().map(|lane| lane.packed(chosen.time.start_ns)).collect(),
            flows,
            path: made.path.clone(),
            pairs: Vec::new(),
        })
    };
    all.iter().filter_map(fit_window).collect()
}

/// The flows between events that have slices of their own.
fn flows(lanes: &[EventLane], made: &WindowLanes) -> Vec<[usize; 4]> {
    let key = |event: &Event| (event.start_ns, event.end_ns, event.id);
    let places: Vec<BTreeMap<(i64, i64, i64), usize>> = lanes
        .iter()
        .map(|lane| lane.events.iter().enumerate().map(|(place, event)| (key(event), place)).collect())
        .collect();
    let place =
        |(lane, start_ns, end_ns, id): (usize, i64, i64, i64)| places.get(lane)?.get(&(start_ns, end_ns, id)).copied();
    let flow = |[call, work]: &[super::lanes::FlowEnd; 2]| Some([call.0, place(*call)?, work.0, place(*work)?]);
    made.flows.iter().filter_map(flow).take(MAX_FLOWS).collect()
}

/// Sentences about the whole picture.
fn notes(trace: &Trace, records: &Records, axis: &Axis) -> Vec<String> {
    let mut notes: Vec<String> = records.failures.values().map(|reason| format!("No time line of {reason}.")).collect();
    let is_counted = trace.members().iter().any(|member| {
        records.processes.contains_key(&member.process.process)
            && member.process.role == wavesieve_model::schema::facts::Role::Counters
    });
    let has_gpus = records.processes.values().any(|record| !record.gpus.is_empty());
    let has_events = records.processes.values().any(|record| record.extent.is_some());
    if !has_events {
        notes.push("The inputs have no events with valid times.".to_owned());
    } else if is_counted {
        notes.push("The inputs have only counter passes, which run kernels one after the other: their times are not those of the program.".to_owned());
    } else if !has_gpus {
        notes.push("The inputs have no GPU work with valid times: the time line shows the host only.".to_owned());
    }
    if axis.clocks() > 1 {
        notes.push(format!(
            "The {} nodes have clocks that cannot be compared, so each starts at 0; --align puts them on one axis.",
            axis.clocks()
        ));
    }
    let damaged = trace.damage();
    if let Some(first) = damaged.first() {
        let more = if damaged.len() > 1 { format!(" and {} other parts", damaged.len() - 1) } else { String::new() };
        notes.push(format!("Events are missing: {}{more}.", first.line().trim_end_matches('.')));
    }
    notes
}

/// The groups that the picture names.
fn used_groups(picture: &Picture, groups: &Groups, records: &Records, others: usize) -> Vec<LaneGroup> {
    let of_windows = picture
        .windows
        .iter()
        .flat_map(|window| window.lanes.iter().map(|lane| lane.group.clone()).chain([window.group.clone()]));
    let wanted: BTreeSet<String> = picture
        .overview
        .lanes
        .iter()
        .map(|lane| lane.group.clone())
        .chain(of_windows)
        .chain(picture.places.iter().map(|place| place.group.clone()))
        .collect();
    let mut used = groups.all(records, &wanted, None);
    if others > 0 {
        let label = format!("{others} other GPUs");
        used.push(LaneGroup { id: OTHERS.to_owned(), label, rank: -1, gpu: None, side: None });
    }
    used
}

/// Numbers the kinds that are used in their fixed order.
pub(super) fn number_kinds(picture: &mut Picture, kinds: super::kinds::Kinds) {
    let slices = || picture.windows.iter().flat_map(|window| &window.lanes).flat_map(|lane| &lane.slices.kind);
    let shares = picture.overview.lanes.iter().flat_map(|lane| lane.shares.keys());
    let used: BTreeSet<usize> = slices().chain(shares).copied().collect();
    let (listed, numbers) = kinds.finish(&used);
    let number = |kind: usize| numbers.get(&kind).copied().unwrap_or(0);
    for lane in &mut picture.overview.lanes {
        lane.shares = std::mem::take(&mut lane.shares).into_iter().map(|(kind, row)| (number(kind), row)).collect();
    }
    for kind in picture.windows.iter_mut().flat_map(|window| &mut window.lanes).flat_map(|lane| &mut lane.slices.kind) {
        *kind = number(*kind);
    }
    picture.kinds = listed;
}
