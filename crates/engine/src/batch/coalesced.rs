//! Segments in compact form until the intervals are known in which their time is summed.

use std::collections::BTreeMap;

use anyhow::Result;
use itertools::izip;
use parking_lot::Mutex;
use polars::prelude::{Column, DataFrame, DataType, PolarsResult, df};

use wavesieve_tables::columns::frames::{collected, part, pieces};
use wavesieve_tables::columns::requests::{ProcessTables, Request};
use wavesieve_tables::columns::values::{FrameValues, I64Values};
use wavesieve_tables::derive::gpu_work::gpu_times::{GPU_SEGMENTS, SUMMED_COLUMNS};
use wavesieve_tables::trace::TraceProcess;
use wavesieve_tables::trace::consumer::TableConsumer;

/// Bits of a packed run that encode the kinds of work; the bits above are its length.
const KIND_BITS: u32 = 3;
const KINDS: usize = 1 << KIND_BITS;
const LONGEST: u64 = (1 << (u32::BITS - KIND_BITS)) - 1;

/// Runs on a GPU from its first segment on: neighbors with the same kinds of work are one run, and pauses are runs too.
#[derive(Default)]
struct Runs {
    start_ns: i64,
    end_ns: i64,
    /// Lengths with kinds. A length of 0 means that the next two values hold a longer one.
    packed: Vec<u32>,
    /// The last run, which may continue.
    last: (u64, u32),
}

impl Runs {
    fn add(&mut self, start_ns: i64, end_ns: i64, kinds: u32) {
        if self.packed.is_empty() && self.last.0 == 0 {
            (self.start_ns, self.end_ns) = (start_ns, start_ns);
        }
        if start_ns > self.end_ns {
            self.extend_run(start_ns.abs_diff(self.end_ns), 0);
        }
        let from_ns = self.end_ns.max(start_ns);
        if end_ns > from_ns {
            self.extend_run(end_ns.abs_diff(from_ns), kinds);
        }
        self.end_ns = self.end_ns.max(end_ns);
    }

    fn extend_run(&mut self, length_ns: u64, kinds: u32) {
        if self.last.1 == kinds {
            self.last.0 = self.last.0.saturating_add(length_ns);
        } else {
            self.flush();
            self.last = (length_ns, kinds);
        }
    }

    fn flush(&mut self) {
        let (length_ns, kinds) = std::mem::take(&mut self.last);
        match length_ns {
            0 => {}
            1..=LONGEST => self.packed.push((length_ns as u32) << KIND_BITS | kinds),
            _ => self.packed.extend([kinds, (length_ns >> u32::BITS) as u32, length_ns as u32]),
        }
    }

    /// Start, end and kinds of each run.
    fn iter(&self) -> impl Iterator<Item = (i64, i64, u32)> + '_ {
        let mut packed = self.packed.iter().copied();
        let mut at_ns = self.start_ns;
        std::iter::from_fn(move || {
            let first = packed.next()?;
            let length_ns = match u64::from(first >> KIND_BITS) {
                0 => u64::from(packed.next()?) << u32::BITS | u64::from(packed.next()?),
                length_ns => length_ns,
            };
            let start_ns = at_ns;
            at_ns = at_ns.saturating_add_unsigned(length_ns);
            Some((start_ns, at_ns, first & (KINDS as u32 - 1)))
        })
    }
}

/// Runs of all GPUs by process and GPU.
#[derive(Default)]
pub(crate) struct CoalescedSegments {
    processes: Mutex<BTreeMap<i64, BTreeMap<i64, Runs>>>,
}

