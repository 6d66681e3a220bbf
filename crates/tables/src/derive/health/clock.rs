//! Clock jumps: dispatches that run long before earlier dispatches of their queue, and gaps far longer than programs wait.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::DataFrame;

use crate::columns::values::FrameValues;
use wavesieve_model::analysis::thresholds::{ClockBounds, Thresholds};
use wavesieve_model::schema::anomaly::{Anomaly, Severity};

fn bounds() -> &'static ClockBounds {
    &Thresholds::builtin().clock_jumps
}

/// Times are grouped in intervals of half the shortest gap.
fn bin_ns() -> i64 {
    bounds().gap_ns / 2
}

/// First and last time in an interval, and the row of the first.
struct Bin {
    first_ns: i64,
    last_ns: i64,
    place: (&'static str, i64),
}

/// The times of one process, in which gaps are found.
#[derive(Default)]
pub struct Timeline {
    bins: BTreeMap<i64, Bin>,
}

impl Timeline {
    /// Adds the valid rows of a table. Waiting calls do not fill a gap: only their start and end count.
    pub fn add(&mut self, table: &'static str, key: &str, frame: &DataFrame, covers: bool) -> Result<()> {
        for (_, [key, start, end]) in frame.valid_rows([key, "start_ns", "end_ns"])? {
            if covers {
                self.put(start, end, (table, key));
            } else {
                self.put(start, start, (table, key));
                self.put(end, end, (table, key));
            }
        }
        Ok(())
    }

