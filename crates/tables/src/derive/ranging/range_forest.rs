//! The ranges of a process, their nesting, and the work launched in each. Three tables use it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use fnv::FnvHashMap;
use itertools::izip;
use polars::prelude::*;

use crate::columns::frames::rows_named;
use crate::columns::values::{BoolValues, FrameValues, I64Values};
use crate::derive::launching::launched_work::{Launched, LaunchedWork, Work};
use crate::derive::launching::launching_calls::MARK_COLUMNS;
use crate::derive::{Frames, Needs, needed};
use wavesieve_model::analysis::ranges::markers::{is_process_range, is_range, is_range_category};
use wavesieve_model::analysis::ranges::paths::RangePaths;
use wavesieve_model::analysis::ranges::self_time::{Call, self_times};
use wavesieve_model::analysis::ranges::tree::{Extent, innermost, parents};

const MARKER: &str = "marker";

/// The source columns for ranges and the work launched in them.
pub fn needs() -> Needs {
    vec![
        (
            "regions",
            vec![
                "region_id",
                "domain",
                "category",
                "name",
                "message",
                "tid",
                "correlation_id",
                "start_ns",
                "end_ns",
                "valid",
            ],
        ),
        ("marks", MARK_COLUMNS.to_vec()),
        ("kernels", vec!["dispatch_id", "gpu", "correlation_id", "start_ns", "end_ns", "valid"]),
        ("memory_copies", vec!["copy_id", "gpu", "correlation_id", "start_ns", "end_ns", "valid"]),
    ]
}

/// The same, with kernels first, because the launched work matters.
pub(crate) fn needs_of_work() -> Needs {
    let mut needs = needs();
    needs.sort_by_key(|(table, _)| *table != "kernels");
    needs
}

/// A range of a thread, or of the whole process.
pub struct Range {
    /// Its key in `regions`.
    pub region_id: i64,
    /// Start and end.
    pub extent: Extent,
    /// Thread, if it is known.
    pub tid: Option<i64>,
    /// Whether it is a range of the whole process.
    pub of_process: bool,
    /// Number of its message.
    pub message: u32,
    /// Number of its path.
    pub path: u32,
    /// Number of ranges that contain it.
    pub depth: i64,
    /// Ordinal among the ranges of its path on its thread.
    pub iteration: i64,
    /// Position of the range that contains it.
    pub parent: Option<u32>,
    /// Work launched in it. For a thread's range, without nested ranges; for a process range, by any thread.
    pub work: Work,
}

/// All ranges of a process, in the order of their starts, outer ranges before nested ones.
pub struct RangeForest {
    pub ranges: Vec<Range>,
    pub messages: Vec<Option<String>>,
    pub paths: Vec<Option<String>>,
    /// The valid kernels and copies.
    pub work: LaunchedWork,
    /// Position of the thread's range in which each item of work was launched, or [`NO_RANGE`].
    pub(super) range_of: Vec<u32>,
}

const NO_RANGE: u32 = u32::MAX;

impl RangeForest {
    /// Builds the forest of a process.
    ///
    /// # Errors
    /// When a needed column is missing or has another type, or there are more rows than can be numbered.
    pub(crate) fn from_frames(tables: &Frames) -> Result<Self> {
        Self::build(tables, &marked(needed(tables, "regions")?)?, Rules { lends: true, ..Rules::default() })
    }

    /// Builds the forest of the chosen regions that are valid.
    ///
    /// # Errors
    /// The errors of [`RangeForest::from_frames`].
    pub(crate) fn of_regions(tables: &Frames, chosen: &BooleanChunked) -> Result<Self> {
        Self::build(tables, chosen, Rules::default())
    }

    /// Builds the forest of operators. Work has the external id of its operator. This id decides if no call is known, or if clock
    /// differences put the call next to its operator.
    ///
    /// # Errors
    /// The errors of [`RangeForest::from_frames`].
    pub(crate) fn of_operators(tables: &Frames, chosen: &BooleanChunked) -> Result<Self> {
        Self::build(tables, chosen, Rules { by_external_id: true, ..Rules::default() })
    }

