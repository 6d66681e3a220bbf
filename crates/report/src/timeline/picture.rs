//! Makes the picture of a run.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::IntoLazy as _;

use super::axis::{Axis, Groups, gpu_label};
use super::columns::{Extent, rows_in};
use super::lanes::{FlowEnd, Legend, WindowLanes, lanes, reached};
use super::model::{LaneGroup, Picture, VERSION, Window};
use super::names::{Names, used};
use super::overview::{self, Bins, WholeRun, overview};
use super::places::{Place, Places};
use super::record::{Records, TimelineReader, read_again};
use super::saved::{SavedUnit, saved_lanes};
use super::slices::{Event, EventLane, fit};
use super::windows::{Chosen, MARGIN_NS, busiest_gpu, covers, focus, of_units, processes, without_units};
use crate::document::Sentences;
use wavesieve_engine::findings::{Finding, duration};
use wavesieve_engine::{NameForm, Registry};
use wavesieve_model::analysis::kernel_names::ReadableNames;
use wavesieve_model::text::hidden::escape_hidden;
use wavesieve_tables::columns::requests::ProcessTables;
use wavesieve_tables::trace::Trace;

/// Bytes of windows and their names as JSON.
pub(super) const BUDGET: usize = 800_000;
/// The same if there are more GPUs than [`FEW_GPUS`], whose charts and tables take the place.
const SMALL_BUDGET: usize = 400_000;
const FEW_GPUS: usize = 8;
/// Bytes that a slice takes, about.
const BYTES_OF_SLICE: usize = 36;
/// Beginning of ids of windows of places, and how many there are at most.
const PLACE: &str = "place-";
const MAX_PLACES: usize = 4;
/// Maximum length of a place with a window, in lengths of the typical unit.
const LONGEST_PLACE: i64 = 4;
/// Maximum length of the name of a place's window.
const LONGEST_LABEL: usize = 40;
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

/// A run before it is drawn: what was read, its axis, and the parts to show.
#[derive(Clone)]
pub(super) struct Run {
    /// Records, with the tables of chosen processes.
    pub records: Records,
    /// The axis.
    pub axis: Axis,
    /// Ids of groups.
    pub groups: Groups,
    /// The process whose units are marked.
    pub focus: Option<i64>,
    /// The parts in detail.
    pub chosen: Vec<Chosen>,
    /// The content of the first part, if a saved run keeps no tables.
    pub saved: Option<SavedUnit>,
    /// Sentences about the whole picture.
    pub notes: Vec<String>,
}

impl Run {
    /// Finishes reading. `late` is the rank that the rest wait for, if a finding names one.
    ///
    /// # Errors
    /// When a table cannot be read or built.
    pub(super) fn new(trace: &Trace, reader: TimelineReader, late: Option<i64>) -> Result<Self> {
        let (mut records, request) = reader.finish(trace)?;
        let focus = focus(&records);
        if let Some(process) = focus.filter(|_| records.processes.values().all(|record| record.extent.is_none())) {
            read_again(trace, &request, &mut records, &BTreeSet::from([process]))?;
        }
        let mut chosen = focus.map(|focus| of_units(&records, focus, late)).unwrap_or_default();
        let mut wanted = processes(&chosen);
        wanted.extend(focus);
        read_again(trace, &request, &mut records, &wanted)?;
        if let Some(focus) = focus.filter(|_| chosen.is_empty()) {
            chosen = without_units(&records, focus)?;
        }
        let axis = Axis::new(&records);
        let groups = Groups::new(&records, "");
        let notes = notes(trace, &records, &axis);
        Ok(Self { records, axis, groups, focus, chosen, saved: None, notes })
    }

    /// Keeps the first part only, and of the tables only its rows: several runs may wait for their comparison.
    ///
    /// # Errors
    /// When the tables lack a column.
    pub(super) fn keep_first(&mut self) -> Result<()> {
        self.chosen.truncate(1);
        for record in self.records.processes.values_mut() {
            let tables = record.tables.take();
            let window = self.chosen.first().filter(|window| window.process == record.process);
            if let Some((window, tables)) = window.zip(tables) {
                record.tables = Some(cut(&tables, reached(&tables, window.gpu, window.time)?)?);
            }
        }
        Ok(())
    }

    /// The lanes of the chosen parts.
    ///
    /// # Errors
    /// When the tables lack a column.
    pub(super) fn lanes(&mut self, names: &mut Names<'_>) -> Result<Vec<(Chosen, WindowLanes)>> {
        let mut all = Vec::new();
        for window in &self.chosen {
            let record = self.records.processes.get(&window.process);
            let tables = record.and_then(|record| record.tables.clone());
            let mut legend = Legend {
                names,
                kinds: &mut self.records.kinds,
                gpu_group: self.groups.id(window.process, window.gpu),
                host_group: self.groups.id(window.process, None),
            };
            let made = match (&self.saved, tables) {
                (Some(saved), _) => saved_lanes(saved, &mut legend),
                (None, Some(tables)) => lanes(&tables, window.gpu, window.time, &mut legend)?,
                (None, None) => continue,
            };
            self.notes.extend(made.notes.iter().map(|note| format!("{}: {note}", window.label)));
            all.push((window.clone(), made));
        }
        Ok(all)
    }

