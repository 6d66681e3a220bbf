//! The counter tracks of a process: queues, memory, counters of dispatches and samples.

use std::collections::BTreeMap;
use std::io;

use anyhow::Result;
use itertools::izip;
use polars::prelude::{DataFrame, DataType};

use super::process::ProcessWriter;
use super::stream::{Described, Merge};
use crate::columns::values::I64Values;

/// Values over time, by track.
type Series<K> = BTreeMap<K, Vec<(i64, f64)>>;

impl ProcessWriter<'_, '_> {
    /// Work that waits in each queue, over time.
    pub(super) fn depths(&mut self, parent: &dyn Fn(Option<i64>) -> u64) -> Result<()> {
        let frame = self.table("queue_depths")?;
        let integers = |name: &str| -> Result<I64Values> { Ok(I64Values::new(frame.column(name)?.i64()?)) };
        let (gpus, queues, starts) = (integers("gpu")?, integers("queue_id")?, integers("start_ns")?);
        let (ends, waiting) = (integers("end_ns")?, integers("waiting")?);
        let mut series: Series<(Option<i64>, Option<i64>)> = Series::new();
        for (gpu, queue, start, end, waiting) in
            izip!(gpus.iter(), queues.iter(), starts.iter(), ends.iter(), waiting.iter())
        {
            let (Some(start_ns), Some(end_ns)) = (start, end) else { continue };
            let values = series.entry((gpu, queue)).or_default();
            values.push((start_ns, waiting.unwrap_or_default() as f64));
            values.push((end_ns, 0.0));
        }
        for ((gpu, queue), values) in series {
            let name = format!("Waiting in queue {}", queue.map_or_else(|| "?".to_owned(), |queue| queue.to_string()));
            self.counter("depth", &name, "count", parent(gpu), 70, &[gpu.unwrap_or(-1), queue.unwrap_or(-1)], values)?;
        }
        Ok(())
    }

    /// Memory that is allocated on each GPU, over time.
    pub(super) fn memory(&mut self, parent: &dyn Fn(Option<i64>) -> u64) -> Result<()> {
        let frame = self.table("memory_live")?;
        let integers = |name: &str| -> Result<I64Values> { Ok(I64Values::new(frame.column(name)?.i64()?)) };
        let (gpus, times, live) = (integers("gpu")?, integers("time_ns")?, integers("live_bytes")?);
        let levels = frame.column("level")?.cast(&DataType::String)?;
        let mut series: Series<(Option<i64>, String)> = Series::new();
        for (gpu, time, live, level) in izip!(gpus.iter(), times.iter(), live.iter(), levels.str()?.iter()) {
            let (Some(time_ns), Some(live)) = (time, live) else { continue };
            series.entry((gpu, level.unwrap_or_default().to_lowercase())).or_default().push((time_ns, live as f64));
        }
        for (number, ((gpu, level), values)) in (0_i64..).zip(series) {
            let name = format!("Allocated, {level}");
            self.counter("allocated", &name, "bytes", parent(gpu), 80, &[gpu.unwrap_or(-1), number], values)?;
        }
        Ok(())
    }

