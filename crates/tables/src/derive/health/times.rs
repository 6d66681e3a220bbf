//! Invalid timestamps, and overlapping dispatches of one queue.

use std::borrow::Cow;

use anyhow::Result;
use itertools::izip;
use polars::prelude::DataFrame;

use crate::columns::values::{FrameValues, I64Values};
use wavesieve_model::schema::Table;
use wavesieve_model::schema::anomaly::{Anomaly, Severity};
use wavesieve_model::schema::facts::ProcessFacts;
use wavesieve_model::schema::validity::Validity;

/// Start, end and id of a dispatch.
type Dispatch = (i64, i64, i64);

/// Rows counted by one check.
struct Tally {
    check_id: &'static str,
    severity: Severity,
    detail: Cow<'static, str>,
    count: usize,
    first: Option<i64>,
}

impl Tally {
    fn new(check_id: &'static str, severity: Severity, detail: &'static str) -> Self {
        Self { check_id, severity, detail: Cow::Borrowed(detail), count: 0, first: None }
    }

    fn add(&mut self, key: Option<i64>) {
        self.count += 1;
        self.first = match (self.first, key) {
            (Some(first), Some(key)) => Some(first.min(key)),
            (first, key) => first.or(key),
        };
    }

    fn into_anomaly(self, table: &str) -> Option<Anomaly> {
        let found = |detail| Anomaly::new(self.check_id, self.severity, table, self.count, detail).first(self.first);
        (self.count > 0).then(|| found(self.detail.into_owned()))
    }
}

/// Checks the times of every row of an activity table.
pub fn check(table: &'static Table, frame: &DataFrame, facts: &ProcessFacts) -> Result<Vec<Anomaly>> {
    let mut not_positive =
        Tally::new("zero_timestamp", Severity::Warning, "start is not positive; excluded from all statistics");
    let mut reversed =
        Tally::new("negative_duration", Severity::Warning, "end is before start; excluded from all statistics");
    let mut far_off = Tally::new(
        "far_outside_process",
        Severity::Warning,
        "timestamp over 1 day outside the process; excluded from all statistics",
    );
    let mut instant = Tally::new("zero_length", Severity::Info, "start and end are equal; counted with length 0");
    let mut outside = Tally::new(
        "outside_process",
        Severity::Info,
        "timestamp outside the recorded start and end of the process; kept",
    );

    let mut other_clock = Tally::new("other_clock", Severity::Warning, "");
    let mut on_it: Option<(i64, i64)> = None;
    let validity = Validity::from_facts(facts);

    let key_name = table.key.last().copied().unwrap_or("start_ns");
    let [keys, starts, ends] = frame.integers([key_name, "start_ns", "end_ns"])?;
    let valid = frame.truths("valid")?;
    for (key, start, end, valid) in izip!(keys.iter(), starts.iter(), ends.iter(), valid.iter()) {
        let (Some(start), Some(end)) = (start, end) else { continue };
        if start <= 0 {
            not_positive.add(key);
        } else if end < start {
            reversed.add(key);
        } else if valid != Some(true) {
            far_off.add(key);
        } else {
            if start == end {
                instant.add(key);
            }
            if validity.is_elsewhere(start, end) {
                other_clock.add(key);
                on_it = Some(on_it.map_or((start, end), |(first, last)| (first.min(start), last.max(end))));
            } else if facts.start_ns.is_some_and(|first| start < first) || facts.end_ns.is_some_and(|last| end > last) {
                outside.add(key);
            }
        }
    }
    if let Some(times) = on_it {
        other_clock.detail = Cow::Owned(two_clocks(times, facts));
    }
    let tallies = [not_positive, reversed, far_off, other_clock, instant, outside];
    Ok(tallies.into_iter().filter_map(|tally| tally.into_anomaly(table.name)).collect())
}

/// Describes times that lie far from their process, but close to each other.
fn two_clocks((first, last): (i64, i64), facts: &ProcessFacts) -> String {
    let seconds = |time: i64| format!("{:.3}", time as f64 / 1e9);
    let own = facts.start_ns.or(facts.end_ns).unwrap_or_default();
    let days = (first.saturating_sub(own)) as f64 / 86_400e9;
    let side = if days < 0.0 { "before" } else { "after" };
    let end = |time: Option<i64>| time.map_or("unknown".to_owned(), seconds);
    format!(
        "another clock: times from {} to {} s, {:.2} days {side} the process ({} to {} s); kept, compare them with each other only, or \
         use --ignore-process-times",
        seconds(first),
        seconds(last),
        days.abs(),
        end(facts.start_ns),
        end(facts.end_ns),
    )
}