    /// Builds the forest of modules. Work is assigned to modules as to operators, and also the work of the backward pass that runs while
    /// they are open.
    ///
    /// # Errors
    /// The errors of [`RangeForest::from_frames`].
    pub(crate) fn of_modules(tables: &Frames, chosen: &BooleanChunked) -> Result<Self> {
        Self::build(tables, chosen, Rules { by_external_id: true, lends: true })
    }

    fn build(tables: &Frames, chosen: &BooleanChunked, rules: Rules) -> Result<Self> {
        let regions = needed(tables, "regions")?;
        let work = LaunchedWork::from_frames(tables)?;
        let mut messages = Messages::default();
        let mut ranges = ranges_of(regions, chosen, &mut messages)?;
        ranges.sort_by_key(|range| (range.extent.start_ns, Reverse(range.extent.end_ns), range.region_id));
        let mut by_thread: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
        for (position, range) in (0_u32..).zip(&ranges) {
            if let Some(tid) = range.tid.filter(|_| !range.of_process) {
                by_thread.entry(tid).or_default().push(position);
            }
        }
        let mut range_of_call: Vec<u32> = vec![NO_RANGE; work.calls.numbers()];
        let calls_of_thread = work.launching_calls();
        for (tid, positions) in &by_thread {
            let extents: Vec<Extent> =
                positions.iter().filter_map(|position| Some(ranges.get(*position as usize)?.extent)).collect();
            for (position, parent) in positions.iter().zip(parents(&extents)) {
                if let Some(range) = ranges.get_mut(*position as usize) {
                    range.parent = parent.and_then(|parent| positions.get(parent as usize).copied());
                }
            }
            let Some(calls) = calls_of_thread.get(tid) else { continue };
            let times: Vec<i64> = calls.iter().map(|(_, start_ns)| *start_ns).collect();
            for ((call, _), range) in calls.iter().zip(innermost(&extents, &times)) {
                if let Some(slot) = range_of_call.get_mut(*call as usize) {
                    *slot = range.and_then(|range| positions.get(range as usize).copied()).unwrap_or(NO_RANGE);
                }
            }
        }
        if rules.lends {
            lend(regions, &ranges, &by_thread, &calls_of_thread, &mut range_of_call)?;
        }
        let paths = name_paths(&mut ranges, &messages);
        let range_of = |launched: &Launched| range_of_call.get(launched.call()? as usize).copied();
        let mut range_of: Vec<u32> =
            work.launched.iter().map(|launched| range_of(launched).unwrap_or(NO_RANGE)).collect();
        if rules.by_external_id {
            NamedOperators::from_frames(tables, &ranges)?.correct(&work, &ranges, &mut range_of);
        }
        for (launched, range) in work.launched.iter().zip(&range_of) {
            if let Some(range) = ranges.get_mut(*range as usize) {
                range.work.add(launched);
            }
        }
        let of_process: Vec<u32> =
            (0_u32..).zip(&ranges).filter(|(_, range)| range.of_process).map(|(position, _)| position).collect();
        let extents: Vec<Extent> =
            of_process.iter().filter_map(|position| Some(ranges.get(*position as usize)?.extent)).collect();
        for (position, of_range) in of_process.into_iter().zip(work.between_each(&extents)) {
            if let Some(range) = ranges.get_mut(position as usize) {
                range.work = of_range;
            }
        }
        Ok(Self { ranges, messages: messages.into_texts(), paths, work, range_of })
    }

    /// The thread's range in which each kernel and copy was launched, in the order of [`LaunchedWork::launched`].
    pub fn range_of(&self) -> impl ExactSizeIterator<Item = Option<&Range>> {
        self.range_of.iter().map(|range| self.ranges.get(*range as usize))
    }

    /// Position of the outermost range of the thread in which each kernel and copy was launched, in the same order.
    pub(crate) fn outermost_of(&self) -> impl ExactSizeIterator<Item = Option<usize>> {
        // Ranges come after the ranges that contain them.
        let mut outermost: Vec<usize> = Vec::with_capacity(self.ranges.len());
        for (place, range) in self.ranges.iter().enumerate() {
            let above = range.parent.and_then(|parent| outermost.get(parent as usize).copied());
            outermost.push(above.unwrap_or(place));
        }
        self.range_of.iter().map(move |range| outermost.get(*range as usize).copied())
    }