    /// Counters of dispatches: the value while the dispatch runs, otherwise 0.
    pub(super) fn counters(&mut self, parent: &dyn Fn(Option<i64>) -> u64) -> Result<()> {
        let (counters, kernels) = (self.table("counters")?, self.table("kernels")?);
        if counters.height() == 0 {
            return Ok(());
        }
        let of =
            |frame: &DataFrame, name: &str| -> Result<I64Values> { Ok(I64Values::new(frame.column(name)?.i64()?)) };
        let (ids, gpus) = (of(&kernels, "dispatch_id")?, of(&kernels, "gpu")?);
        let (starts, ends) = (of(&kernels, "start_ns")?, of(&kernels, "end_ns")?);
        let rows = izip!(ids.iter(), gpus.iter(), starts.iter(), ends.iter());
        let runs: BTreeMap<i64, (Option<i64>, i64, i64)> =
            rows.filter_map(|(id, gpu, start, end)| Some((id?, (gpu, start?, end?)))).collect();
        let names = counters.column("counter")?.cast(&DataType::String)?;
        let values = counters.column("value")?.f64()?;
        let mut series: Series<(Option<i64>, String)> = Series::new();
        let counted = of(&counters, "dispatch_id")?;
        for (id, name, value) in izip!(counted.iter(), names.str()?.iter(), values.iter()) {
            let run = id.and_then(|id| runs.get(&id));
            let (Some((gpu, start_ns, end_ns)), Some(name), Some(value)) = (run, name, value) else { continue };
            let all = series.entry((*gpu, name.to_owned())).or_default();
            all.extend([(*start_ns, value), (*end_ns, 0.0)]);
        }
        let mut groups: BTreeMap<Option<i64>, u64> = BTreeMap::new();
        for (number, ((gpu, name), mut values)) in (0_i64..).zip(series) {
            let group = match groups.get(&gpu) {
                Some(group) => *group,
                None => {
                    let uuid = self.uuid("counters", &[gpu.unwrap_or(-1)]);
                    let (parent, merge) = (Some(parent(gpu)), Merge::Never);
                    self.stream.describe(&Described { uuid, name: "Counters", parent, merge, rank: 90, unit: None })?;
                    groups.insert(gpu, uuid);
                    uuid
                }
            };
            // A dispatch that starts as another one ends has the last word.
            values.sort_by(|one, other| one.0.cmp(&other.0).then((one.1 != 0.0).cmp(&(other.1 != 0.0))));
            self.counter("counter", &name, "", group, number, &[gpu.unwrap_or(-1), number], values)?;
        }
        Ok(())
    }

    /// Sampled values such as clocks and power.
    pub(super) fn samples(&mut self, process: u64) -> Result<()> {
        let frame = self.table("samples")?;
        let times = I64Values::new(frame.column("time_ns")?.i64()?);
        let values = frame.column("value")?.f64()?;
        let text = |column: &str| frame.column(column)?.cast(&DataType::String);
        let (tracks, names, units) = (text("track")?, text("name")?, text("unit")?);
        let mut series: Series<(String, String, String)> = Series::new();
        for (time, value, track, name, unit) in
            izip!(times.iter(), values.iter(), tracks.str()?.iter(), names.str()?.iter(), units.str()?.iter())
        {
            let (Some(time_ns), Some(value)) = (time, value) else { continue };
            let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
            series.entry((text(track), text(name), text(unit))).or_default().push((time_ns, value));
        }
        for (number, ((track, name, unit), values)) in (0_i64..).zip(series) {
            let shown = if track == name { name } else { format!("{track} {name}") };
            self.counter("sample", &shown, &unit, process, 90, &[number], values)?;
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the facts of one track")]
    fn counter(
        &mut self,
        kind: &str,
        name: &str,
        unit: &str,
        parent: u64,
        rank: i64,
        numbers: &[i64],
        mut values: Vec<(i64, f64)>,
    ) -> Result<(), io::Error> {
        values.retain(|(at_ns, value)| *at_ns > 0 && value.is_finite());
        values.sort_by_key(|(at_ns, _)| *at_ns);
        if values.is_empty() {
            return Ok(());
        }
        let uuid = self.uuid(kind, numbers);
        self.stream.describe(&Described {
            uuid,
            name,
            parent: Some(parent),
            merge: Merge::Never,
            rank,
            unit: Some(unit),
        })?;
        let mut track = self.stream.start(uuid)?;
        // Of several values at one time the last one holds.
        for (place, (at_ns, value)) in values.iter().enumerate() {
            if values.get(place + 1).is_none_or(|(next_ns, _)| next_ns > at_ns) {
                self.stream.value(&mut track, *at_ns, *value)?;
            }
        }
        Ok(())
    }
}