/// Counts dispatches that start before an earlier one of the same agent and queue has ended, and dispatch ids that occur more than once.
/// Streams replace queues if queues are not recorded.
pub(crate) fn check_queues(kernels: &DataFrame) -> Result<Vec<Anomaly>> {
    let mut overlap = Tally::new(
        "queue_overlap",
        Severity::Info,
        "dispatches start before an earlier one on the same queue has ended; sums of durations exceed busy time",
    );
    let mut repeated =
        Tally::new("repeated_dispatch", Severity::Warning, "dispatch ids occur more than once; all rows are counted");
    let [ids, agents] = kernels.integers(["dispatch_id", "agent_id"])?;
    let queues = kernels.column("queue_id")?;
    let is_recorded = queues.null_count() < queues.len();
    let queues = I64Values::new(if is_recorded { queues } else { kernels.column("stream_id")? }.i64()?);
    let [starts, ends] = kernels.integers(["start_ns", "end_ns"])?;
    let valid = kernels.truths("valid")?;
    let of_queue = agents.kinds().and(&queues.kinds());
    let rows = || {
        let places = of_queue.of_rows.iter().zip(agents.iter().zip(queues.iter()));
        let times = starts.iter().zip(ends.iter()).zip(ids.iter()).zip(valid.iter());
        places.zip(times).filter_map(|((queue, (agent, queue_id)), (((start, end), id), valid))| {
            let is_known = valid? && agent.is_some() && queue_id.is_some();
            is_known.then_some((*queue, (start?, end?, id?)))
        })
    };
    let overlapping = overlapping(rows(), of_queue.count).unwrap_or_else(|| {
        let mut sorted: Vec<(u32, Dispatch)> = rows().collect();
        sorted.sort_unstable();
        overlapping(sorted.into_iter(), of_queue.count).unwrap_or_default()
    });
    overlapping.into_iter().for_each(|id| overlap.add(Some(id)));
    if !ids.iter().flatten().is_sorted_by(|id, next| id < next) {
        let mut all_ids: Vec<i64> = ids.iter().flatten().collect();
        all_ids.sort_unstable();
        let again = all_ids.iter().zip(all_ids.iter().skip(1)).filter(|(id, next)| id == next);
        again.for_each(|(id, _)| repeated.add(Some(*id)));
    }
    Ok([overlap, repeated].into_iter().filter_map(|tally| tally.into_anomaly("kernels")).collect())
}

/// The ids of the dispatches that start before an earlier one of the same queue has ended. `None` if the dispatches of a queue are not in
/// the order of their starts.
fn overlapping(dispatches: impl Iterator<Item = (u32, Dispatch)>, queues: usize) -> Option<Vec<i64>> {
    let mut before: Vec<(Dispatch, i64)> = vec![((i64::MIN, i64::MIN, i64::MIN), i64::MIN); queues];
    let mut overlapping = Vec::new();
    for (queue, dispatch) in dispatches {
        let (last, last_end) = before.get_mut(queue as usize)?;
        if dispatch < *last {
            return None;
        }
        let (start, end, id) = dispatch;
        if start < *last_end {
            overlapping.push(id);
        }
        *last = dispatch;
        *last_end = end.max(*last_end);
    }
    Some(overlapping)
}

#[cfg(test)]
mod tests {
    use polars::prelude::{IntoColumn, NamedFrom, Series, df};
    use proptest::prelude::*;

    use super::*;

    /// Counts dispatches that start before an earlier one of their queue has ended, by definition.
    fn by_definition(dispatches: &[(i64, i64, i64)]) -> i64 {
        let mut in_order: Vec<(i64, i64, i64, i64)> =
            (0..).zip(dispatches).map(|(id, (queue, start, length))| (*queue, *start, start + length, id)).collect();
        in_order.sort_unstable();
        let overlaps = in_order.iter().enumerate().filter(|(place, (queue, start, _, _))| {
            in_order[..*place].iter().any(|before| before.0 == *queue && before.2 > *start)
        });
        overlaps.count() as i64
    }

    proptest! {
        #[test]
        fn overlaps_are_counted_in_whatever_order_dispatches_come(
            mut dispatches in prop::collection::vec((0_i64..3, 1_i64..60, 0_i64..9), 0..40),
            is_sorted: bool,
            repeated in 0_usize..3,
            has_queues: bool,
        ) {
            if is_sorted {
                dispatches.sort_by_key(|dispatch| dispatch.1);
            }
            let each = |value: &dyn Fn(&(i64, i64, i64)) -> i64| dispatches.iter().map(value).collect::<Vec<i64>>();
            let repeated = repeated.min(dispatches.len().saturating_sub(1));
            let ids: Vec<i64> = (0..dispatches.len()).map(|row| row.saturating_sub(repeated) as i64).collect();
            let mut frame = df!(
                "dispatch_id" => ids,
                "agent_id" => each(&|_| 7),
                "queue_id" => each(&|dispatch| dispatch.0).into_iter().map(|queue| has_queues.then_some(queue)).collect::<Vec<_>>(),
                "stream_id" => each(&|dispatch| dispatch.0),
                "start_ns" => each(&|dispatch| dispatch.1),
                "end_ns" => each(&|dispatch| dispatch.1 + dispatch.2),
            )
            .unwrap();
            frame.with_column(Series::new("valid".into(), vec![true; dispatches.len()]).into_column()).unwrap();
            let found = check_queues(&frame).unwrap();
            let count = |check: &str| found.iter().find(|anomaly| anomaly.check_id == check).map_or(0, |anomaly| anomaly.count);
            prop_assert_eq!(count("queue_overlap"), by_definition(&dispatches));
            prop_assert_eq!(count("repeated_dispatch"), repeated as i64);
        }
    }
}