impl CoalescedSegments {
    /// Takes the segments of each process.
    pub fn consumer(&self) -> TableConsumer<'_> {
        let request = Request::from([(GPU_SEGMENTS, SUMMED_COLUMNS.into_iter().collect())]);
        TableConsumer::new(request, |member, tables| self.see(member, tables))
    }

    fn see(&self, member: &TraceProcess, tables: &ProcessTables) -> Result<()> {
        let Some(segments) = tables.get(GPU_SEGMENTS) else { return Ok(()) };
        let runs = runs_of(&collected(segments)?)?;
        self.processes.lock().insert(member.process.process, runs);
        Ok(())
    }

    /// Rows of `gpu_segments` with the same time for each kind of work in each interval of a grid as the segments have. The grid has
    /// `process`, `origin_ns` and `length_ns`; nothing starts before the origin.
    ///
    /// # Errors
    /// When the grid lacks a column or has an interval of length 0, or a sum is out of range.
    pub(crate) fn by_grid(&self, grid: &DataFrame) -> Result<DataFrame> {
        // The engine may give small numbers in narrower types.
        let column =
            |name: &str| -> Result<I64Values> { Ok(I64Values::new(grid.column(name)?.cast(&DataType::Int64)?.i64()?)) };
        let (processes, origins, lengths) = (column("process")?, column("origin_ns")?, column("length_ns")?);
        let mut rows = Rows::default();
        let known = self.processes.lock();
        for ((process, origin_ns), length_ns) in processes.iter().zip(origins.iter()).zip(lengths.iter()) {
            let (Some(process), Some(origin_ns), Some(length_ns)) = (process, origin_ns, length_ns) else { continue };
            anyhow::ensure!(length_ns > 0, "internal: bins of no length");
            for (gpu, runs) in known.get(&process).into_iter().flatten() {
                rows.add(process, *gpu, runs, origin_ns, length_ns)?;
            }
        }
        drop(known);
        Ok(rows.into_frame()?)
    }
}

fn runs_of(segments: &DataFrame) -> Result<BTreeMap<i64, Runs>> {
    let mut runs: BTreeMap<i64, Runs> = BTreeMap::new();
    let mut last: (Option<i64>, Runs) = Default::default();
    for piece in pieces(segments) {
        let [gpus, starts, ends, compute, comm, copies] = part(segments, &piece).integers(SUMMED_COLUMNS)?;
        for (gpu, start, end, compute, comm, copies) in
            izip!(gpus.iter(), starts.iter(), ends.iter(), compute.iter(), comm.iter(), copies.iter())
        {
            let (Some(_), Some(start_ns), Some(end_ns)) = (gpu, start, end) else { continue };
            if last.0 != gpu {
                let of_gpu = gpu.and_then(|gpu| runs.remove(&gpu)).unwrap_or_default();
                if let (Some(gpu), of_last) = std::mem::replace(&mut last, (gpu, of_gpu)) {
                    runs.insert(gpu, of_last);
                }
            }
            let kinds = [compute, comm, copies].into_iter();
            let kinds = kinds.fold(0, |kinds, count| kinds << 1 | u32::from(count > Some(0)));
            last.1.add(start_ns, end_ns, kinds);
        }
    }
    if let (Some(gpu), of_last) = last {
        runs.insert(gpu, of_last);
    }
    for runs in runs.values_mut() {
        runs.flush();
        runs.packed.shrink_to_fit();
    }
    Ok(runs)
}

/// Rows of the table.
#[derive(Default)]
struct Rows {
    process: Vec<i64>,
    gpu: Vec<i64>,
    start_ns: Vec<i64>,
    end_ns: Vec<i64>,
    kinds: Vec<u32>,
}

impl Rows {
    fn add(&mut self, process: i64, gpu: i64, runs: &Runs, origin_ns: i64, length_ns: i64) -> Result<()> {
        let (mut bin, mut sums_ns) = (0_i64, [0_i64; KINDS]);
        let start_of = |bin: i64| bin.checked_mul(length_ns)?.checked_add(origin_ns);
        for (start_ns, end_ns, kinds) in runs.iter() {
            let mut from_ns = start_ns;
            while from_ns < end_ns && kinds > 0 {
                let at = from_ns.checked_sub(origin_ns).filter(|at_ns| *at_ns >= 0).map(|at_ns| at_ns / length_ns);
                let ends = at.map(|at| (at, at.checked_add(1).and_then(start_of).unwrap_or(i64::MAX)));
                let Some((at, bin_end_ns)) = ends else { anyhow::bail!("internal: work before the first bin") };
                if at != bin {
                    self.flush(process, gpu, start_of(bin), &mut sums_ns)?;
                    bin = at;
                }
                let to_ns = end_ns.min(bin_end_ns);
                if let Some(sum_ns) = sums_ns.get_mut(kinds as usize) {
                    *sum_ns = sum_ns.saturating_add(to_ns - from_ns);
                }
                from_ns = to_ns;
            }
        }
        self.flush(process, gpu, start_of(bin), &mut sums_ns)
    }

