//! Kernels and copies as intervals of activity on GPUs, from the tables of one process, and their sums over time.

use std::iter::Peekable;
use std::slice::Iter;

use anyhow::{Context, Result};
use polars::prelude::*;
use rayon::prelude::*;

use crate::columns::frames::rows_named;
use crate::columns::reading::Piece;
use crate::columns::values::{BoolValues, FrameValues};
use crate::derive::gpu_work::gpu_time_sweep::GpuTimeSweep;
use crate::derive::gpu_work::gpu_times::GpuTime;
use crate::derive::launching::kernel_order::KernelOrder;
use wavesieve_model::analysis::categories::COMMUNICATION;
use wavesieve_model::analysis::gpu_time::segments::{Activity, ActivityInterval};

/// The valid kernels and copies whose GPU is known; a copy between two GPUs counts once for each.
pub fn of_tables(kernels: &DataFrame, copies: &DataFrame) -> Result<Vec<ActivityInterval>> {
    let mut activities = Vec::with_capacity(kernels.height().saturating_add(copies.height()));
    add_kernels(kernels, &mut activities)?;
    add_copies(copies, &mut activities)?;
    Ok(activities)
}

/// The sums of `gpu_segments` over all kernels in the given `order`, and copies in any order.
pub fn summed(kernels: &DataFrame, copies: &DataFrame, order: &KernelOrder) -> Result<Vec<GpuTime>> {
    let [gpus, starts, ends] = kernels.integers(["gpu", "start_ns", "end_ns"])?;
    let valid = kernels.truths("valid")?.are_true();
    let communicates = BoolValues::new(&of_communication(kernels)?).are_true();
    let kernel = |row: u32| {
        let row = row as usize;
        let (start_ns, end_ns) = starts.get(row).zip(ends.get(row)).filter(|_| valid.get(row) == Some(true))?;
        Some(ActivityInterval { gpu: gpus.get(row)?, start_ns, end_ns, activity: kind(communicates.get(row)) })
    };
    let sorted = sorted_copies(copies)?;
    let mut sums = Sums::new(&sorted);
    let in_order = order.rows().filter_map(kernel).all(|kernel| sums.add(&kernel));
    let times = if in_order { sums.finish() } else { None };
    times.context("internal: sorted rows are in no order")
}

/// The sums of `gpu_segments` over kernels that are read piece by piece, and copies; `None` if the kernels are not in the order of their
/// starts. Memory holds one piece per thread being read, and as many being summed up.
///
/// # Errors
/// When a piece cannot be read, or a column is missing or has another type.
pub(crate) fn summed_in_pieces(kernels: &[Box<dyn Piece>], copies: &DataFrame) -> Result<Option<Vec<GpuTime>>> {
    let sorted = sorted_copies(copies)?;
    let mut sums = Sums::new(&sorted);
    let mut windows = kernels.chunks(rayon::current_num_threads().max(1));
    // Reused buffers, because fresh memory costs about as much as reading does.
    let (mut ready, mut next) = (Vec::new(), Vec::new());
    read(windows.next().unwrap_or_default(), &mut ready)?;
    while !ready.is_empty() {
        let window = windows.next().unwrap_or_default();
        let sum_up = || ready.iter().flatten().all(|kernel| sums.add(kernel));
        let (in_order, read) = rayon::join(sum_up, || read(window, &mut next));
        read?;
        if !in_order {
            return Ok(None);
        }
        std::mem::swap(&mut ready, &mut next);
    }
    Ok(sums.finish())
}

/// Sums over kernels that come in the order of their starts, and copies in the same order.
struct Sums<'a> {
    copies: Peekable<Iter<'a, ActivityInterval>>,
    sweep: GpuTimeSweep,
}

impl<'a> Sums<'a> {
    fn new(copies: &'a [ActivityInterval]) -> Self {
        Self { copies: copies.iter().peekable(), sweep: GpuTimeSweep::default() }
    }

    /// Adds the next kernel and the copies before it; returns false if the kernel starts before the last one.
    fn add(&mut self, kernel: &ActivityInterval) -> bool {
        while let Some(copy) = self.copies.next_if(|copy| copy.start_ns <= kernel.start_ns) {
            if !self.sweep.add(copy) {
                return false;
            }
        }
        self.sweep.add(kernel)
    }

    fn finish(mut self) -> Option<Vec<GpuTime>> {
        self.copies.all(|copy| self.sweep.add(copy)).then(|| self.sweep.finish())
    }
}

fn sorted_copies(copies: &DataFrame) -> Result<Vec<ActivityInterval>> {
    let mut sorted = Vec::with_capacity(copies.height());
    add_copies(copies, &mut sorted)?;
    sorted.sort_by_key(|copy| copy.start_ns);
    Ok(sorted)
}

fn of_communication(kernels: &DataFrame) -> Result<BooleanChunked> {
    Ok(rows_named(kernels.column("category")?, |category| category == COMMUNICATION)?)
}

fn kind(communicates: Option<bool>) -> Activity {
    if communicates == Some(true) { Activity::Communication } else { Activity::Compute }
}

fn read(pieces: &[Box<dyn Piece>], into: &mut Vec<Vec<ActivityInterval>>) -> Result<()> {
    into.resize_with(pieces.len(), Vec::new);
    pieces.par_iter().zip(into.par_iter_mut()).try_for_each(|(piece, kernels)| {
        kernels.clear();
        piece.read(&mut |frame| add_kernels(frame, kernels))
    })
}

