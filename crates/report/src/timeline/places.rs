//! Where findings show on the time line.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::{DataFrame, DataType};

use super::axis::{Axis, Groups};
use super::columns::{Extent, integers, table, texts, times};
use super::kinds::{kind_of_rule, unit_of_rule};
use super::model::FindingPlace;
use super::record::{Longest, ProcessRecord, Records, Unit};
use wavesieve_engine::Registry;
use wavesieve_engine::findings::{Evidence, Finding};
use wavesieve_tables::trace::views::View;

/// Maximum number of places of a finding.
const MAX_PLACES: usize = 3;

/// A place of a process, on its own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Its process.
    pub process: i64,
    /// Its GPU, if it is about one that worked.
    pub gpu: Option<i64>,
    /// Its time.
    pub time: Extent,
}

/// Input of places.
pub(super) struct Places<'a> {
    /// Records, with the tables of chosen processes.
    pub records: &'a Records,
    /// The axis.
    pub axis: &'a Axis,
    /// Ids of groups.
    pub groups: &'a Groups,
    /// The queries, whose rows are evidence.
    pub registry: &'a Registry,
    /// The process to show if any would do.
    pub focus: Option<i64>,
}

/// Values of a row of evidence.
#[derive(Clone, Debug, Default)]
struct Row {
    process: Option<i64>,
    rank: Option<i64>,
    gpu: Option<i64>,
    dispatch_id: Option<i64>,
    iteration: Option<i64>,
    part: Option<i64>,
    interval: Option<Extent>,
    cause: Option<String>,
    kernel: Option<String>,
    range: Option<String>,
    direction: Option<String>,
}

impl Row {
    fn new(evidence: &Evidence, row: usize, has_raw_times: bool) -> Self {
        let frame = &evidence.frame;
        let integer = |names: &[&str]| names.iter().find_map(|name| value(frame, name, row));
        let text = |names: &[&str]| names.iter().find_map(|name| words(frame, name, row));
        let start_ns = integer(&["start_ns"]).filter(|_| has_raw_times);
        let end_ns = || integer(&["end_ns"]).or_else(|| start_ns?.checked_add(integer(&["duration_ns"])?));
        Self {
            process: integer(&["process", "worst_process"]),
            rank: integer(&["rank", "worst_rank"]),
            gpu: integer(&["gpu", "worst_gpu"]),
            dispatch_id: integer(&["dispatch_id", "worst_dispatch_id", "first_dispatch_id"]),
            iteration: integer(&["iteration", "worst_iteration"]),
            part: integer(&["part"]),
            interval: start_ns.and_then(|start_ns| Some(Extent { start_ns, end_ns: end_ns()? })),
            cause: text(&["cause"]),
            kernel: text(&["kernel_name", "kernel"]),
            range: text(&["message", "path", "range"]),
            direction: text(&["direction"]),
        }
    }
}

fn value(frame: &DataFrame, name: &str, row: usize) -> Option<i64> {
    frame.column(name).ok()?.i64().ok()?.get(row)
}

fn words(frame: &DataFrame, name: &str, row: usize) -> Option<String> {
    let column = frame.column(name).ok()?.cast(&DataType::String).ok()?;
    column.str().ok()?.get(row).map(ToOwned::to_owned)
}