    /// Adds the work of nested ranges to every range of a thread, and drops the individual kernels and copies.
    pub(crate) fn add_up(&mut self) {
        (self.work.launched, self.range_of) = Default::default();
        for position in (0..self.ranges.len()).rev() {
            let Some((parent, work)) = self.ranges.get(position).and_then(|range| Some((range.parent?, range.work)))
            else {
                continue;
            };
            if let Some(parent) = self.ranges.get_mut(parent as usize) {
                parent.work.join(&work);
            }
        }
    }
}

/// Rules for assigning work to ranges beyond the thread of its call.
#[derive(Clone, Copy, Default)]
struct Rules {
    /// By the shared external id.
    by_external_id: bool,
    /// By time, if a thread of the backward pass launched it.
    lends: bool,
}

/// Prefix of the operators in which PyTorch runs the backward pass, on separate threads.
const BACKWARD: &str = "autograd::engine::evaluate_function";

/// Assigns calls on threads of the backward pass that are not in a range to the innermost open range of the thread that waits for the pass.
/// If several threads have an open range, the waiting one is unknown.
fn lend(
    regions: &DataFrame,
    ranges: &[Range],
    by_thread: &BTreeMap<i64, Vec<u32>>,
    calls_of_thread: &BTreeMap<i64, Vec<(u32, i64)>>,
    range_of_call: &mut [u32],
) -> Result<()> {
    let is_backward = rows_named(regions.column("name")?, |name| name.starts_with(BACKWARD))?;
    if by_thread.is_empty() || !is_backward.any() {
        return Ok(());
    }
    let tids = regions.integer("tid")?;
    let found = BoolValues::new(&is_backward);
    let backward: BTreeSet<i64> =
        tids.iter().zip(found.iter()).filter(|(_, is)| *is == Some(true)).filter_map(|(tid, _)| tid).collect();
    for tid in &backward {
        let alone: Vec<(u32, i64)> = calls_of_thread.get(tid).map_or(&[][..], Vec::as_slice).to_vec();
        let alone: Vec<(u32, i64)> =
            alone.into_iter().filter(|(call, _)| range_of_call.get(*call as usize) == Some(&NO_RANGE)).collect();
        let times: Vec<i64> = alone.iter().map(|(_, start_ns)| *start_ns).collect();
        let is_other = |other: &i64| !backward.contains(other);
        let has_other = by_thread.keys().any(is_other);
        let waiting = by_thread.iter().filter(|(other, _)| *other != tid && (!has_other || is_other(other)));
        let mut open: Vec<Option<u32>> = vec![None; times.len()];
        let mut is_unclear = vec![false; times.len()];
        for (_, positions) in waiting {
            let extents: Vec<Extent> =
                positions.iter().filter_map(|position| Some(ranges.get(*position as usize)?.extent)).collect();
            for ((range, slot), unclear) in innermost(&extents, &times).into_iter().zip(&mut open).zip(&mut is_unclear)
            {
                let position = range.and_then(|range| positions.get(range as usize).copied());
                *unclear |= position.is_some() && slot.is_some();
                *slot = slot.or(position);
            }
        }
        for (((call, _), range), unclear) in alone.iter().zip(open).zip(is_unclear) {
            if let (Some(slot), Some(range), false) = (range_of_call.get_mut(*call as usize), range, unclear) {
                *slot = range;
            }
        }
    }
    Ok(())
}

/// Maximum distance between a call and the operator whose id it has: the clock difference between parts of the profiler.
const MAX_CLOCK_ERROR_NS: i64 = 100_000;

/// Operators by the external ids of what they launch.
struct NamedOperators {
    /// Position of the operator with an id, or [`NO_RANGE`] for several.
    by_id: FnvHashMap<i64, u32>,
    of_kernels: I64Values,
    of_regions: I64Values,
}

impl NamedOperators {
    fn from_frames(tables: &Frames, ranges: &[Range]) -> Result<Self> {
        let regions = needed(tables, "regions")?;
        let ids = |table: &DataFrame| Ok::<_, anyhow::Error>(table.integer("external_id")?);
        let (of_regions, of_kernels) = (ids(regions)?, ids(needed(tables, "kernels")?)?);
        let keys = regions.integer("region_id")?;
        let named: FnvHashMap<i64, u32> = ranges.iter().map(|range| range.region_id).zip(0..).collect();
        let mut by_id: FnvHashMap<i64, u32> = FnvHashMap::default();
        for (id, key) in of_regions.iter().zip(keys.iter()) {
            let (Some(id), Some(position)) = (id.filter(|id| *id > 0), key.and_then(|key| named.get(&key))) else {
                continue;
            };
            by_id.entry(id).and_modify(|known| *known = NO_RANGE).or_insert(*position);
        }
        Ok(Self { by_id, of_kernels, of_regions })
    }

