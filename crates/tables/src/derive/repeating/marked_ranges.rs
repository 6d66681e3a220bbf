//! Ranges of the program with the work that was launched in them, by their texts.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use polars::prelude::DataType;

use crate::columns::frames::rows_named;
use crate::columns::values::FrameValues;
use crate::derive::Frames;
use crate::derive::launching::launched_work::{LaunchedWork, Work};
use wavesieve_model::analysis::ranges::names::name_of;
use wavesieve_model::analysis::ranges::tree::Extent;

/// The domain of ranges.
pub(super) const MARKER: &str = "marker";

/// Ranges of a process, and all of its work.
pub(super) struct MarkedRanges {
    texts: Vec<String>,
    ranges: Vec<Marked>,
    work: Arc<LaunchedWork>,
}

struct Marked {
    /// Place of its text.
    text: usize,
    tid: Option<i64>,
    extent: Extent,
}

/// Whether a process has ranges at all.
///
/// # Errors
/// When the column is missing or has another type.
pub(super) fn has_ranges(tables: &Frames) -> Result<bool> {
    let Some(regions) = tables.get("regions") else { return Ok(false) };
    Ok(rows_named(regions.column("domain")?, |domain| domain == MARKER)?.any())
}

impl MarkedRanges {
    /// The ranges with such texts; `None` without any.
    ///
    /// # Errors
    /// When a needed column is missing or has another type.
    pub fn find(tables: &Frames, is_wanted: &dyn Fn(&str) -> bool) -> Result<Option<Self>> {
        let Some(regions) = tables.get("regions") else { return Ok(None) };
        let is_marker = rows_named(regions.column("domain")?, |domain| domain == MARKER)?;
        if !is_marker.any() {
            return Ok(None);
        }
        let chosen = is_marker & rows_named(regions.column("message")?, is_wanted)?;
        if !chosen.any() {
            return Ok(None);
        }
        let chosen = regions.filter(&chosen)?;
        let tids = chosen.integer("tid")?;
        let messages = chosen.column("message")?.cast(&DataType::String)?;
        let messages = messages.str()?;
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let mut ranges = Vec::with_capacity(chosen.height());
        for (row, [_, start_ns, end_ns]) in chosen.valid_rows(["region_id", "start_ns", "end_ns"])? {
            let Some(message) = messages.get(row as usize) else { continue };
            let next = places.len();
            let text = *places.entry(message).or_insert(next);
            ranges.push(Marked { text, tid: tids.get(row as usize), extent: Extent { start_ns, end_ns } });
        }
        let mut texts = vec![String::new(); places.len()];
        for (text, place) in places {
            if let Some(slot) = texts.get_mut(place) {
                text.clone_into(slot);
            }
        }
        Ok(Some(Self { texts, ranges, work: tables.launched_work()? }))
    }

    /// Times of the work that any thread launched in the outermost ranges with such texts.
    pub fn times_ns(&self, is_of: &dyn Fn(&str) -> bool) -> Vec<(i64, i64)> {
        let is_chosen: Vec<bool> = self.texts.iter().map(|text| is_of(text)).collect();
        let mut by_thread: BTreeMap<Option<i64>, Vec<Extent>> = BTreeMap::new();
        for range in self.ranges.iter().filter(|range| is_chosen.get(range.text) == Some(&true)) {
            by_thread.entry(range.tid).or_default().push(range.extent);
        }
        let threads: Vec<Vec<Extent>> = by_thread.into_values().map(outermost).collect();
        let together = outermost(threads.concat());
        let is_apart = together.iter().zip(together.iter().skip(1)).all(|(one, next)| one.end_ns <= next.start_ns);
        let extents = if is_apart {
            together
        } else {
            // Threads that work at the same time have steps of their own: those with most work are the steps of the process.
            let kernels = |extents: &Vec<Extent>| self.work_of(extents).iter().map(|work| work.kernels).sum::<i64>();
            threads.into_iter().rev().max_by_key(kernels).unwrap_or_default()
        };
        let found = self.work_of(&extents);
        let mut times_ns: Vec<(i64, i64)> =
            found.into_iter().filter(|work| work.kernels > 0).filter_map(|work| work.gpu).collect();
        times_ns.sort_unstable();
        times_ns
    }

    /// Names of the ranges, with how often each occurs and for how long in all.
    pub fn names(&self) -> BTreeMap<String, (usize, i64)> {
        let names: Vec<String> = self.texts.iter().map(|text| name_of(text)).collect();
        let mut sums: BTreeMap<String, (usize, i64)> = BTreeMap::new();
        for range in &self.ranges {
            let Some(name) = names.get(range.text) else { continue };
            let sum = sums.entry(name.clone()).or_default();
            let length_ns = range.extent.end_ns.saturating_sub(range.extent.start_ns);
            *sum = (sum.0 + 1, sum.1.saturating_add(length_ns));
        }
        sums
    }

    /// Work launched within each extent; without any recorded call, work that started in it.
    fn work_of(&self, extents: &[Extent]) -> Vec<Work> {
        if self.work.launched.iter().any(|launched| launched.call().is_some()) {
            return self.work.between_each(extents);
        }
        let mut sums = vec![Work::default(); extents.len()];
        for launched in &self.work.launched {
            let place = extents.partition_point(|extent| extent.start_ns <= launched.start_ns).checked_sub(1);
            let place = place.filter(|place| extents.get(*place).is_some_and(|one| launched.start_ns < one.end_ns));
            if let Some(sum) = place.and_then(|place| sums.get_mut(place)) {
                sum.add(launched);
            }
        }
        sums
    }
}

/// The extents that lie in no other, in order.
fn outermost(mut extents: Vec<Extent>) -> Vec<Extent> {
    extents.sort_by_key(|extent| (extent.start_ns, Reverse(extent.end_ns)));
    let mut reached_ns = i64::MIN;
    extents.retain(|extent| {
        let is_outside = extent.end_ns > reached_ns;
        reached_ns = reached_ns.max(extent.end_ns);
        is_outside
    });
    extents
}
