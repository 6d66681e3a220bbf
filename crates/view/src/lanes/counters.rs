//! Values over time: telemetry, and the live memory of GPUs.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::DataFrame;
use wavesieve_engine::findings::bytes;
use wavesieve_model::schema;
use wavesieve_tables::trace::{Trace, TraceProcess};

use super::event::Event;
use super::frames::{Texts, integers, read_all};
use super::part::{Part, StoredLane};
use super::row::Row;

/// Id of the kind of values.
pub const COUNTER: &str = "counter";
/// Unit of sizes.
const BYTES: &str = "B";

/// Times on the clock of the picture, and values; each holds until the next one.
type Values = Vec<(i64, f64)>;

/// GPU, name and track of sampled values, the latter as indexes of texts.
type SampledKey = (Option<i64>, u32, u32);

/// Values of one thing over time.
pub struct Series {
    /// Index of the GPU in its process; `None` for the host.
    gpu: Option<i64>,
    /// Its name, after the name of its track if several have it.
    name: String,
    /// Unit, as recorded.
    unit: String,
    values: Values,
}

const SAMPLE_COLUMNS: [&str; 6] = ["track", "name", "unit", "agent_id", "time_ns", "value"];
const LIVE_COLUMNS: [&str; 4] = ["level", "gpu", "time_ns", "live_bytes"];

/// Whether rows of a table were recorded.
fn has_rows(trace: &Trace, member: &TraceProcess, table: &str) -> bool {
    schema::table(table).is_some_and(|table| trace.recorded_rows(member, table) > 0)
}

/// Whether the GPUs of a process have lanes of their own: otherwise their values are those of the host.
pub fn has_work(trace: &Trace, member: &TraceProcess) -> bool {
    has_rows(trace, member, "kernels") || has_rows(trace, member, "memory_copies")
}

/// Reads all values of a process. `shift_ns` is added to their times.
pub fn read(trace: &Trace, member: &TraceProcess, shift_ns: i64) -> Result<Vec<Series>> {
    let mut all = Vec::new();
    if has_rows(trace, member, "samples") {
        let frames = read_all(trace, member, &[("samples", &SAMPLE_COLUMNS), ("agents", &["agent_id", "gpu"])])?;
        if let Some(samples) = frames.get("samples") {
            all.extend(sampled(samples, frames.get("agents"), shift_ns)?);
        }
    }
    if has_rows(trace, member, "memory_allocations")
        && let Some(live) = read_all(trace, member, &[("memory_live", &LIVE_COLUMNS)])?.get("memory_live")
    {
        all.extend(live_memory(live, shift_ns)?);
    }
    all.retain(|series| !series.values.is_empty());
    Ok(all)
}

fn sampled(samples: &DataFrame, agents: Option<&DataFrame>, shift_ns: i64) -> Result<Vec<Series>> {
    let mut gpu_of: BTreeMap<i64, i64> = BTreeMap::new();
    if let Some(agents) = agents {
        let (ids, gpus) = (integers(agents, "agent_id")?, integers(agents, "gpu")?);
        gpu_of.extend((0..agents.height()).filter_map(|row| Some((ids.get(row)?, gpus.get(row)?))));
    }
    let mut texts = Texts::new(&["", "value"]);
    let [names, tracks, units] =
        ["name", "track", "unit"].map(|column| texts.of_column(samples, column, str::to_owned));
    let (names, tracks, units) = (names?, tracks?, units?);
    let (owners, times) = (integers(samples, "agent_id")?, integers(samples, "time_ns")?);
    let values = samples.column("value")?.f64()?;
    let mut found: BTreeMap<SampledKey, (u32, Values)> = BTreeMap::new();
    for (row, value) in values.iter().enumerate() {
        let (Some(time_ns), Some(value)) = (times.get(row), value.filter(|value| value.is_finite())) else { continue };
        let gpu = owners.get(row).and_then(|agent| gpu_of.get(&agent)).copied();
        let at = |list: &[Option<u32>], otherwise| list.get(row).copied().flatten().unwrap_or(otherwise);
        let (unit, values) = found.entry((gpu, at(&names, 1), at(&tracks, 0))).or_default();
        *unit = at(&units, *unit);
        values.push((time_ns.saturating_add(shift_ns), value));
    }
    let mut tracks_of: BTreeMap<(Option<i64>, u32), usize> = BTreeMap::new();
    found.keys().for_each(|(gpu, name, _)| *tracks_of.entry((*gpu, *name)).or_default() += 1);
    let list = texts.into_list();
    let text = |index: u32| list.get(index as usize).map(String::as_str).unwrap_or_default();
    let mut all: Vec<Series> = Vec::new();
    for ((gpu, name, track), (unit, values)) in found {
        let is_only = tracks_of.get(&(gpu, name)) == Some(&1);
        let name = if is_only { text(name).to_owned() } else { format!("{} ({})", text(name), text(track)) };
        all.push(Series { gpu, name, unit: text(unit).to_owned(), values });
    }
    // Numbers of texts depend on the order of rows.
    all.sort_by(|one, other| (one.gpu, &one.name).cmp(&(other.gpu, &other.name)));
    Ok(all)
}

