//! The values of functions over ordered windows: rows are sorted once, and each frame moves forward with its row.

use std::collections::VecDeque;
use std::ops::Range;

use polars::prelude::{
    ChunkCompareEq, Column, DataFrame, DataType, Float64Chunked, IdxCa, Int64Chunked, IntoColumn, IntoSeries,
    NewChunkedArray, PlSmallStr, PolarsResult, SortMultipleOptions, SortOptions,
};

use super::regexps::{plain, wrong};
use super::window_calls::{Bound, Compute, WindowCall};

/// The columns of a call in the order of its window.
struct Sorted {
    /// The name of the first column.
    name: PlSmallStr,
    /// Original place of each row.
    places: Vec<usize>,
    values: Option<Column>,
    otherwise: Option<Column>,
    /// Whether a partition, and a run of equal rows, starts at each row.
    starts: Vec<bool>,
    peers: Vec<bool>,
    /// Values that order the rows, if a frame is measured in values.
    order: Vec<Option<f64>>,
}

impl WindowCall {
    /// Computes the call from its columns, in the order of the rows.
    ///
    /// # Errors
    /// When a column is of a type that the function does not take.
    pub fn compute(&self, columns: &[Column]) -> PolarsResult<Column> {
        let height = columns.iter().map(Column::len).max().unwrap_or(0);
        let name = columns.first().map_or(PlSmallStr::from_static("window"), |column| column.name().clone());
        let data_type = self.data_type(columns.first().map(Column::dtype));
        if height == 0 {
            return Ok(Column::new_empty(name, &data_type));
        }
        let sorted = self.sorted(columns, height)?;
        let given = self.of_sorted(&sorted, &data_type)?;
        let mut back = vec![0 as polars::prelude::IdxSize; height];
        for (at, place) in sorted.places.iter().enumerate() {
            if let Some(slot) = back.get_mut(*place) {
                *slot = at as polars::prelude::IdxSize;
            }
        }
        let back = IdxCa::from_vec(PlSmallStr::from_static("back"), back);
        Ok(given.take(&back)?.with_name(name))
    }

    fn sorted(&self, columns: &[Column], height: usize) -> PolarsResult<Sorted> {
        let spread = |(at, column): (usize, &Column)| {
            let column = column.cast(&plain(column.dtype()))?;
            let column = if column.len() == height { column } else { column.new_from_index(0, height) };
            Ok(column.with_name(PlSmallStr::from_string(format!("column_{at}"))))
        };
        let all: Vec<Column> = columns.iter().enumerate().map(spread).collect::<PolarsResult<_>>()?;
        let keys = self.arguments..all.len();
        let row = Int64Chunked::from_vec(PlSmallStr::from_static("row"), (0..height as i64).collect());
        let mut frame = DataFrame::new(height, all.into_iter().chain([row.into_series().into_column()]).collect())?;
        let names: Vec<String> = keys.clone().map(|at| format!("column_{at}")).collect();
        if !names.is_empty() {
            let in_partition = vec![false; self.partition];
            let descending: Vec<bool> = self.order.iter().map(|order| order.descending).collect();
            let last: Vec<bool> = self.order.iter().map(|order| !order.nulls_first).collect();
            let options = SortMultipleOptions::default()
                .with_order_descending_multi([in_partition.clone(), descending].concat())
                .with_nulls_last_multi([in_partition, last].concat())
                .with_maintain_order(true);
            frame = frame.sort(&names, options)?;
        }
        let begins = |from: usize, to: usize| -> PolarsResult<Vec<bool>> {
            let mut begins = vec![false; height];
            for at in from..to {
                let column = frame.column(&format!("column_{at}"))?.as_materialized_series();
                let differs = column.not_equal_missing(&column.shift(1))?;
                for (begin, differs) in begins.iter_mut().zip(differs.iter()) {
                    *begin |= differs.unwrap_or(true);
                }
            }
            if let Some(first) = begins.first_mut() {
                *first = true;
            }
            Ok(begins)
        };
        let starts = begins(self.arguments, self.arguments + self.partition)?;
        let mut peers = begins(self.arguments + self.partition, self.arguments + self.partition + self.order.len())?;
        for (peer, start) in peers.iter_mut().zip(&starts) {
            *peer |= start;
        }
        let places = frame.column("row")?.i64()?.iter().map(|place| place.unwrap_or(0) as usize).collect();
        let values = (self.arguments > 0).then(|| frame.column("column_0").cloned()).transpose()?;
        let otherwise = (self.arguments > 1).then(|| frame.column("column_1").cloned()).transpose()?;
        let name = columns.first().map_or(PlSmallStr::from_static("window"), |column| column.name().clone());
        Ok(Sorted { name, places, values, otherwise, starts, peers, order: self.distances(&frame)? })
    }