fn add_kernels(kernels: &DataFrame, activities: &mut Vec<ActivityInterval>) -> Result<()> {
    let communicates = BoolValues::new(&of_communication(kernels)?).are_true();
    activities.reserve(kernels.height());
    activities.extend(kernels.valid_rows(["gpu", "start_ns", "end_ns"])?.map(|(row, [gpu, start_ns, end_ns])| {
        ActivityInterval { gpu, start_ns, end_ns, activity: kind(communicates.get(row as usize)) }
    }));
    Ok(())
}

fn add_copies(copies: &DataFrame, activities: &mut Vec<ActivityInterval>) -> Result<()> {
    for gpu_column in ["gpu", "peer_gpu"] {
        let rows = copies.valid_rows([gpu_column, "start_ns", "end_ns"])?;
        let activity = Activity::Copy;
        activities.extend(rows.map(|(_, [gpu, start_ns, end_ns])| ActivityInterval {
            gpu,
            start_ns,
            end_ns,
            activity,
        }));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;
    use crate::columns::frames::categorical;
    use crate::columns::reading::Visit;
    use crate::derive::gpu_work::gpu_times::GpuTimes;
    use wavesieve_model::analysis::gpu_time::segments::segments;

    /// Kernels of 70 ns that start every 50 ns, with odd rows among them.
    fn kernels(rows: std::ops::Range<i64>) -> DataFrame {
        let each = |value: &dyn Fn(i64) -> i64| rows.clone().map(value).collect::<Vec<i64>>();
        let categories = rows.clone().map(|row| if row % 5 == 3 { COMMUNICATION } else { "gemm" });
        let category = StringChunked::from_iter_values("category".into(), categories).into_series();
        let gpus: Vec<Option<i64>> = rows.clone().map(|row| (row % 7 != 4).then_some(row % 2)).collect();
        let mut frame = df!(
            "gpu" => gpus,
            "start_ns" => each(&|row| row * 50),
            "end_ns" => each(&|row| row * 50 + if row % 11 == 9 { 0 } else { 70 }),
            "valid" => rows.clone().map(|row| row % 13 != 8).collect::<Vec<bool>>(),
        )
        .unwrap();
        frame.with_column(category.cast(&categorical()).unwrap().into_column()).unwrap();
        frame
    }

    fn copies() -> DataFrame {
        df!(
            "gpu" => [0_i64, 1, 0],
            "peer_gpu" => [Some(1_i64), None, None],
            "start_ns" => [20_i64, 333, 4_980],
            "end_ns" => [180_i64, 777, 6_000],
            "valid" => [true; 3],
        )
        .unwrap()
    }

    fn whole_sums(kernels: &DataFrame, copies: &DataFrame) -> Result<Vec<GpuTime>> {
        summed(kernels, copies, &KernelOrder::new(kernels)?)
    }

    struct Rows(DataFrame);

    impl Piece for Rows {
        fn read(&self, visit: &mut Visit<'_>) -> Result<()> {
            visit(&self.0)
        }
    }

    fn pieces(frames: impl IntoIterator<Item = DataFrame>) -> Vec<Box<dyn Piece>> {
        frames.into_iter().map(|frame| Box::new(Rows(frame)) as Box<dyn Piece>).collect()
    }

    #[test]
    fn pieces_sum_up_to_what_segments_do() {
        let (all, copies) = (kernels(0..100), copies());
        let mut expected = GpuTimes::default();
        segments(of_tables(&all, &copies).unwrap()).iter().for_each(|segment| expected.add(segment));
        let expected = expected.finish();
        assert!(expected.len() > 8, "{expected:?}");
        assert_eq!(whole_sums(&all, &copies).unwrap(), expected);
        for rows in [1, 3, 7, 40, 100] {
            let pieces = pieces((0..100).step_by(rows).map(|at| kernels(at..(at + rows as i64).min(100))));
            assert_eq!(summed_in_pieces(&pieces, &copies).unwrap(), Some(expected.clone()), "{rows}");
        }
    }

    #[test]
    fn rows_with_and_without_nulls_are_taken_alike() {
        let with_nulls = kernels(0..100);
        let gpu = with_nulls.column("gpu").unwrap().i64().unwrap();
        let rows = with_nulls.filter(&gpu.is_not_null()).unwrap();
        let mut apart = kernels(0..50);
        apart.vstack_mut(&kernels(50..100)).unwrap();
        let expected = whole_sums(&with_nulls, &copies()).unwrap();
        assert_eq!(whole_sums(&rows, &copies()).unwrap(), expected);
        assert_eq!(whole_sums(&apart, &copies()).unwrap(), expected);
    }

    #[test]
    fn pieces_in_no_order_are_refused() {
        let pieces = pieces([kernels(50..100), kernels(0..50)]);
        assert_eq!(summed_in_pieces(&pieces, &copies()).unwrap(), None);
    }

    #[test]
    fn copies_are_summed_up_without_kernels() {
        let none = summed_in_pieces(&[], &copies()).unwrap();
        assert_eq!(none, Some(whole_sums(&kernels(0..0), &copies()).unwrap()));
        assert!(none.is_some_and(|times| times.iter().any(|time| time.copies)));
    }
}