impl Places<'_> {
    /// The places of each finding, in the order of findings.
    ///
    /// # Errors
    /// When a table lacks a column.
    pub(super) fn all<'f>(&self, findings: &'f [Finding]) -> Result<Vec<(&'f Finding, Place)>> {
        let mut places = Vec::new();
        for finding in findings {
            let mut seen = BTreeSet::new();
            for mut place in self.found(finding)? {
                let Some(record) = self.records.processes.get(&place.process) else { continue };
                place.gpu = place.gpu.filter(|gpu| record.gpus.iter().any(|known| known.gpu == *gpu));
                if seen.len() < MAX_PLACES && seen.insert(place) {
                    places.push((finding, place));
                }
            }
        }
        Ok(places)
    }

    /// A place as the picture has it. `title` is the title of its finding.
    pub(super) fn shown(&self, finding: &Finding, place: Place, title: &str) -> Option<FindingPlace> {
        let record = self.records.processes.get(&place.process)?;
        let (start_ns, end_ns) = self.axis.place(record, place.time);
        let group = self.groups.id(place.process, place.gpu);
        Some(FindingPlace { id: finding.id.clone(), label: title.to_owned(), group, start_ns, end_ns })
    }

    fn found(&self, finding: &Finding) -> Result<Vec<Place>> {
        let rows = self.rows(finding);
        if let Some(kind) = kind_of_rule(&finding.rule) {
            let longest = self.longest(kind, finding, rows.first());
            if longest.is_some() {
                return Ok(longest.into_iter().collect());
            }
        }
        if let Some(unit) = unit_of_rule(&finding.rule) {
            let place = self.unit(unit, finding, rows.first());
            if place.is_some() {
                return Ok(place.into_iter().collect());
            }
        }
        let mut places = Vec::new();
        for row in &rows {
            places.extend(self.of_row(row, finding)?);
            if places.len() >= MAX_PLACES {
                break;
            }
        }
        if places.is_empty()
            && let Some(kernel) = &finding.kernel
        {
            places.extend(self.slowest(kernel, &Row { rank: finding.rank, ..Row::default() })?);
        }
        if places.is_empty()
            && let Some(subject) = &finding.subject
        {
            places.extend(self.slowest_range(subject, &Row { rank: finding.rank, ..Row::default() })?);
        }
        if places.is_empty() {
            places.extend(finding.rank.and_then(|rank| self.of_rank(rank)));
        }
        Ok(places)
    }

    fn rows(&self, finding: &Finding) -> Vec<Row> {
        let of = |evidence: &Evidence| {
            let query = self.registry.get(&evidence.question.query).ok();
            let has_raw_times =
                query.is_some_and(|query| !query.declaration.needs.iter().any(|table| table == "clocks"));
            (0..evidence.frame.height()).map(|row| Row::new(evidence, row, has_raw_times)).collect::<Vec<Row>>()
        };
        let is_own = |row: &Row| finding.rank.is_none() || row.rank.is_none() || row.rank == finding.rank;
        finding.evidence.iter().flat_map(of).filter(is_own).collect()
    }

    /// The processes that a row names, the one to show first of all others.
    fn processes(&self, row: &Row) -> Vec<&ProcessRecord> {
        let is_own = |record: &&ProcessRecord| {
            row.process.is_none_or(|process| process == record.process)
                && row.rank.is_none_or(|rank| rank == record.rank)
        };
        let mut found: Vec<&ProcessRecord> = self.records.processes.values().filter(is_own).collect();
        found.sort_by_key(|record| (Some(record.process) != self.focus, record.process));
        found
    }

    /// The longest interval of a kind, on the GPU that stands out if one does.
    fn longest(&self, kind: &str, finding: &Finding, row: Option<&Row>) -> Option<Place> {
        let mut row = row.cloned().unwrap_or_default();
        row.rank = finding.rank.or(row.rank);
        let of = |longest: &Longest| match finding.view {
            View::Steady => longest.steady.or(longest.whole),
            View::WholeRun => longest.whole,
        };
        let on_gpus = |record: &ProcessRecord, row: &Row| {
            let gpus = record.gpus.iter().filter(|gpu| row.gpu.is_none_or(|wanted| wanted == gpu.gpu));
            let process = record.process;
            let found = gpus.flat_map(|gpu| gpu.longest.iter().map(move |(kind, longest)| (gpu.gpu, *kind, longest)));
            found
                .filter(|(_, known, _)| self.records.kinds.id(*known) == kind)
                .filter_map(|(gpu, _, longest)| Some(Place { process, gpu: Some(gpu), time: of(longest)? }))
                .collect::<Vec<Place>>()
        };
        let own = self.processes(&row).into_iter().flat_map(|record| on_gpus(record, &row)).collect::<Vec<Place>>();
        let any = Row::default();
        let all = || self.processes(&any).into_iter().flat_map(|record| on_gpus(record, &any)).collect();
        let candidates: Vec<Place> = if own.is_empty() { all() } else { own };
        candidates.into_iter().max_by_key(|place| (place.time.length_ns(), Reverse(*place)))
    }

    /// A unit that a rule is about: the longest steady one, the first after a jump, the first warm-up, or the median one of its rank.
    fn unit(&self, which: &str, finding: &Finding, row: Option<&Row>) -> Option<Place> {
        let mut row = row.cloned().unwrap_or_default();
        row.rank = finding.rank.or(row.rank);
        if which == "median" {
            return row.rank.and_then(|rank| self.of_rank(rank));
        }
        let of = |record: &ProcessRecord| {
            let steady = record.units.iter().filter(|unit| unit.phase == "steady");
            let unit = match which {
                "longest" => steady.max_by_key(|unit| (unit.time.length_ns(), Reverse(unit.iteration)))?,
                "warmup" => record.units.iter().find(|unit| unit.phase == "warmup")?,
                _ => {
                    let mut pairs = record.units.windows(2);
                    let is_jump = |two: &[Unit]| matches!(two, [one, next] if one.level != next.level);
                    pairs.find(|two| is_jump(two)).and_then(|two| two.last())?
                }
            };
            Some(Place { process: record.process, gpu: gpu_of(record), time: unit.time })
        };
        self.processes(&row).into_iter().find_map(of)
    }

    fn of_row(&self, row: &Row, finding: &Finding) -> Result<Option<Place>> {
        if let Some(part) = row.part.and_then(|part| usize::try_from(part).ok()) {
            let of = |record: &&ProcessRecord| {
                let time = record.parts.get(part)?.time;
                Some(Place { process: record.process, gpu: gpu_of(record), time })
            };
            let place = self.processes(row).first().and_then(of);
            if place.is_some() {
                return Ok(place);
            }
        }
        if let Some(id) = row.dispatch_id
            && let Some(place) = self.dispatch(id, row)?
        {
            return Ok(Some(place));
        }
        if let Some(time) = row.interval {
            let place = self.processes(row).first().map(|record| Place { process: record.process, gpu: row.gpu, time });
            if place.is_some() {
                return Ok(place);
            }
        }
        if let Some(cause) = &row.cause {
            let place = self.longest(&format!("idle:{cause}"), finding, Some(row));
            if place.is_some() {
                return Ok(place);
            }
        }
        if let Some(iteration) = row.iteration {
            let unit = self.processes(row).into_iter().find_map(|record| {
                let unit = record.units.iter().find(|unit| unit.iteration == iteration)?;
                Some(Place { process: record.process, gpu: row.gpu.or_else(|| gpu_of(record)), time: unit.time })
            });
            if unit.is_some() {
                return Ok(unit);
            }
        }
        let kernel = finding.kernel.as_ref().or(row.kernel.as_ref());
        if let Some(kernel) = kernel
            && let Some(place) = self.slowest(kernel, row)?
        {
            return Ok(Some(place));
        }
        if let Some(range) = &row.range
            && let Some(place) = self.slowest_range(range, row)?
        {
            return Ok(Some(place));
        }
        match &row.direction {
            Some(direction) => self.slowest_of("memory_copies", "direction", direction, row),
            None => Ok(None),
        }
    }

    fn dispatch(&self, id: i64, row: &Row) -> Result<Option<Place>> {
        for record in self.processes(row) {
            let Some(tables) = &record.tables else { continue };
            let frame = table(tables, "kernels")?;
            if frame.height() == 0 {
                continue;
            }
            let (ids, gpus) = (integers(&frame, "dispatch_id")?, integers(&frame, "gpu")?);
            let found = times(&frame)?.into_iter().find(|(row, _)| ids.get(*row) == Some(id));
            if let Some((row, time)) = found {
                return Ok(Some(Place { process: record.process, gpu: gpus.get(row), time }));
            }
        }
        Ok(None)
    }

    /// The slowest dispatch of a kernel.
    fn slowest(&self, kernel: &str, row: &Row) -> Result<Option<Place>> {
        self.slowest_of("kernels", "kernel_name", kernel, row)
    }

    /// The longest instance of a range, by its message or the end of its path.
    fn slowest_range(&self, range: &str, row: &Row) -> Result<Option<Place>> {
        let message = range.rsplit('/').next().unwrap_or(range);
        match self.slowest_of("regions", "message", message, row)? {
            Some(place) => Ok(Some(place)),
            None => self.slowest_of("regions", "name", message, row),
        }
    }

    fn slowest_of(&self, name: &str, column: &str, wanted: &str, row: &Row) -> Result<Option<Place>> {
        let mut slowest: Option<Place> = None;
        for record in self.processes(row) {
            let Some(tables) = &record.tables else { continue };
            let frame = table(tables, name)?;
            if frame.height() == 0 {
                continue;
            }
            let named = texts(&frame, column)?;
            let gpus = if frame.column("gpu").is_ok() { Some(integers(&frame, "gpu")?) } else { None };
            for (at, time) in times(&frame)? {
                let gpu = gpus.as_ref().and_then(|gpus| gpus.get(at));
                let is_own = named.get(at) == Some(wanted) && (row.gpu.is_none() || gpu.is_none() || gpu == row.gpu);
                if is_own && slowest.is_none_or(|known| known.time.length_ns() < time.length_ns()) {
                    let gpu = gpu.or_else(|| gpu_of(record));
                    slowest = Some(Place { process: record.process, gpu, time });
                }
            }
        }
        Ok(slowest)
    }

    /// The median unit of a rank, or all of its time.
    fn of_rank(&self, rank: i64) -> Option<Place> {
        let record = self.records.processes.values().find(|record| record.rank == rank)?;
        let mut units: Vec<Extent> = record.units.iter().map(|unit| unit.time).collect();
        units.sort_by_key(|time| (time.length_ns(), time.start_ns));
        let median = units.len().checked_sub(1).and_then(|last| units.get(last / 2)).copied();
        Some(Place { process: record.process, gpu: gpu_of(record), time: median.or(record.extent)? })
    }
}

/// The GPU that worked most.
fn gpu_of(record: &ProcessRecord) -> Option<i64> {
    record.gpus.iter().max_by_key(|gpu| (gpu.busy_ns, Reverse(gpu.gpu))).map(|gpu| gpu.gpu)
}