    /// The values that measure a frame, in rising order.
    fn distances(&self, frame: &DataFrame) -> PolarsResult<Vec<Option<f64>>> {
        let ends = [self.frame.start, self.frame.end];
        if self.frame.is_rows || ends.iter().all(|end| matches!(end, Bound::Open | Bound::At(0.0))) {
            return Ok(Vec::new());
        }
        let [order] = self.order.as_slice() else {
            return Err(wrong("a frame of values takes one column to order by; write ROWS in the place of RANGE"));
        };
        let column = frame.column(&format!("column_{}", self.arguments + self.partition))?;
        if !column.dtype().is_primitive_numeric() {
            return Err(wrong("a frame of values takes a number to order by; write ROWS in the place of RANGE"));
        }
        // Times are too large for a float; only distances within a partition matter.
        let least = column.cast(&DataType::Int64)?.i64()?.iter().flatten().min().unwrap_or(0);
        let sign = if order.descending { -1.0 } else { 1.0 };
        if column.dtype().is_integer() {
            let column = column.cast(&DataType::Int64)?;
            let distance = |value: i64| sign * (i128::from(value) - i128::from(least)) as f64;
            return Ok(column.i64()?.iter().map(|value| value.map(distance)).collect());
        }
        Ok(column.cast(&DataType::Float64)?.f64()?.iter().map(|value| value.map(|value| sign * value)).collect())
    }

    fn of_sorted(&self, sorted: &Sorted, data_type: &DataType) -> PolarsResult<Column> {
        let height = sorted.places.len();
        let ends = ends_of(&sorted.starts);
        let whole = |value: &dyn Fn(&Range<usize>, usize) -> i64| {
            let mut given = Vec::with_capacity(height);
            ends.iter().for_each(|part| given.extend(part.clone().map(|at| value(part, at))));
            Int64Chunked::from_vec(PlSmallStr::from_static("window"), given).into_series().into_column()
        };
        let share = |value: &dyn Fn(&Range<usize>, usize) -> f64| {
            let mut given = Vec::with_capacity(height);
            ends.iter().for_each(|part| given.extend(part.clone().map(|at| value(part, at))));
            Float64Chunked::from_vec(PlSmallStr::from_static("window"), given).into_series().into_column()
        };
        let peers = peers_of(&sorted.peers);
        let peer = |at: usize| peers.get(at).cloned().unwrap_or(at..at + 1);
        let length = |part: &Range<usize>| part.end - part.start;
        match self.compute {
            Compute::RowNumber => Ok(whole(&|part, at| (at - part.start + 1) as i64)),
            Compute::Rank => Ok(whole(&|part, at| (peer(at).start - part.start + 1) as i64)),
            Compute::DenseRank => {
                let mut numbers = Vec::with_capacity(height);
                for (start, begins) in sorted.starts.iter().zip(&sorted.peers) {
                    let before = if *start { 0 } else { numbers.last().copied().unwrap_or(0) };
                    numbers.push(before + i64::from(*begins));
                }
                Ok(Int64Chunked::from_vec(PlSmallStr::from_static("window"), numbers).into_series().into_column())
            }
            Compute::PercentRank => Ok(share(&|part, at| match length(part) {
                1 => 0.0,
                rows => (peer(at).start - part.start) as f64 / (rows - 1) as f64,
            })),
            Compute::CumeDist => Ok(share(&|part, at| (peer(at).end - part.start) as f64 / length(part) as f64)),
            Compute::Ntile(parts) => Ok(whole(&|part, at| tile(length(part), (at - part.start) as i64, parts))),
            Compute::Shift(rows) => self.shifted(sorted, &ends, rows, data_type),
            _ => {
                let frames = self.frames(sorted, &ends, &peers);
                match self.compute {
                    Compute::Count => Ok(counted(sorted, &frames)),
                    Compute::Sum | Compute::Avg => self.summed(sorted, &frames, data_type),
                    _ => self.chosen(sorted, &frames),
                }
            }
        }
    }