fn live_memory(live: &DataFrame, shift_ns: i64) -> Result<Vec<Series>> {
    let mut texts = Texts::new(&["REAL", "VIRTUAL"]);
    let levels = texts.of_column(live, "level", str::to_owned)?;
    let (gpus, times, sizes) = (integers(live, "gpu")?, integers(live, "time_ns")?, integers(live, "live_bytes")?);
    let mut found: BTreeMap<(Option<i64>, u32), Values> = BTreeMap::new();
    for row in 0..live.height() {
        let (Some(time_ns), Some(size)) = (times.get(row), sizes.get(row)) else { continue };
        let level = levels.get(row).copied().flatten().unwrap_or(0);
        found.entry((gpus.get(row), level)).or_default().push((time_ns.saturating_add(shift_ns), size as f64));
    }
    let list = texts.into_list();
    let named = |((gpu, level), values): ((Option<i64>, u32), Values)| {
        let name = match list.get(level as usize) {
            Some(level) if level != "REAL" => format!("live memory ({level})"),
            _ => "live memory".to_owned(),
        };
        Series { gpu, name, unit: BYTES.to_owned(), values }
    };
    Ok(found.into_iter().map(named).collect())
}

impl Series {
    /// Its values as events: what a value is of the highest is the share of its time that an event covers.
    fn events(&self, names: &mut Texts, kind: u16) -> Vec<Event> {
        let mut values = self.values.clone();
        // The last of several values at a time counts.
        values.sort_by_key(|(time_ns, _)| *time_ns);
        let (low, high) = self.bounds();
        let about = names.index(&self.name);
        let mut events = Vec::with_capacity(values.len());
        for (id, two) in (0..).zip(values.windows(2)) {
            let [(start_ns, value), (end_ns, _)] = two else { continue };
            if start_ns >= end_ns {
                continue;
            }
            let name = names.index(&shown(*value, &self.unit));
            let event = Event::one((*start_ns, *end_ns), id, name, kind, about);
            let share = if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 };
            events.push(Event { busy_ns: (event.length_ns as f64 * share).round() as i64, ..event });
        }
        events
    }

    /// The least value or 0, and the greatest or 0.
    fn bounds(&self) -> (f64, f64) {
        self.values.iter().fold((0.0, 0.0), |(low, high), (_, value)| (value.min(low), value.max(high)))
    }
}

/// A value with its unit.
fn shown(value: f64, unit: &str) -> String {
    if unit == BYTES {
        return bytes(value);
    }
    let digits = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 1.0 => 1,
        size if size > 0.0 => 3,
        _ => 0,
    };
    format!("{value:.digits$} {unit}").trim_end().to_owned()
}

impl Part {
    /// Adds lanes for values of GPUs, or of the host. The host has those of all GPUs if these have no lanes of their own.
    pub fn add_counters(&mut self, all: Vec<Series>, is_host: bool, have_gpus_lanes: bool) {
        let wanted = all.into_iter().filter(|series| is_host != (series.gpu.is_some() && have_gpus_lanes));
        let mut names = Texts::new(&self.names.iter().map(String::as_str).collect::<Vec<_>>());
        for (number, series) in wanted.enumerate() {
            let kind = self.kinds.iter().position(|id| id == COUNTER).unwrap_or_else(|| {
                self.kinds.push(COUNTER.to_owned());
                self.kinds.len() - 1
            });
            let (low, high) = series.bounds();
            let of_gpu = series.gpu.filter(|_| is_host).map(|gpu| format!("GPU {gpu}: ")).unwrap_or_default();
            let range = format!("{} to {}", shown(low, &series.unit), shown(high, &series.unit));
            let label = format!("{of_gpu}{}, {range}", series.name);
            let rows = vec![Row::exact(series.events(&mut names, u16::try_from(kind).unwrap_or(0)))];
            let (gpu, id) = (series.gpu.filter(|_| !is_host), format!("counter/{number}"));
            self.lanes.push(StoredLane { gpu, id, kind: COUNTER, label, rows });
        }
        self.names = names.into_list();
    }
}

#[cfg(test)]
mod tests {
    use super::super::sums::joined;
    use super::*;

    fn series(gpu: Option<i64>, values: &[(i64, f64)]) -> Series {
        Series { gpu, name: "power".to_owned(), unit: "W".to_owned(), values: values.to_vec() }
    }

    #[test]
    fn a_value_holds_until_the_next_one() {
        let mut names = Texts::new(&["several"]);
        let of = series(Some(0), &[(40, 50.0), (0, 100.0), (10, 7.0), (10, 200.0), (60, 0.0)]);
        let events = of.events(&mut names, 3);
        let times: Vec<_> = events.iter().map(|event| (event.start_ns, event.length_ns, event.busy_ns)).collect();
        assert_eq!(times, [(0, 10, 5), (10, 30, 30), (40, 20, 5)]);
        let mean = joined(events.iter().copied(), 1_000);
        assert_eq!((mean.len(), mean[0].length_ns, mean[0].busy_ns, mean[0].count), (1, 60, 40, 3));
        let list = names.into_list();
        assert_eq!(
            (list[events[0].name as usize].as_str(), list[events[0].about as usize].as_str()),
            ("100 W", "power")
        );
        assert!(series(None, &[(0, 0.0), (5, 0.0)]).events(&mut Texts::default(), 0)[0].busy_ns == 0);
    }

    #[test]
    fn values_of_gpus_without_lanes_are_those_of_the_host() {
        let lanes = |is_host, have_gpus_lanes| {
            let mut part = Part::default();
            let all = vec![series(None, &[(0, 1.0), (5, 2.0)]), series(Some(1), &[(0, 1.0), (5, -2.0)])];
            part.add_counters(all, is_host, have_gpus_lanes);
            part.lanes.iter().map(|lane| (lane.gpu, lane.label.clone())).collect::<Vec<_>>()
        };
        let of_host = (None, "power, 0 W to 2.0 W".to_owned());
        assert_eq!(lanes(true, true), std::slice::from_ref(&of_host));
        assert_eq!(lanes(false, true), [(Some(1), "power, -2.0 W to 1.0 W".to_owned())]);
        assert_eq!(lanes(true, false), [of_host, (None, "GPU 1: power, -2.0 W to 1.0 W".to_owned())]);
        assert!(lanes(false, false).is_empty());
    }
}