    /// The windows and their names within a budget of bytes, each with the lanes that it shows.
    ///
    /// # Errors
    /// When a window cannot be written, which is a defect.
    pub(super) fn windows(
        &mut self,
        all: &[(Chosen, WindowLanes)],
        budget: usize,
        names: &Names<'_>,
    ) -> Result<Vec<(Window, Vec<EventLane>)>> {
        // Places of findings and gaps need less detail than units.
        let is_place = |chosen: &Chosen| chosen.id.starts_with(PLACE) || chosen.id == "gap";
        let parts = all.iter().map(|(chosen, _)| if is_place(chosen) { 1 } else { 3 }).sum::<usize>().max(1);
        let mut most = budget / BYTES_OF_SLICE;
        loop {
            let fit = |(chosen, made): &(Chosen, WindowLanes)| {
                let own = most * if is_place(chosen) { 1 } else { 3 } / parts;
                self.fitted(chosen, made, own)
            };
            let fitted: Vec<(Window, Vec<EventLane>)> = all.iter().filter_map(fit).collect();
            let mut bytes = names.bytes(&used(fitted.iter().map(|(window, _)| window)));
            for (window, _) in &fitted {
                bytes += serde_json::to_vec(window)?.len();
            }
            if bytes <= budget || most <= 100 {
                for (window, lanes) in &fitted {
                    let coarsest_ns = lanes.iter().map(|lane| lane.resolution_ns).max().unwrap_or(0);
                    if coarsest_ns > 0 {
                        let short = duration(coarsest_ns as f64);
                        let note = format!("{}: neighbors shorter than {short} are summed up.", window.label);
                        self.notes.push(note);
                    }
                }
                return Ok(fitted);
            }
            most /= 2;
        }
    }

    fn fitted(&self, chosen: &Chosen, made: &WindowLanes, most: usize) -> Option<(Window, Vec<EventLane>)> {
        let record = self.records.processes.get(&chosen.process)?;
        let mut lanes = made.lanes.clone();
        fit(&mut lanes, most, chosen.time.length_ns());
        let shift_ns = self.axis.shift_ns(record);
        let window = Window {
            id: chosen.id.clone(),
            label: chosen.label.clone(),
            reason: chosen.reason.clone(),
            group: self.groups.id(chosen.process, chosen.gpu),
            start_ns: chosen.time.start_ns.saturating_add(shift_ns),
            end_ns: chosen.time.end_ns.saturating_add(shift_ns),
            lanes: lanes.iter().map(|lane| lane.packed(chosen.time.start_ns)).collect(),
            flows: flows(&lanes, made),
            path: made.path.clone(),
            pairs: Vec::new(),
        };
        Some((window, lanes))
    }
}

/// The rows of tables in a part of the run.
fn cut(tables: &ProcessTables, time: Extent) -> Result<ProcessTables> {
    let rows = |name: &&'static str| Ok((*name, rows_in(tables, name, time)?.lazy()));
    tables.keys().map(rows).collect()
}

/// The picture of a run.
///
/// # Errors
/// When a table cannot be read or built.
pub fn picture(trace: &Trace, reader: TimelineReader, options: &PictureOptions<'_>) -> Result<Picture> {
    let is_about_waits = |finding: &&Finding| ["straggler", "collective_wait"].contains(&finding.rule.as_str());
    let late = options.findings.iter().filter(is_about_waits).find_map(|finding| finding.rank);
    let mut run = Run::new(trace, reader, late)?;
    let sentences = Sentences::new(options.names);
    let title = |finding: &Finding| sentences.finding(finding).title.replace('`', "");
    let Run { records, axis, groups, focus, .. } = &run;
    let placing = Places { records, axis, groups, registry: options.registry, focus: *focus };
    let found = placing.all(options.findings)?;
    let extra = place_windows(&run, &found, &title);
    let places = found.iter().filter_map(|(finding, place)| placing.shown(finding, *place, &title(finding))).collect();
    run.chosen.extend(extra);
    let ranks: BTreeSet<i64> = options
        .findings
        .iter()
        .filter_map(|finding| finding.rank)
        .chain(run.chosen.iter().filter_map(|window| Some(run.records.processes.get(&window.process)?.rank)))
        .collect();
    let WholeRun { overview, notes, others } =
        overview(&mut run.records, &run.axis, &run.groups, run.focus, &ranks, Bins::Within(overview::BUDGET));
    run.notes.extend(notes);
    let mut names = Names::new(options.names, options.form);
    let made = run.lanes(&mut names)?;
    let gpus: usize = run.records.processes.values().map(|record| record.gpus.len()).sum();
    let budget = if gpus > FEW_GPUS { SMALL_BUDGET } else { BUDGET };
    let mut windows: Vec<Window> = run.windows(&made, budget, &names)?.into_iter().map(|(window, _)| window).collect();
    let names = names.finish(&mut windows, budget)?;
    let mut picture = Picture {
        version: VERSION,
        origin_ns: run.axis.origin_ns().to_string(),
        span_ns: run.axis.span_ns,
        names,
        overview,
        windows,
        places,
        notes: std::mem::take(&mut run.notes),
        ..Picture::default()
    };
    picture.groups = used_groups(&picture, &run, others, None);
    number_kinds(&mut picture, std::mem::take(&mut run.records.kinds));
    Ok(picture)
}