    /// The frame of each row.
    fn frames(&self, sorted: &Sorted, parts: &[Range<usize>], peers: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut frames = Vec::with_capacity(peers.len());
        let distance = |at: usize| sorted.order.get(at).copied().flatten();
        for part in parts {
            let (mut low, mut high) = (part.start, part.start);
            for at in part.clone() {
                let peer = peers.get(at).cloned().unwrap_or(at..at + 1);
                let by_rows = |rows: f64| {
                    let place = (at as f64 + rows).clamp(part.start as f64 - 1.0, part.end as f64);
                    place as i64
                };
                let start = match self.frame.start {
                    Bound::Open => part.start,
                    Bound::At(rows) if self.frame.is_rows => by_rows(rows).max(part.start as i64) as usize,
                    Bound::At(0.0) => peer.start,
                    Bound::At(by) => match distance(at) {
                        None => peer.start,
                        Some(value) => {
                            while low < part.end && distance(low).is_some_and(|other| other < value + by) {
                                low += 1;
                            }
                            low
                        }
                    },
                };
                let end = match self.frame.end {
                    Bound::Open => part.end,
                    Bound::At(rows) if self.frame.is_rows => {
                        (by_rows(rows) + 1).clamp(part.start as i64, part.end as i64) as usize
                    }
                    Bound::At(0.0) => peer.end,
                    Bound::At(by) => match distance(at) {
                        None => peer.end,
                        Some(value) => {
                            while high < part.end && distance(high).is_some_and(|other| other <= value + by) {
                                high += 1;
                            }
                            high
                        }
                    },
                };
                frames.push(start..end.max(start));
            }
        }
        frames
    }

    fn shifted(
        &self,
        sorted: &Sorted,
        parts: &[Range<usize>],
        rows: i64,
        data_type: &DataType,
    ) -> PolarsResult<Column> {
        let values = sorted.values.as_ref().ok_or_else(|| wrong("lag and lead take a column"))?;
        let mut places = Vec::with_capacity(values.len());
        for part in parts {
            places.extend(part.clone().map(|at| {
                let place = (at as i64).checked_sub(rows).and_then(|place| usize::try_from(place).ok());
                place.filter(|place| part.contains(place)).map(|place| place as polars::prelude::IdxSize)
            }));
        }
        let is_outside: Vec<bool> = places.iter().map(Option::is_none).collect();
        let places = IdxCa::from_iter_options(PlSmallStr::from_static("places"), places.into_iter());
        let given = values.take(&places)?;
        let Some(otherwise) = &sorted.otherwise else { return Ok(given) };
        let mask =
            polars::prelude::BooleanChunked::from_iter_values(PlSmallStr::from_static("mask"), is_outside.into_iter());
        let otherwise = otherwise.cast(data_type)?;
        let given = otherwise.as_materialized_series().zip_with(&mask, given.as_materialized_series())?;
        Ok(given.into_column())
    }

    fn summed(&self, sorted: &Sorted, frames: &[Range<usize>], data_type: &DataType) -> PolarsResult<Column> {
        let values = sorted.values.as_ref().ok_or_else(|| wrong("sum and avg take a column"))?;
        if !values.dtype().is_primitive_numeric() && *values.dtype() != DataType::Boolean {
            return Err(wrong("sum and avg take numbers; cast the column"));
        }
        let is_mean = self.compute == Compute::Avg;
        let mut counts = vec![0_i64];
        if values.dtype().is_float() {
            let values = values.cast(&DataType::Float64)?;
            let values: Vec<Option<f64>> = values.f64()?.iter().collect();
            let sums = frames.iter().map(|frame| {
                let rows = values.get(frame.clone()).unwrap_or_default();
                let (sum, count) =
                    rows.iter().flatten().fold((0.0, 0_i64), |(sum, count), value| (sum + value, count + 1));
                (count > 0).then(|| if is_mean { sum / count as f64 } else { sum })
            });
            return Ok(Float64Chunked::from_iter_options(PlSmallStr::from_static("window"), sums)
                .into_series()
                .into_column());
        }
        // Sums of whole numbers are differences of those up to each row, and exact.
        let mut sums = vec![0_i128];
        let values = values.cast(&DataType::Int64)?;
        for value in values.i64()?.iter() {
            sums.push(sums.last().copied().unwrap_or(0) + i128::from(value.unwrap_or(0)));
            counts.push(counts.last().copied().unwrap_or(0) + i64::from(value.is_some()));
        }
        let between = |frame: &Range<usize>| {
            let sum = sums.get(frame.end)? - sums.get(frame.start)?;
            let count = counts.get(frame.end)? - counts.get(frame.start)?;
            (count > 0).then_some((sum, count))
        };
        if *data_type == DataType::Int64 {
            let name = &sorted.name;
            let sums: Vec<Option<i64>> = frames
                .iter()
                .map(|frame| match between(frame) {
                    None => Ok(None),
                    Some((sum, _)) => i64::try_from(sum).map(Some).map_err(|_| {
                        wrong(format!("a sum of {name} is beyond 64 bits; sum CAST({name} AS DOUBLE) instead"))
                    }),
                })
                .collect::<PolarsResult<_>>()?;
            let sums = Int64Chunked::from_iter_options(PlSmallStr::from_static("window"), sums.into_iter());
            return Ok(sums.into_series().into_column());
        }
        let means = frames.iter().map(|frame| between(frame).map(|(sum, count)| sum as f64 / count as f64));
        Ok(Float64Chunked::from_iter_options(PlSmallStr::from_static("window"), means).into_series().into_column())
    }