    fn flush(&mut self, process: i64, gpu: i64, start_ns: Option<i64>, sums_ns: &mut [i64; KINDS]) -> Result<()> {
        let Some(mut at_ns) = start_ns else { anyhow::bail!("internal: a bin out of range") };
        for (kinds, sum_ns) in (0_u32..).zip(std::mem::take(sums_ns)).filter(|(_, sum_ns)| *sum_ns > 0) {
            self.process.push(process);
            self.gpu.push(gpu);
            self.start_ns.push(at_ns);
            at_ns = at_ns.saturating_add(sum_ns);
            self.end_ns.push(at_ns);
            self.kinds.push(kinds);
        }
        Ok(())
    }

    fn into_frame(self) -> PolarsResult<DataFrame> {
        let durations: Vec<i64> = self.start_ns.iter().zip(&self.end_ns).map(|(start, end)| end - start).collect();
        let mut frame = df!(
            "process" => self.process,
            "gpu" => self.gpu,
            "start_ns" => self.start_ns,
            "end_ns" => self.end_ns,
            "duration_ns" => durations,
        )?;
        for (name, bit) in [("compute", 2), ("comm", 1), ("copies", 0)] {
            let counts: Vec<i64> = self.kinds.iter().map(|kinds| i64::from(kinds >> bit & 1)).collect();
            frame.with_column(Column::new(name.into(), counts))?;
        }
        Ok(frame)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Segments of one GPU, which follow one another with pauses: pause, length, counts.
    fn segments() -> impl Strategy<Value = Vec<(i64, i64, i64, i64, i64)>> {
        let lengths = prop_oneof![0_i64..50, 0_i64..3_000_000_000];
        prop::collection::vec((0_i64..9, lengths, 0_i64..3, 0_i64..2, 0_i64..2), 1..40)
    }

    fn frame(start_ns: i64, segments: &[(i64, i64, i64, i64, i64)]) -> DataFrame {
        let mut at_ns = start_ns;
        let mut rows: [Vec<i64>; 6] = Default::default();
        for (pause, length, compute, comm, copies) in segments {
            let start_ns = at_ns + pause;
            at_ns = start_ns + length;
            for (column, value) in rows.iter_mut().zip([0, start_ns, at_ns, *compute, *comm, *copies]) {
                column.push(value);
            }
        }
        let columns = SUMMED_COLUMNS.into_iter().zip(rows).map(|(name, values)| Column::new(name.into(), values));
        DataFrame::new_infer_height(columns.collect()).unwrap()
    }

    /// Time of each kind of work in each interval.
    fn times(frame: &DataFrame, origin_ns: i64, length_ns: i64) -> BTreeMap<(i64, [bool; 3]), i64> {
        let column = |name: &str| frame.column(name).unwrap().i64().unwrap().clone();
        let counts = ["compute", "comm", "copies"].map(column);
        let mut times = BTreeMap::new();
        for (row, (start, end)) in column("start_ns").iter().zip(column("end_ns").iter()).enumerate() {
            let kinds = [0, 1, 2].map(|at| counts[at].get(row).unwrap() > 0);
            let (start_ns, end_ns) = (start.unwrap() - origin_ns, end.unwrap() - origin_ns);
            if !kinds.contains(&true) || start_ns == end_ns {
                continue;
            }
            for bin in start_ns / length_ns..=(end_ns - 1) / length_ns {
                let part_ns = end_ns.min((bin + 1) * length_ns) - start_ns.max(bin * length_ns);
                *times.entry((bin, kinds)).or_default() += part_ns;
            }
        }
        times
    }

    proptest! {
        #[test]
        fn as_long_in_every_bin(
            segments in segments(), start_ns in 0_i64..1000, lead_ns in 0_i64..100, length in prop_oneof![1_i64..100, 1_000_000_i64..9_000_000_000],
        ) {
            let whole = frame(start_ns, &segments);
            let last_ns = whole.column("end_ns").unwrap().i64().unwrap().iter().flatten().max().unwrap();
            let (origin_ns, length_ns) = (start_ns - lead_ns, length.max((last_ns - start_ns) / 50));
            let merged = CoalescedSegments::default();
            merged.processes.lock().insert(7, runs_of(&whole).unwrap());
            let grid = df!("process" => [7_i64], "origin_ns" => [origin_ns], "length_ns" => [length_ns]).unwrap();
            let rows = merged.by_grid(&grid).unwrap();
            prop_assert_eq!(times(&rows, origin_ns, length_ns), times(&whole, origin_ns, length_ns));
            // At most one row for each kind of work in each interval.
            prop_assert_eq!(rows.height(), times(&whole, origin_ns, length_ns).len());
        }
    }
}