/// Windows around the first places of findings that no other window shows. A finding states the number of its first place.
fn place_windows(run: &Run, found: &[(&Finding, Place)], title: &dyn Fn(&Finding) -> String) -> Vec<Chosen> {
    let mut windows: Vec<Chosen> = Vec::new();
    let longest_ns = run.chosen.first().map(|typical| typical.time.length_ns().saturating_mul(LONGEST_PLACE));
    let mut tried = BTreeSet::new();
    for (finding, Place { process, gpu, time }) in found {
        if !tried.insert(finding.id.as_str()) {
            continue;
        }
        let Some(record) = run.records.processes.get(process).filter(|record| record.tables.is_some()) else {
            continue;
        };
        if run.chosen.iter().chain(&windows).any(|window| covers(window, *process, *gpu, *time)) {
            continue;
        }
        // The overview shows longer ones.
        let is_long = longest_ns.is_some_and(|longest_ns| time.length_ns() > longest_ns);
        if is_long {
            continue;
        }
        if windows.len() >= MAX_PLACES {
            break;
        }
        let margin_ns = (time.length_ns() / 2).max(MARGIN_NS);
        let gpu = gpu.or_else(|| busiest_gpu(record).map(|gpu| gpu.gpu));
        windows.push(Chosen {
            id: format!("{PLACE}{}", windows.len() + 1),
            label: unused(head(&title(finding)), &windows),
            reason: format!("a place of this finding on {}: {}", gpu_label(record.rank, gpu), title(finding)),
            process: *process,
            gpu,
            time: Extent {
                start_ns: time.start_ns.saturating_sub(margin_ns),
                end_ns: time.end_ns.saturating_add(margin_ns),
            },
        });
    }
    windows
}

/// The first words of a title.
fn head(title: &str) -> String {
    let shown = escape_hidden(title);
    if shown.chars().count() <= LONGEST_LABEL {
        return shown.into_owned();
    }
    let cut: String = shown.chars().take(LONGEST_LABEL).collect();
    let words = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    format!("{}…", words.trim_end_matches([' ', ',', '(', ':']))
}

/// A name that no window has, with a number if one has it.
fn unused(name: String, windows: &[Chosen]) -> String {
    let is_free = |name: &String| windows.iter().all(|window| window.label != *name);
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(is_free).unwrap_or(name)
}

/// The flows between events that have slices of their own.
fn flows(lanes: &[EventLane], made: &WindowLanes) -> Vec<[usize; 4]> {
    let places: Vec<EventPlaces> = lanes.iter().map(event_places).collect();
    let place = |(lane, start_ns, end_ns, id): FlowEnd| places.get(lane)?.get(&(start_ns, end_ns, id)).copied();
    let flow = |[call, work]: &[FlowEnd; 2]| Some([call.0, place(*call)?, work.0, place(*work)?]);
    made.flows.iter().filter_map(flow).take(MAX_FLOWS).collect()
}

/// Places of slices by start, end and id.
pub(super) type EventPlaces = BTreeMap<(i64, i64, i64), usize>;

/// The slices of a lane.
pub(super) fn event_places(lane: &EventLane) -> EventPlaces {
    let key = |event: &Event| (event.start_ns, event.end_ns, event.id);
    lane.events.iter().enumerate().map(|(place, event)| (key(event), place)).collect()
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
pub(super) fn used_groups(picture: &Picture, run: &Run, others: usize, side: Option<&'static str>) -> Vec<LaneGroup> {
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
    let mut used = run.groups.all(&run.records, &wanted, side);
    if others > 0 {
        let label = format!("{others} other GPUs");
        used.push(LaneGroup { id: run.groups.others(), label, rank: -1, gpu: None, side });
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