    fn put(&mut self, first_ns: i64, last_ns: i64, place: (&'static str, i64)) {
        let bin = self.bins.entry(first_ns.div_euclid(bin_ns())).or_insert(Bin { first_ns, last_ns, place });
        if (first_ns, place) < (bin.first_ns, bin.place) {
            (bin.first_ns, bin.place) = (first_ns, place);
        }
        bin.last_ns = bin.last_ns.max(last_ns);
    }

    /// The gaps that are jumps, keyed by the first row after the first gap.
    pub fn check(&self) -> Option<Anomaly> {
        let mut bins = self.bins.values();
        let first = bins.next()?;
        let (mut end_ns, mut gaps) = (first.last_ns, Vec::new());
        for bin in bins {
            gaps.push((bin.first_ns.saturating_sub(end_ns), bin.place));
            end_ns = end_ns.max(bin.last_ns);
        }
        let span_ns = i128::from(end_ns) - i128::from(first.first_ns);
        gaps.retain(|(gap_ns, _)| *gap_ns >= bounds().gap_ns);
        let all_ns: i128 = gaps.iter().map(|(gap_ns, _)| i128::from(*gap_ns)).sum();
        let is_jump =
            |gap_ns: i64| gap_ns >= bounds().sure_gap_ns || all_ns * 100 >= i128::from(bounds().min_pct) * span_ns;
        gaps.retain(|(gap_ns, _)| is_jump(*gap_ns));
        let (_, (table, key)) = gaps.first()?;
        let longest_ns = gaps.iter().map(|(gap_ns, _)| *gap_ns).max()?;
        let detail = format!(
            "times jump forward by up to {} s with nothing recorded in between; a clock was set, the recording paused, \
             or runs were merged",
            longest_ns / 1_000_000_000
        );
        Some(jump(table, gaps.len(), *key, detail))
    }
}

/// Counts dispatches that start more than a second before an earlier dispatch of the same queue.
pub(crate) fn check_backward(kernels: &DataFrame) -> Result<Option<Anomaly>> {
    let of_queue = kernels.integer("agent_id")?.kinds().and(&kernels.integer("queue_id")?.kinds());
    let rows = kernels.valid_rows(["dispatch_id", "start_ns", "agent_id", "queue_id"])?;
    let mut dispatches: Vec<(i64, u32, i64)> = rows
        .filter_map(|(row, [id, start_ns, ..])| Some((id, *of_queue.of_rows.get(row as usize)?, start_ns)))
        .collect();
    if !dispatches.is_sorted() {
        dispatches.sort_unstable();
    }
    // Repeated ids belong to several runs, each with its own times.
    if dispatches.windows(2).any(|pair| matches!(pair, [first, next] if first.0 == next.0)) {
        return Ok(None);
    }
    let mut latest = vec![i64::MIN; of_queue.count];
    let (mut count, mut first, mut longest_ns) = (0, None, 0);
    for (id, queue, start_ns) in dispatches {
        let Some(latest_ns) = latest.get_mut(queue as usize) else { continue };
        let back_ns = latest_ns.saturating_sub(start_ns);
        if *latest_ns > i64::MIN && back_ns > bounds().backward_ns {
            count += 1;
            first.get_or_insert(id);
            longest_ns = longest_ns.max(back_ns);
        }
        *latest_ns = start_ns.max(*latest_ns);
    }
    let detail = |longest_ns: i64| {
        format!(
            "dispatches start up to {} s before earlier ones of their queue; the clock was set back, so spans and idle \
             time are wrong",
            longest_ns / 1_000_000_000
        )
    };
    Ok(first.map(|first| jump("kernels", count, first, detail(longest_ns))))
}

fn jump(table: &str, count: usize, key: i64, detail: String) -> Anomaly {
    Anomaly::new("clock_jump", Severity::Warning, table, count, detail).first(Some(key))
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;

    const SECOND: i64 = 1_000_000_000;

    /// Dispatches of one queue with these starts in seconds, each one second long.
    fn kernels(ids: &[i64], starts_s: &[i64]) -> DataFrame {
        let starts: Vec<i64> = starts_s.iter().map(|start| start * SECOND).collect();
        let ends: Vec<i64> = starts.iter().map(|start| start + SECOND).collect();
        df!(
            "dispatch_id" => ids,
            "agent_id" => vec![1_i64; ids.len()],
            "queue_id" => vec![1_i64; ids.len()],
            "start_ns" => starts,
            "end_ns" => ends,
            "valid" => vec![true; ids.len()],
        )
        .unwrap()
    }

    fn forward(frame: &DataFrame, covers: bool) -> Option<(i64, String)> {
        let mut timeline = Timeline::default();
        timeline.add("kernels", "dispatch_id", frame, covers).unwrap();
        timeline.check().map(|anomaly| (anomaly.count, anomaly.first_key.unwrap()))
    }

    #[test]
    fn a_clock_that_was_set_back_is_seen() {
        let found = check_backward(&kernels(&[1, 2, 3, 4], &[100, 102, 50, 52])).unwrap().unwrap();
        assert_eq!((found.count, found.first_key.as_deref()), (2, Some("3")));
        assert!(found.detail.contains("up to 52 s before"), "{}", found.detail);
        // In the order of their ids, these are normal.
        assert_eq!(check_backward(&kernels(&[3, 4, 1, 2], &[100, 102, 50, 52])).unwrap(), None);
        // Exactly one second is allowed.
        assert_eq!(check_backward(&kernels(&[1, 2], &[2, 1])).unwrap(), None);
        // Repeated ids belong to several runs.
        assert_eq!(check_backward(&kernels(&[1, 1, 2], &[9, 100, 50])).unwrap(), None);
    }

    #[test]
    fn a_clock_that_was_set_forward_is_seen() {
        assert_eq!(forward(&kernels(&[1, 2, 3], &[10, 12, 100_000]), true), Some((1, "3".to_owned())));
        assert_eq!(forward(&kernels(&[1, 2], &[10, 700]), true), Some((1, "2".to_owned())));
        // Short gaps, and gaps that take only a part of the run, do not count.
        assert_eq!(forward(&kernels(&[1, 2], &[10, 600]), true), None);
        let steady: Vec<i64> = (0..100).chain([900]).collect();
        let ids: Vec<i64> = (0..101).collect();
        assert_eq!(forward(&kernels(&ids, &steady), true), None);
        // A long piece of work is not a gap, unless it only waits.
        let mut long = kernels(&[1, 2], &[10, 800]);
        long.replace(
            "end_ns",
            df!("end_ns" => [790 * SECOND, 801 * SECOND]).unwrap().column("end_ns").unwrap().clone(),
        )
        .unwrap();
        assert_eq!(forward(&long, true), None);
        assert_eq!(forward(&long, false), Some((1, "1".to_owned())));
    }
}