    /// Moves work to the operators that its ids name.
    fn correct(&self, work: &LaunchedWork, ranges: &[Range], range_of: &mut [u32]) {
        if self.by_id.is_empty() {
            return;
        }
        for (launched, place) in work.launched.iter().zip(range_of) {
            let call = launched.call().and_then(|number| work.calls.at(number));
            let own = if launched.is_copy { None } else { self.of_kernels.get(launched.row()) };
            let of_call = || call.and_then(|call| self.of_regions.get(call.row as usize));
            let Some(position) = own.or_else(of_call).and_then(|id| self.by_id.get(&id)) else { continue };
            let Some(range) = ranges.get(*position as usize) else { continue };
            let is_next_to = |start_ns: i64| {
                let Extent { start_ns: first_ns, end_ns: last_ns } = range.extent;
                let is_inside = (first_ns..last_ns).contains(&start_ns);
                let distance_ns = first_ns.saturating_sub(start_ns).max(start_ns.saturating_sub(last_ns));
                !is_inside && distance_ns <= MAX_CLOCK_ERROR_NS
            };
            if call.is_none_or(|call| call.tid == range.tid && is_next_to(call.start_ns)) {
                *place = *position;
            }
        }
    }
}

/// Distinct messages, numbered in order of appearance.
#[derive(Default)]
struct Messages {
    texts: Vec<Option<String>>,
    known: BTreeMap<String, u32>,
}

impl Messages {
    fn number(&mut self, message: &str) -> u32 {
        if let Some(number) = self.known.get(message) {
            return *number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(Some(message.to_owned()));
        self.known.insert(message.to_owned(), number);
        number
    }

    fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).and_then(Option::as_deref).unwrap_or_default()
    }

    fn into_texts(self) -> Vec<Option<String>> {
        self.texts
    }
}

/// Marks the regions that are ranges.
fn marked(regions: &DataFrame) -> Result<BooleanChunked> {
    let is_marker = rows_named(regions.column("domain")?, |domain| domain == MARKER)?;
    let by_name = rows_named(regions.column("name")?, is_range)?;
    let by_category = rows_named(regions.column("category")?, is_range_category)?;
    let (by_name, by_category) = (BoolValues::new(&by_name), BoolValues::new(&by_category));
    let is_range: BooleanChunked = by_name
        .iter()
        .zip(by_category.iter())
        .map(|(by_name, by_category)| by_name != Some(false) && by_category != Some(false))
        .collect();
    Ok(&is_marker & &is_range)
}

/// The chosen regions that are valid, not yet nested.
fn ranges_of(regions: &DataFrame, chosen: &BooleanChunked, messages: &mut Messages) -> Result<Vec<Range>> {
    let chosen = regions.filter(&(chosen & regions.column("valid")?.bool()?))?;
    anyhow::ensure!(u32::try_from(chosen.height()).is_ok(), "more ranges than can be counted");
    let [ids, starts, ends, tids] = chosen.integers(["region_id", "start_ns", "end_ns", "tid"])?;
    let of_process = BoolValues::new(&rows_named(chosen.column("name")?, is_process_range)?);
    let names = chosen.column("name")?.cast(&DataType::String)?;
    let texts = chosen.column("message")?.cast(&DataType::String)?;
    let mut ranges = Vec::with_capacity(chosen.height());
    for (id, start, end, tid, of_process, message, name) in izip!(
        ids.iter(),
        starts.iter(),
        ends.iter(),
        tids.iter(),
        of_process.iter(),
        texts.str()?.iter(),
        names.str()?.iter(),
    ) {
        let (Some(region_id), Some(start_ns), Some(end_ns)) = (id, start, end) else { continue };
        ranges.push(Range {
            region_id,
            extent: Extent { start_ns, end_ns },
            tid,
            of_process: of_process == Some(true),
            message: messages.number(message.or(name).unwrap_or_default()),
            path: 0,
            depth: 0,
            iteration: 0,
            parent: None,
            work: Work::default(),
        });
    }
    Ok(ranges)
}

