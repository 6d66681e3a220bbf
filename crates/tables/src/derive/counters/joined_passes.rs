//! Joins the dispatches of several counter passes by kernel, shape, GPU and ordinal.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{floats, texts};
use crate::columns::values::FrameValues;
use crate::derive::counters::counted_dispatches::{OF_DISPATCH, nullable, numbered_texts};
use crate::derive::counters::pass_agreement::{DISAGREEMENT, PassEvidence, group_of};
use wavesieve_model::analysis::statistics::medians::median;

/// The dispatches that the passes of a rank have in common.
pub struct Joined {
    /// One row per dispatch: its description from its first pass, and every counter from the first pass that has it.
    pub frame: DataFrame,
    /// Index of the frame that each row is taken from.
    pub source_part: Vec<usize>,
}

const SHAPE: [&str; 6] = ["grid_x", "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z"];

/// Joins the dispatches of one rank. Each of its processes has a frame in the order of pass and start.
///
/// Numbers the dispatches of one kernel, shape and GPU within each pass; the same number in other passes is the same dispatch counted
/// again. If passes differ in this number, some dispatches were lost: then equal ids are the same dispatch, if the ids of each pass are
/// among the ids of the longest pass. Otherwise, no dispatches are joined. Durations are the median over the passes.
pub fn joined(frames: &[&DataFrame]) -> Result<Joined> {
    if let [frame] = frames {
        let passes = frame.column("pass")?.i64()?;
        if passes.min() == passes.max() {
            return alone(frame);
        }
    }
    let mut likes = MatchingDispatches::default();
    for (at, frame) in frames.iter().enumerate() {
        likes.add(at, frame)?;
    }
    let mut places: Vec<Vec<usize>> = frames.iter().map(|frame| vec![0; frame.height()]).collect();
    let mut groups: Vec<Vec<u32>> = frames.iter().map(|frame| vec![0; frame.height()]).collect();
    let mut reasons: BTreeMap<(usize, usize), String> = BTreeMap::new();
    let mut chosen: Vec<(usize, usize)> = Vec::new();
    let evidence = PassEvidence::new(frames)?;
    for passes in &likes.passes {
        let mut of_key: BTreeMap<(usize, i64), usize> = BTreeMap::new();
        let keys = keys(passes);
        if let Some(found) = evidence.disagreement(passes, &keys) {
            for (rows, group) in passes.iter().zip(found.groups) {
                for counted in rows {
                    if let Some(slot) = groups.get_mut(counted.frame).and_then(|rows| rows.get_mut(counted.row)) {
                        *slot = group;
                    }
                    reasons.insert((counted.frame, counted.row), found.reason.clone());
                }
            }
        }
        for (rows, keys) in passes.iter().zip(keys) {
            for (counted, key) in rows.iter().zip(keys) {
                let place = *of_key.entry(key).or_insert_with(|| {
                    chosen.push((counted.frame, counted.row));
                    chosen.len() - 1
                });
                if let Some(slot) = places.get_mut(counted.frame).and_then(|rows| rows.get_mut(counted.row)) {
                    *slot = place;
                }
            }
        }
    }
    // In the order of the passes and of the dispatches in them.
    let mut order: Vec<usize> = (0..chosen.len()).collect();
    order.sort_unstable_by_key(|place| chosen.get(*place));
    let mut rank = vec![0; chosen.len()];
    for (new, old) in order.iter().enumerate() {
        if let Some(slot) = rank.get_mut(*old) {
            *slot = new;
        }
    }
    chosen.sort_unstable();
    places.iter_mut().flatten().for_each(|place| *place = rank.get(*place).copied().unwrap_or_default());

    let mut durations: Vec<Vec<i64>> = vec![Vec::new(); chosen.len()];
    for (frame, places) in frames.iter().zip(&places) {
        for (row, [length]) in frame.valid_rows(["duration_ns"])? {
            let known = places.get(row as usize).and_then(|place| durations.get_mut(*place));
            known.into_iter().for_each(|known| known.push(length));
        }
    }
    let source_part = chosen.iter().map(|(at, _)| *at).collect();
    let mut frame = chosen_rows(frames, &chosen)?;
    frame.with_column(floats(DURATION, durations.into_iter().map(|mut values| median(&mut values))))?;
    let counters = counters(frames, &places, chosen.len(), (!reasons.is_empty()).then_some(groups.as_slice()))?;
    frame.hstack_mut(&counters)?;
    if !reasons.is_empty() {
        let of_rows = chosen.iter().map(|row| reasons.get(row).map(String::as_str));
        frame.with_column(texts(DISAGREEMENT, of_rows))?;
    }
    Ok(Joined { frame, source_part })
}

/// The dispatches of a single pass.
fn alone(frame: &DataFrame) -> Result<Joined> {
    let valid = frame.column("valid")?.bool()?;
    let lengths = frame.integer("duration_ns")?;
    let lengths = lengths.iter().zip(valid.iter());
    let durations = lengths.map(|(length, valid)| length.filter(|_| valid == Some(true)).map(|length| length as f64));
    let mut frame = frame.clone();
    frame.with_column(floats(DURATION, durations))?;
    let source_part = vec![0; frame.height()];
    Ok(Joined { frame, source_part })
}

/// The name of the duration of a joined dispatch, in nanoseconds.
pub const DURATION: &str = "dur_ns";

