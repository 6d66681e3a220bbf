//! Dispatches of several counter passes brought together: the same kernel with the same shape, the n-th time on its GPU.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use super::counted_dispatches::{OF_DISPATCH, nullable, texts};
use crate::trace::values::Integers;

/// What the passes of a rank have in common, and how often.
pub struct Joined {
    /// One row per dispatch: what is told of it in its first pass, and every counter from the first pass that has it.
    pub frame: DataFrame,
    /// Which of the frames each row is told of by.
    pub told_by: Vec<usize>,
}

const SHAPE: [&str; 6] = ["grid_x", "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z"];

/// The dispatches of one rank from those of its processes, each a frame in the order of pass and start.
///
/// Within a pass dispatches of one kernel, shape and GPU are numbered; those of the same number in other passes are the same
/// dispatch counted again. Durations are the median over the passes.
///
/// # Errors
/// When a needed column is missing or has another type.
pub fn joined(frames: &[&DataFrame]) -> Result<Joined> {
    if let [frame] = frames {
        let passes = frame.column("pass")?.i64()?;
        if passes.min() == passes.max() {
            return alone(frame);
        }
    }
    let mut numbers = Numbers::default();
    let mut places: Vec<Vec<usize>> = Vec::with_capacity(frames.len());
    let mut told: Vec<(usize, usize)> = Vec::new();
    let mut durations: Vec<Vec<i64>> = Vec::new();
    for (at, frame) in frames.iter().enumerate() {
        let of_rows = numbers.of(frame)?;
        let valid = frame.column("valid")?.bool()?.clone();
        let lengths = Integers::of(frame.column("duration_ns")?.i64()?);
        for (row, place) in of_rows.iter().enumerate() {
            if *place >= told.len() {
                told.push((at, row));
                durations.push(Vec::new());
            }
            if let (Some(true), Some(length), Some(known)) =
                (valid.get(row), lengths.get(row), durations.get_mut(*place))
            {
                known.push(length);
            }
        }
        places.push(of_rows);
    }
    let told_by = told.iter().map(|(at, _)| *at).collect();
    let mut frame = told_rows(frames, &told)?;
    frame.with_column(medians(durations))?;
    let counters = counters(frames, &places, told.len())?;
    frame.hstack_mut(&counters)?;
    Ok(Joined { frame, told_by })
}

/// The dispatches of a single pass.
fn alone(frame: &DataFrame) -> Result<Joined> {
    let valid = frame.column("valid")?.bool()?;
    let lengths = Integers::of(frame.column("duration_ns")?.i64()?);
    let durations: Float64Chunked = lengths
        .iter()
        .zip(valid.iter())
        .map(|(length, valid)| length.filter(|_| valid == Some(true)).map(|length| length as f64))
        .collect_ca(DURATION.into());
    let mut frame = frame.clone();
    frame.with_column(durations.into_series().into_column())?;
    let told_by = vec![0; frame.height()];
    Ok(Joined { frame, told_by })
}

/// The name of the duration of a joined dispatch, in nanoseconds.
pub const DURATION: &str = "dur_ns";

fn medians(durations: Vec<Vec<i64>>) -> Column {
    let median = |mut values: Vec<i64>| {
        values.sort_unstable();
        let (lower, upper) = (values.get(values.len().checked_sub(1)? / 2)?, values.get(values.len() / 2)?);
        Some((*lower as f64 + *upper as f64) / 2.0)
    };
    let values: Float64Chunked = durations.into_iter().map(median).collect_ca(DURATION.into());
    values.into_series().into_column()
}

/// What is told of the joined dispatches, each from the frame that has it first.
fn told_rows(frames: &[&DataFrame], told: &[(usize, usize)]) -> Result<DataFrame> {
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
    let rows: IdxCa = told
        .iter()
        .map(|(at, row)| offsets.get(*at).and_then(|offset| IdxSize::try_from(offset + row).ok()))
        .collect_ca("".into());
    Ok(all.unwrap_or_default().take(&rows)?)
}

/// Every counter of any frame, from the first that has a value for a dispatch.
fn counters(frames: &[&DataFrame], places: &[Vec<usize>], rows: usize) -> Result<Vec<Column>> {
    let mut filled: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (frame, places) in frames.iter().zip(places) {
        for column in frame.columns().iter().filter(|column| *column.dtype() == DataType::Float64) {
            let values = column.f64()?.rechunk();
            let all = filled.entry(column.name().to_string()).or_insert_with(|| vec![f64::NAN; rows]);
            for (value, place) in values.iter().zip(places) {
                if let (Some(value), Some(slot)) = (value, all.get_mut(*place))
                    && slot.is_nan()
                {
                    *slot = value;
                }
            }
        }
    }
    Ok(filled.into_iter().map(|(name, values)| nullable(&name, values)).collect())
}

/// GPU, kernel and shape.
type Like = (Option<i64>, usize, [Option<i64>; 6]);

/// Numbers of dispatches that are one.
#[derive(Default)]
struct Numbers {
    names: BTreeMap<String, usize>,
    likes: BTreeMap<Like, usize>,
    joined: BTreeMap<(usize, usize), usize>,
}

impl Numbers {
    /// The number of every row.
    fn of(&mut self, frame: &DataFrame) -> Result<Vec<usize>> {
        let read = |name: &str| -> Result<Integers> { Ok(Integers::of(frame.column(name)?.i64()?)) };
        let (passes, gpus) = (read("pass")?, read("gpu")?);
        let shape = SHAPE.iter().map(|name| read(name)).collect::<Result<Vec<_>>>()?;
        let (codes, names) = texts(frame.column("kernel_name")?)?;
        let names: Vec<usize> = names.into_iter().map(|name| numbered(&mut self.names, name)).collect();
        let mut of_rows = Vec::with_capacity(frame.height());
        let mut pass = None;
        let mut seen: Vec<usize> = Vec::new();
        for (row, code) in codes.iter().enumerate() {
            if pass != Some(passes.get(row)) {
                pass = Some(passes.get(row));
                seen.clear();
            }
            let name = code.and_then(|code| names.get(code as usize)).copied().unwrap_or(usize::MAX);
            let mut like: Like = (gpus.get(row), name, [None; 6]);
            for (slot, values) in like.2.iter_mut().zip(&shape) {
                *slot = values.get(row);
            }
            let like = numbered(&mut self.likes, like);
            if like >= seen.len() {
                seen.resize(like + 1, 0);
            }
            let Some(ordinal) = seen.get_mut(like) else { continue };
            of_rows.push(numbered(&mut self.joined, (like, *ordinal)));
            *ordinal += 1;
        }
        Ok(of_rows)
    }
}

fn numbered<K: Ord>(known: &mut BTreeMap<K, usize>, key: K) -> usize {
    let next = known.len();
    *known.entry(key).or_insert(next)
}