    /// The value of one row of each frame.
    fn chosen(&self, sorted: &Sorted, frames: &[Range<usize>]) -> PolarsResult<Column> {
        let values = sorted.values.as_ref().ok_or_else(|| wrong("the function takes a column"))?;
        let places: Vec<Option<usize>> = match self.compute {
            Compute::First => frames.iter().map(|frame| (!frame.is_empty()).then_some(frame.start)).collect(),
            Compute::Last => frames.iter().map(|frame| (!frame.is_empty()).then(|| frame.end - 1)).collect(),
            Compute::Nth(number) => frames
                .iter()
                .map(|frame| {
                    let at = usize::try_from(number).ok()?.checked_sub(1)?.checked_add(frame.start)?;
                    frame.contains(&at).then_some(at)
                })
                .collect(),
            _ => extremes(values, frames, self.compute == Compute::Max),
        };
        let places = places.into_iter().map(|place| place.map(|place| place as polars::prelude::IdxSize));
        values.take(&IdxCa::from_iter_options(PlSmallStr::from_static("places"), places))
    }
}

/// The rows of each partition.
fn ends_of(starts: &[bool]) -> Vec<Range<usize>> {
    let mut begins: Vec<usize> = starts.iter().enumerate().filter(|(_, start)| **start).map(|(at, _)| at).collect();
    begins.push(starts.len());
    begins.windows(2).filter_map(|pair| Some(*pair.first()?..*pair.last()?)).collect()
}

/// The rows that are equal to each row.
fn peers_of(peers: &[bool]) -> Vec<Range<usize>> {
    ends_of(peers).into_iter().flat_map(|run| std::iter::repeat_n(run.clone(), run.len())).collect()
}

/// The number of the part that a row is in; the first parts have one more row.
fn tile(rows: usize, at: i64, parts: i64) -> i64 {
    let (size, larger) = (rows as i64 / parts, rows as i64 % parts);
    if at < larger * (size + 1) { at / (size + 1) + 1 } else { larger + (at - larger * (size + 1)) / size.max(1) + 1 }
}

fn counted(sorted: &Sorted, frames: &[Range<usize>]) -> Column {
    let counts: Vec<i64> = match &sorted.values {
        None => frames.iter().map(|frame| frame.len() as i64).collect(),
        Some(values) => {
            let mut known = vec![0_i64];
            for is_known in values.is_not_null().iter() {
                known.push(known.last().copied().unwrap_or(0) + i64::from(is_known == Some(true)));
            }
            let up_to = |at: usize| known.get(at).copied().unwrap_or(0);
            frames.iter().map(|frame| up_to(frame.end) - up_to(frame.start)).collect()
        }
    };
    Int64Chunked::from_vec(PlSmallStr::from_static("window"), counts).into_series().into_column()
}

/// The place of the largest or smallest value of each frame; the ends of frames only rise.
fn extremes(values: &Column, frames: &[Range<usize>], is_greatest: bool) -> Vec<Option<usize>> {
    let order = values
        .as_materialized_series()
        .arg_sort(SortOptions::default().with_order_descending(is_greatest).with_nulls_last(true));
    let mut codes = vec![usize::MAX; values.len()];
    for (code, at) in order.iter().flatten().enumerate() {
        if let Some(slot) = codes.get_mut(at as usize) {
            *slot = code;
        }
    }
    let known: Vec<bool> = values.is_not_null().iter().map(|known| known == Some(true)).collect();
    let code = |at: usize| codes.get(at).copied().unwrap_or(usize::MAX);
    let mut best: VecDeque<usize> = VecDeque::new();
    let (mut taken, mut last) = (0, 0..0);
    let mut places = Vec::with_capacity(frames.len());
    for frame in frames {
        // Another partition starts anew.
        if frame.start < last.start || frame.end < last.end {
            best.clear();
            taken = frame.start;
        }
        last = frame.clone();
        for at in taken.max(frame.start)..frame.end {
            if known.get(at) == Some(&true) {
                while best.back().is_some_and(|back| code(*back) > code(at)) {
                    best.pop_back();
                }
                best.push_back(at);
            }
        }
        taken = taken.max(frame.end);
        while best.front().is_some_and(|front| *front < frame.start) {
            best.pop_front();
        }
        places.push(best.front().copied());
    }
    places
}
