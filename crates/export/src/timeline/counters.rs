//! The counter tracks of a process: queues, copies in flight, memory, counters of dispatches and samples.

use std::collections::BTreeMap;

use anyhow::Result;
use itertools::izip;
use polars::prelude::DataFrame;

use super::process::ProcessWriter;
use super::rows::{integers, texts};
use super::sink::{Sink, TrackContent, TrackFacts};

/// Values over time, by track.
type Series<K> = BTreeMap<K, Vec<(i64, f64)>>;

/// A counter track.
struct CounterFacts<'a> {
    kind: &'a str,
    name: &'a str,
    unit: &'a str,
    parent: u64,
    order: i64,
    gpu: Option<i64>,
    number: i64,
}

impl<S: Sink> ProcessWriter<'_, S> {
    /// Work that waits in each queue, over time.
    pub(super) fn depths(&mut self, frame: &DataFrame) -> Result<()> {
        let (gpus, queues) = (integers(frame, "gpu")?, integers(frame, "queue_id")?);
        let (starts, ends, waiting) =
            (integers(frame, "start_ns")?, integers(frame, "end_ns")?, integers(frame, "waiting")?);
        let mut series: Series<(Option<i64>, Option<i64>)> = Series::new();
        for (gpu, queue, start, end, waiting) in
            izip!(gpus.iter(), queues.iter(), starts.iter(), ends.iter(), waiting.iter())
        {
            let (Some(start_ns), Some(end_ns)) = (start, end) else { continue };
            series.entry((gpu, queue)).or_default().extend(held(start_ns, end_ns, waiting.unwrap_or_default() as f64));
        }
        for ((gpu, queue), values) in series {
            let name = format!("Waiting in queue {}", queue.map_or_else(|| "?".to_owned(), |queue| queue.to_string()));
            let (parent, number) = (self.gpu_track(gpu), queue.unwrap_or(-1));
            let facts = CounterFacts { kind: "depth", name: &name, unit: "count", parent, order: 70, gpu, number };
            self.counter(&facts, values)?;
        }
        Ok(())
    }

    /// Bytes of the copies that run at a time.
    pub(super) fn copies_in_flight(&mut self, frame: &DataFrame) -> Result<()> {
        let (gpus, bytes) = (integers(frame, "gpu")?, integers(frame, "bytes")?);
        let (starts, ends) = (integers(frame, "start_ns")?, integers(frame, "end_ns")?);
        let mut changes: BTreeMap<Option<i64>, Vec<(i64, i64)>> = BTreeMap::new();
        for (gpu, bytes, start, end) in izip!(gpus.iter(), bytes.iter(), starts.iter(), ends.iter()) {
            let (Some(bytes), Some(start_ns), Some(end_ns)) = (bytes.filter(|bytes| *bytes > 0), start, end) else {
                continue;
            };
            if start_ns > 0 && end_ns > start_ns {
                changes.entry(gpu).or_default().extend([(start_ns, bytes), (end_ns, -bytes)]);
            }
        }
        for (gpu, mut changes) in changes {
            changes.sort_unstable();
            let mut running = 0_i64;
            let values = changes.into_iter().map(|(at_ns, bytes)| {
                running = running.saturating_add(bytes);
                (at_ns, running as f64)
            });
            let values: Vec<(i64, f64)> = values.collect();
            let (parent, name) = (self.gpu_track(gpu), "Copies in flight");
            let facts = CounterFacts { kind: "in flight", name, unit: "bytes", parent, order: 75, gpu, number: 0 };
            self.counter(&facts, values)?;
        }
        Ok(())
    }

    /// Memory that is allocated on each GPU, over time.
    pub(super) fn memory(&mut self, frame: &DataFrame) -> Result<()> {
        let (gpus, times, live) =
            (integers(frame, "gpu")?, integers(frame, "time_ns")?, integers(frame, "live_bytes")?);
        let levels = texts(frame, "level")?;
        let mut series: Series<(Option<i64>, String)> = Series::new();
        for (gpu, time, live, level) in izip!(gpus.iter(), times.iter(), live.iter(), levels.iter()) {
            let (Some(time_ns), Some(live)) = (time, live) else { continue };
            series.entry((gpu, level.unwrap_or_default().to_lowercase())).or_default().push((time_ns, live as f64));
        }
        for (number, ((gpu, level), values)) in (0_i64..).zip(series) {
            let (name, parent) = (format!("Allocated, {level}"), self.gpu_track(gpu));
            let facts = CounterFacts { kind: "allocated", name: &name, unit: "bytes", parent, order: 80, gpu, number };
            self.counter(&facts, values)?;
        }
        Ok(())
    }

    /// Counters of dispatches: the value while the dispatch runs, otherwise 0.
    pub(super) fn counters(&mut self, counters: &DataFrame, dispatches: &DataFrame) -> Result<()> {
        let key = |frame: &DataFrame| anyhow::Ok((integers(frame, "pass")?, integers(frame, "dispatch_id")?));
        let ((passes, ids), gpus) = (key(dispatches)?, integers(dispatches, "gpu")?);
        let (starts, ends) = (integers(dispatches, "start_ns")?, integers(dispatches, "end_ns")?);
        let rows = izip!(passes.iter(), ids.iter(), gpus.iter(), starts.iter(), ends.iter());
        let runs: BTreeMap<(i64, i64), (Option<i64>, i64, i64)> =
            rows.filter_map(|(pass, id, gpu, start, end)| Some(((pass?, id?), (gpu, start?, end?)))).collect();
        let (names, values) = (texts(counters, "counter")?, counters.column("value")?.f64()?);
        let mut series: Series<(Option<i64>, &str)> = Series::new();
        let (passes, ids) = key(counters)?;
        for (pass, id, name, value) in izip!(passes.iter(), ids.iter(), names.iter(), values.iter()) {
            let run = pass.zip(id).and_then(|key| runs.get(&key));
            let (Some((gpu, start_ns, end_ns)), Some(name), Some(value)) = (run, name, value) else { continue };
            series.entry((*gpu, name)).or_default().extend(held(*start_ns, *end_ns, value));
        }
        let mut groups: BTreeMap<Option<i64>, u64> = BTreeMap::new();
        for (number, ((gpu, name), values)) in (0_i64..).zip(series) {
            let group = match groups.get(&gpu) {
                Some(group) => *group,
                None => {
                    let uuid = self.uuid("counters", &[gpu.unwrap_or(-1)]);
                    let (parent, place) = (self.gpu_track(gpu), TrackContent::Group);
                    self.sink.group(&TrackFacts {
                        uuid,
                        name: "Counters",
                        parent,
                        order: 90,
                        lanes_of: None,
                        place,
                    })?;
                    groups.insert(gpu, uuid);
                    uuid
                }
            };
            let facts = CounterFacts { kind: "counter", name, unit: "", parent: group, order: number, gpu, number };
            self.counter(&facts, values)?;
        }
        Ok(())
    }

    /// Sampled values such as clocks and power.
    pub(super) fn samples(&mut self, frame: &DataFrame) -> Result<()> {
        let (times, values) = (integers(frame, "time_ns")?, frame.column("value")?.f64()?);
        let (tracks, names, units) = (texts(frame, "track")?, texts(frame, "name")?, texts(frame, "unit")?);
        let mut series: Series<[&str; 3]> = Series::new();
        for (time, value, track, name, unit) in
            izip!(times.iter(), values.iter(), tracks.iter(), names.iter(), units.iter())
        {
            let (Some(time_ns), Some(value)) = (time, value) else { continue };
            series.entry([track, name, unit].map(Option::unwrap_or_default)).or_default().push((time_ns, value));
        }
        let parent = self.uuid("process", &[]);
        for (number, ([track, name, unit], values)) in (0_i64..).zip(series) {
            let shown = if track == name { name.to_owned() } else { format!("{track} {name}") };
            let facts = CounterFacts { kind: "sample", name: &shown, unit, parent, order: 90, gpu: None, number };
            self.counter(&facts, values)?;
        }
        Ok(())
    }

    fn counter(&mut self, facts: &CounterFacts<'_>, mut values: Vec<(i64, f64)>) -> Result<()> {
        values.retain(|(at_ns, value)| *at_ns > 0 && value.is_finite());
        // Values that start at a time follow those that end at it.
        if !values.is_sorted_by_key(|(at_ns, _)| *at_ns) {
            values.sort_by(|one, other| one.0.cmp(&other.0).then((one.1 != 0.0).cmp(&(other.1 != 0.0))));
        }
        let is_zero = values.iter().all(|(_, value)| *value == 0.0);
        if values.is_empty() || (is_zero && facts.kind != "counter" && facts.kind != "sample") {
            return Ok(());
        }
        let uuid = self.uuid(facts.kind, &[facts.gpu.unwrap_or(-1), facts.number]);
        let place = TrackContent::Counter { gpu: facts.gpu, unit: facts.unit };
        let (name, parent, order) = (facts.name, facts.parent, facts.order);
        let mut track = self.sink.track(&TrackFacts { uuid, name, parent, order, lanes_of: None, place })?;
        let mut shown = None;
        for (place, (at_ns, value)) in values.iter().enumerate() {
            // The last of several values at one time counts. Equal values are not repeated, but the last of all
            // shows how long it held.
            let next = values.get(place + 1);
            let is_last = next.is_none_or(|(next_ns, _)| next_ns > at_ns);
            if is_last && (shown != Some(*value) || next.is_none()) {
                self.sink.value(&mut track, *at_ns, *value)?;
                shown = Some(*value);
            }
        }
        self.sink.finish(track)
    }
}

/// A value over an interval, and 0 after it.
fn held(start_ns: i64, end_ns: i64, value: f64) -> [(i64, f64); 2] {
    [(start_ns, value), (end_ns, 0.0)]
}
