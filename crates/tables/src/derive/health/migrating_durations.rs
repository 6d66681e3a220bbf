//! Kernels in replays of graphs whose durations moved to other names.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::DataFrame;

use crate::columns::frames::values_by_text;
use crate::columns::values::FrameValues;
use wavesieve_model::analysis::migrating_durations::{migrated, min_replay};
use wavesieve_model::schema::anomaly::{Anomaly, Severity};
use wavesieve_model::text::fnv::fnv1a;

/// The check that finds them.
pub const MIGRATING_DURATIONS: &str = "migrating_durations";

/// Replays that are looked at: a profiler that mixes them up does so in all.
const MOST_REPLAYS: usize = 16;

/// Correlation id, GPU, queue and stream of kernels that one call launched.
type Replay = [Option<i64>; 4];

/// Finds replays in which durations moved to other names. Kernels with the same correlation id were launched by one call, which only
/// replays of graphs do.
pub fn check(kernels: &DataFrame) -> Result<Option<Anomaly>> {
    let columns = ["correlation_id", "gpu", "queue_id", "stream_id", "start_ns", "duration_ns", "dispatch_id"];
    let [ids, gpus, queues, streams, starts, durations, dispatches] = kernels.integers(columns)?;
    let valid = kernels.truths("valid")?;
    // Kernels of a replay mostly follow one another, those of other calls have ids of their own.
    let mut following: BTreeMap<i64, usize> = BTreeMap::new();
    for (id, _) in ids.iter().zip(ids.iter().skip(1)).filter(|(id, next)| id == next) {
        *following.entry(id.unwrap_or_default()).or_default() += 1;
    }
    let is_replay = |id: i64| id != 0 && following.get(&id).is_some_and(|kernels| *kernels >= min_replay() / 2);
    let mut replays: BTreeMap<Replay, Vec<usize>> = BTreeMap::new();
    for (row, is_valid) in valid.iter().enumerate() {
        if is_valid == Some(true) && ids.get(row).is_some_and(is_replay) {
            let replay = [&ids, &gpus, &queues, &streams].map(|column| column.get(row));
            replays.entry(replay).or_default().push(row);
        }
    }
    replays.retain(|_, rows| rows.len() >= min_replay());
    if replays.is_empty() {
        return Ok(None);
    }
    let names = values_by_text(kernels.column("kernel_name")?, |name| fnv1a(name.as_bytes()))?;
    let (mut count, mut looked_at, mut first) = (0, 0, None);
    for rows in replays.values_mut().take(MOST_REPLAYS) {
        rows.sort_unstable_by_key(|row| (starts.get(*row), dispatches.get(*row)));
        let of_rows: Vec<u64> = rows.iter().map(|row| names.get(*row).copied().flatten().unwrap_or_default()).collect();
        let took_ns: Vec<i64> = rows.iter().map(|row| durations.get(*row).unwrap_or_default()).collect();
        let moved = migrated(&of_rows, &took_ns);
        count += moved;
        looked_at += rows.len();
        first = first.or_else(|| dispatches.get(*rows.first()?).filter(|_| moved > 0));
    }
    let detail = format!(
        "kernels in replays of graphs have the durations of others, {count} of {looked_at} that were looked at: names and times of a replay belong to \
         different kernels, so that neither durations of single kernels nor sums by name can be trusted"
    );
    let found = Anomaly::new(MIGRATING_DURATIONS, Severity::Warning, "kernels", count, detail).first(first);
    Ok((count > 0).then_some(found))
}