/// Gives every range its depth, path and iteration, and returns the texts of the paths.
fn name_paths(ranges: &mut [Range], messages: &Messages) -> Vec<Option<String>> {
    let mut paths = RangePaths::default();
    let mut repeats: BTreeMap<(Option<i64>, bool, u32), i64> = BTreeMap::new();
    for position in 0..ranges.len() {
        let Some((parent, message, key)) = ranges.get(position).map(|range| {
            let thread = range.tid.filter(|_| !range.of_process);
            (range.parent, range.message, (thread, range.of_process))
        }) else {
            continue;
        };
        let above = parent.and_then(|parent| ranges.get(parent as usize)).map(|range| (range.path, range.depth));
        let depth = above.map_or(0, |(_, depth)| depth.saturating_add(1));
        let path = paths.path(above.map(|(path, _)| path), depth, (message, messages.text(message)));
        let repeated = repeats.entry((key.0, key.1, path)).or_insert(0);
        if let Some(range) = ranges.get_mut(position) {
            (range.depth, range.path, range.iteration) = (depth, path, *repeated);
        }
        *repeated = repeated.saturating_add(1);
    }
    paths.into_texts()
}

/// Time of each range without nested ranges on its thread, by position.
///
/// # Errors
/// When there are more ranges than can be numbered, which is a defect.
pub(crate) fn own_times(ranges: &[Range]) -> Result<Vec<i64>> {
    let mut own: Vec<i64> =
        ranges.iter().map(|range| range.extent.end_ns.saturating_sub(range.extent.start_ns)).collect();
    let mut by_thread: BTreeMap<i64, (Vec<u32>, Vec<Call>)> = BTreeMap::new();
    for (position, range) in ranges.iter().enumerate() {
        if let Some(tid) = range.tid.filter(|_| !range.of_process) {
            let (positions, calls) = by_thread.entry(tid).or_default();
            positions.push(u32::try_from(position).context("internal: too many ranges")?);
            calls.push(Call { start_ns: range.extent.start_ns, end_ns: range.extent.end_ns });
        }
    }
    for (positions, calls) in by_thread.into_values() {
        for (position, own_ns) in positions.into_iter().zip(self_times(&calls)) {
            if let Some(slot) = own.get_mut(position as usize) {
                *slot = own_ns;
            }
        }
    }
    Ok(own)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::columns::frames::categorical;

    /// A range: thread, start, end, whether it is a process range.
    type Marked = (i64, i64, i64, bool);
    /// A call: thread and start.
    type Called = (i64, i64);
    /// A kernel: number of its call, duration.
    type Ran = (usize, i64);

    fn tables(ranges: &[Marked], calls: &[Called], kernels: &[Ran]) -> Frames {
        let rows = ranges.len() + calls.len();
        let is_range = |row: usize| row < ranges.len();
        let names: Vec<&str> = (0..rows)
            .map(|row| match ranges.get(row) {
                Some((_, _, _, true)) => "roctxProcessRangeA",
                Some(_) => "roctxThreadRangeA",
                None => "hipLaunchKernel",
            })
            .collect();
        let domains: Vec<&str> = (0..rows).map(|row| if is_range(row) { "marker" } else { "hip" }).collect();
        let starts = ranges.iter().map(|range| range.1).chain(calls.iter().map(|call| call.1));
        let ends = ranges.iter().map(|range| range.2).chain(calls.iter().map(|call| call.1 + 1));
        let tids = ranges.iter().map(|range| range.0).chain(calls.iter().map(|call| call.0));
        let ids = (0..rows).map(|row| if is_range(row) { 0 } else { (row - ranges.len() + 1) as i64 });
        let text =
            |name: &str, values: &[&str]| Series::new(name.into(), values).cast(&categorical()).unwrap().into_column();
        let whole = |name: &str, values: Vec<i64>| Column::new(name.into(), values);
        let regions = vec![
            whole("region_id", (0..rows as i64).collect()),
            text("domain", &domains),
            text("category", &domains),
            text("name", &names),
            text("message", &names),
            whole("tid", tids.collect()),
            whole("correlation_id", ids.collect()),
            whole("start_ns", starts.collect()),
            whole("end_ns", ends.collect()),
            Column::new("valid".into(), vec![true; rows]),
        ];
        let marks = vec![
            text("domain", &[]),
            text("name", &[]),
            whole("tid", Vec::new()),
            whole("correlation_id", Vec::new()),
            whole("time_ns", Vec::new()),
        ];
        let launched = |key: &str, kernels: &[Ran]| {
            vec![
                whole(key, (0..kernels.len() as i64).collect()),
                whole("gpu", vec![0; kernels.len()]),
                whole("correlation_id", kernels.iter().map(|kernel| kernel.0 as i64).collect()),
                whole("start_ns", (0..kernels.len() as i64).map(|row| 1_000 + row).collect()),
                whole("end_ns", kernels.iter().zip(1_000..).map(|(kernel, start)| start + kernel.1).collect()),
                Column::new("valid".into(), vec![true; kernels.len()]),
            ]
        };
        let frame = DataFrame::new_infer_height;
        Frames::from_iter([
            ("regions", frame(regions).unwrap()),
            ("marks", frame(marks).unwrap()),
            ("kernels", frame(launched("dispatch_id", kernels)).unwrap()),
            ("memory_copies", frame(launched("copy_id", &[])).unwrap()),
        ])
    }

    /// The innermost open range of a thread.
    fn innermost_by_definition(ranges: &[Marked], call: Called) -> Option<i64> {
        (0..ranges.len())
            .filter(|row| {
                let (tid, start, end, of_process) = ranges[*row];
                !of_process && tid == call.0 && (start..end).contains(&call.1)
            })
            .min_by_key(|row| (ranges[*row].2, Reverse(ranges[*row].1), Reverse(*row)))
            .map(|row| row as i64)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn work_matches_the_definition_and_adds_up(
            ranges in prop::collection::vec((0_i64..2, 0_i64..30, 1_i64..20, prop::bool::weighted(0.2)), 0..12),
            calls in prop::collection::vec((0_i64..3, 0_i64..50), 1..20),
            kernels in prop::collection::vec((0_usize..22, 0_i64..9), 0..30),
        ) {
            let ranges: Vec<Marked> =
                ranges.into_iter().map(|(tid, start, length, kind)| (tid, start, start + length, kind)).collect();
            let mut forest = RangeForest::from_frames(&tables(&ranges, &calls, &kernels)).unwrap();
            // Id 0 means no call, and so do ids after the last.
            let call_of = |kernel: &Ran| kernel.0.checked_sub(1).and_then(|call| calls.get(call)).copied();
            let expected: Vec<Option<i64>> =
                kernels.iter().map(|kernel| innermost_by_definition(&ranges, call_of(kernel)?)).collect();
            let found: Vec<Option<i64>> = forest.range_of().map(|range| range.map(|range| range.region_id)).collect();
            prop_assert_eq!(&found, &expected);

            let own: i64 = forest.ranges.iter().filter(|range| !range.of_process).map(|range| range.work.kernel_ns).sum();
            let launched: i64 =
                kernels.iter().zip(&expected).filter(|(_, range)| range.is_some()).map(|(kernel, _)| kernel.1).sum();
            prop_assert_eq!(own, launched);

            forest.add_up();
            for range in &forest.ranges {
                let (tid, start, end, of_process) = ranges[range.region_id as usize];
                let is_in = |inner: i64| {
                    let chain = std::iter::successors(Some(inner), |id| {
                        let range = forest.ranges.iter().find(|range| range.region_id == *id).unwrap();
                        range.parent.map(|parent| forest.ranges[parent as usize].region_id)
                    });
                    chain.into_iter().any(|id| id == range.region_id)
                };
                let work: i64 = kernels
                    .iter()
                    .zip(&expected)
                    .filter(|(kernel, innermost)| match call_of(kernel) {
                        Some((_, at)) if of_process => (start..end).contains(&at),
                        _ => innermost.is_some_and(is_in),
                    })
                    .map(|(kernel, _)| kernel.1)
                    .sum();
                prop_assert_eq!(range.work.kernel_ns, work);
                if let Some(parent) = range.parent {
                    let (outer_tid, outer_start, outer_end, _) = ranges[forest.ranges[parent as usize].region_id as usize];
                    prop_assert!(outer_tid == tid && outer_start <= start && end <= outer_end);
                }
            }
        }
    }
}