/// Descriptive columns of the joined dispatches, each from the first frame that has the dispatch.
fn chosen_rows(frames: &[&DataFrame], chosen: &[(usize, usize)]) -> Result<DataFrame> {
    let offsets: Vec<usize> = frames
        .iter()
        .scan(0, |next, frame| {
            let offset = *next;
            *next += frame.height();
            Some(offset)
        })
        .collect();
    let mut columns = OF_DISPATCH.to_vec();
    columns.extend(["vgpr", "accum_vgpr", "sgpr"]);
    let mut all: Option<DataFrame> = None;
    for frame in frames {
        let part = frame.select(columns.iter().copied())?;
        match &mut all {
            Some(all) => {
                all.vstack_mut(&part)?;
            }
            None => all = Some(part),
        }
    }
    let rows: IdxCa = chosen
        .iter()
        .map(|(at, row)| offsets.get(*at).and_then(|offset| IdxSize::try_from(offset + row).ok()))
        .collect_ca("".into());
    Ok(all.unwrap_or_default().take(&rows)?)
}

/// Every counter of any frame, from the first frame that has a value for a dispatch, and the group of passes of that value.
fn counters(
    frames: &[&DataFrame],
    places: &[Vec<usize>],
    rows: usize,
    groups: Option<&[Vec<u32>]>,
) -> Result<Vec<Column>> {
    let mut filled: BTreeMap<String, (Vec<f64>, Vec<Option<u32>>)> = BTreeMap::new();
    for (at, (frame, places)) in frames.iter().zip(places).enumerate() {
        let of_frame = groups.and_then(|groups| groups.get(at));
        for column in frame.columns().iter().filter(|column| *column.dtype() == DataType::Float64) {
            let values = column.f64()?.rechunk();
            let (all, from) = filled.entry(column.name().to_string()).or_insert_with(|| {
                (vec![f64::NAN; rows], if groups.is_some() { vec![None; rows] } else { Vec::new() })
            });
            for (row, (value, place)) in values.iter().zip(places).enumerate() {
                if let (Some(value), Some(slot)) = (value, all.get_mut(*place))
                    && slot.is_nan()
                {
                    *slot = value;
                    if let (Some(group), Some(slot)) = (of_frame.and_then(|rows| rows.get(row)), from.get_mut(*place)) {
                        *slot = Some(*group);
                    }
                }
            }
        }
    }
    let mut columns = Vec::new();
    for (name, (values, from)) in filled {
        columns.push(nullable(&name, values));
        if groups.is_some() {
            let from: UInt32Chunked = from.into_iter().collect_ca(group_of(&name));
            columns.push(from.into_column());
        }
    }
    Ok(columns)
}

/// GPU, kernel and shape.
type DispatchKey = (Option<i64>, usize, [Option<i64>; 6]);

/// A row of a pass.
pub struct Counted {
    pub frame: usize,
    pub row: usize,
    pub id: Option<i64>,
}

/// The dispatches of one kernel, shape and GPU, by pass.
#[derive(Default)]
struct MatchingDispatches {
    names: BTreeMap<String, usize>,
    numbers: BTreeMap<DispatchKey, usize>,
    /// For each group of matching dispatches, the rows of every pass that has any.
    passes: Vec<Vec<Vec<Counted>>>,
}

impl MatchingDispatches {
    /// Adds the rows of a frame, which are in the order of their passes.
    fn add(&mut self, at: usize, frame: &DataFrame) -> Result<()> {
        let [passes, gpus, ids] = frame.integers(["pass", "gpu", "dispatch_id"])?;
        let shape = frame.integers(SHAPE)?;
        let (codes, names) = numbered_texts(frame.column("kernel_name")?)?;
        let names: Vec<usize> = names.into_iter().map(|name| numbered(&mut self.names, name)).collect();
        let mut pass = None;
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        for (row, code) in codes.iter().enumerate() {
            if pass != Some(passes.get(row)) {
                pass = Some(passes.get(row));
                seen.clear();
            }
            let name = code.and_then(|code| names.get(code as usize)).copied().unwrap_or(usize::MAX);
            let mut like: DispatchKey = (gpus.get(row), name, [None; 6]);
            for (slot, values) in like.2.iter_mut().zip(&shape) {
                *slot = values.get(row);
            }
            let like = numbered(&mut self.numbers, like);
            if like >= self.passes.len() {
                self.passes.resize_with(like + 1, Vec::new);
            }
            let Some(of_like) = self.passes.get_mut(like) else { continue };
            if seen.insert(like) {
                of_like.push(Vec::new());
            }
            if let Some(rows) = of_like.last_mut() {
                rows.push(Counted { frame: at, row, id: ids.get(row) });
            }
        }
        Ok(())
    }
}

/// A key for each row of the passes of matching dispatches: rows with equal keys are the same dispatch.
fn keys(passes: &[Vec<Counted>]) -> Vec<Vec<(usize, i64)>> {
    let longest = passes.iter().max_by_key(|rows| rows.len());
    let same_length = passes.iter().all(|rows| Some(rows.len()) == longest.map(Vec::len));
    let ids = |rows: &[Counted]| -> BTreeSet<Option<i64>> { rows.iter().map(|row| row.id).collect() };
    let known = longest.map(|rows| ids(rows)).unwrap_or_default();
    let by_id = passes.iter().all(|rows| ids(rows).len() == rows.len() && ids(rows).is_subset(&known));
    passes
        .iter()
        .enumerate()
        .map(|(pass, rows)| {
            let key = |(ordinal, row): (i64, &Counted)| match (same_length, by_id) {
                (true, _) => (0, ordinal),
                (false, true) => (0, row.id.unwrap_or(-1)),
                (false, false) => (pass, ordinal),
            };
            (0..).zip(rows).map(key).collect()
        })
        .collect()
}

fn numbered<K: Ord>(known: &mut BTreeMap<K, usize>, key: K) -> usize {
    let next = known.len();
    *known.entry(key).or_insert(next)
}
