//! Dispatches of the kernels of a process, summed up.

use std::collections::BTreeMap;

use itertools::izip;

use super::model::{Calls, Clock, KernelDigest, Shape, ShapeKey};
use wavesieve_model::analysis::statistics::blocks::block_means;
use wavesieve_model::analysis::statistics::medians::middle;
use wavesieve_model::analysis::statistics::trimmed::trimmed_mean;

/// Minimum number of iterations for blocks of them.
const MIN_ITERATIONS: usize = 3;
/// Maximum number of shapes of a kernel whose levels are kept, those with most time.
const MAX_SHAPES: usize = 16;
/// Minimum number of dispatches of a shape for a level as evidence.
const MIN_SHAPE_CALLS: usize = 15;
/// Minimum number of places of an iteration for evidence.
const MIN_PLACES: usize = 15;

/// A dispatch, added in the order of the starts.
#[derive(Clone, Copy, Debug)]
pub struct Dispatch {
    pub duration_ns: i64,
    /// Number of the steady iteration in which it starts.
    pub iteration: Option<u32>,
    pub sizes: ShapeKey,
}

/// All dispatches of a kernel on a GPU.
#[derive(Debug, Default)]
pub(crate) struct KernelCalls {
    durations_ns: Vec<i64>,
    /// Iteration of each; `u32::MAX` outside steady ones.
    iterations: Vec<u32>,
    /// In the order of their first dispatch.
    shapes: Vec<Shape>,
    /// Number of the shape of each dispatch.
    shape_of: Vec<u32>,
    numbers: BTreeMap<ShapeKey, u32>,
}

impl KernelCalls {
    pub fn add(&mut self, dispatch: Dispatch) {
        self.durations_ns.push(dispatch.duration_ns);
        self.iterations.push(dispatch.iteration.unwrap_or(u32::MAX));
        let number = self.number_of(dispatch.sizes);
        self.shape_of.push(number);
        let Some(shape) = self.shapes.get_mut(number as usize) else { return };
        let count = |sum: &mut (i64, i64)| *sum = (sum.0 + 1, sum.1.saturating_add(dispatch.duration_ns));
        count(&mut shape.run);
        if dispatch.iteration.is_some() {
            count(&mut shape.steady);
        }
    }

    /// The number of a shape, which is usually that of the dispatch before.
    fn number_of(&mut self, sizes: ShapeKey) -> u32 {
        let last = self.shape_of.last().copied();
        if let Some(last) =
            last.filter(|last| self.shapes.get(*last as usize).is_some_and(|shape| shape.sizes == sizes))
        {
            return last;
        }
        let next = self.shapes.len() as u32;
        let number = *self.numbers.entry(sizes).or_insert(next);
        if number == next {
            self.shapes.push(Shape { sizes, ..Shape::default() });
        }
        number
    }

    /// Adds levels by shape, which separate speed from mix if shapes come in other proportions on the other side.
    fn add_levels_of_shapes(&mut self) {
        if self.shapes.len() < 2 {
            return;
        }
        let mut by_time: Vec<(i64, ShapeKey, u32)> =
            (0_u32..).zip(&self.shapes).map(|(number, shape)| (shape.run.1, shape.sizes, number)).collect();
        by_time.sort_unstable_by(|one, other| other.cmp(one));
        by_time.truncate(MAX_SHAPES);
        let mut logs: BTreeMap<u32, [Vec<f64>; 2]> =
            by_time.into_iter().map(|(_, _, number)| (number, Default::default())).collect();
        for (duration_ns, iteration, number) in izip!(&self.durations_ns, &self.iterations, &self.shape_of) {
            let Some([run, steady]) = logs.get_mut(number) else { continue };
            run.push(log(*duration_ns));
            if *iteration != u32::MAX {
                steady.push(log(*duration_ns));
            }
        }
        for (number, [run, steady]) in logs {
            if let Some(shape) = self.shapes.get_mut(number as usize) {
                (shape.run_logs, shape.steady_logs) = (level(&run), level(&steady));
            }
        }
    }

    /// Sums them up; `iterations` is the number of steady iterations.
    pub fn finish(mut self, name: String, category: String, iterations: usize) -> KernelDigest {
        self.add_levels_of_shapes();
        self.shapes.sort_unstable_by_key(|shape| shape.sizes);
        let steady = || self.durations_ns.iter().zip(&self.iterations).filter(|(_, iteration)| **iteration != u32::MAX);
        let of_steady: Vec<i64> = steady().map(|(duration_ns, _)| *duration_ns).collect();
        let mut of_iterations: Vec<Vec<i64>> = vec![Vec::new(); iterations];
        for (duration_ns, iteration) in steady() {
            if let Some(durations_ns) = of_iterations.get_mut(*iteration as usize) {
                durations_ns.push(*duration_ns);
            }
        }
        KernelDigest {
            name,
            category,
            is_transfer: false,
            places: places(&of_iterations),
            iteration_blocks: iteration_blocks(&of_iterations),
            steady: calls(of_steady),
            run: calls(self.durations_ns),
            shapes: self.shapes,
        }
    }
}

/// The trimmed mean of logarithms, then those of their blocks; empty if there are few values.
fn level(logs: &[f64]) -> Vec<f64> {
    let level = if logs.len() >= MIN_SHAPE_CALLS { trimmed_mean(logs) } else { None };
    level.map_or_else(Vec::new, |level| [vec![level], block_means(logs)].concat())
}

/// Logarithm of a duration; a duration of 0 counts as a nanosecond.
fn log(duration_ns: i64) -> f64 {
    libm::log(duration_ns.max(1) as f64)
}

fn calls(mut durations_ns: Vec<i64>) -> Calls {
    let logs: Vec<f64> = durations_ns.iter().map(|duration_ns| log(*duration_ns)).collect();
    let total = durations_ns.iter().map(|duration_ns| i128::from(*duration_ns)).sum::<i128>();
    let (calls, median_x2_ns) = (durations_ns.len() as i64, twice_median(&mut durations_ns));
    durations_ns.sort_unstable();
    let quantile = |share: usize| {
        let place = (durations_ns.len() * share).div_ceil(100).saturating_sub(1);
        durations_ns.get(place).copied().unwrap_or_default()
    };
    Calls {
        calls,
        total_ns: i64::try_from(total).unwrap_or(i64::MAX),
        median_x2_ns,
        p95_ns: quantile(95),
        p99_ns: quantile(99),
        log_mean: trimmed_mean(&logs).unwrap_or_default(),
        blocks: block_means(&logs),
        clock: Clock::default(),
    }
}

fn twice_median(durations_ns: &mut [i64]) -> i64 {
    middle(durations_ns, i64::cmp).map_or(0, |[lower, upper]| lower.saturating_add(upper))
}

fn places(of_iterations: &[Vec<i64>]) -> Vec<i64> {
    let count = of_iterations.first().map_or(0, Vec::len);
    if count < MIN_PLACES || of_iterations.iter().any(|durations_ns| durations_ns.len() != count) {
        return Vec::new();
    }
    let at = |place: usize| {
        let mut values: Vec<i64> = of_iterations.iter().filter_map(|of_one| of_one.get(place).copied()).collect();
        twice_median(&mut values)
    };
    (0..count).map(at).collect()
}

fn iteration_blocks(of_iterations: &[Vec<i64>]) -> Vec<f64> {
    if of_iterations.len() < MIN_ITERATIONS {
        return Vec::new();
    }
    let value = |durations_ns: &Vec<i64>| trimmed_mean(&durations_ns.iter().map(|one| log(*one)).collect::<Vec<f64>>());
    block_means(&of_iterations.iter().filter_map(value).collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(calls: &mut KernelCalls, duration_ns: i64, iteration: Option<u32>, x: i64) {
        calls.add(Dispatch { duration_ns, iteration, sizes: [x, 1, 1, 64, 1, 1, 0] });
    }

    #[test]
    fn calls_are_summed_up_by_shape_and_place() {
        let mut calls = KernelCalls::default();
        add(&mut calls, 7, None, 2);
        for iteration in 0..6 {
            for place in 0..15 {
                add(&mut calls, 100 + place + i64::from(iteration % 2), Some(iteration), 1);
            }
        }
        let digest = calls.finish("k".to_owned(), "gemm".to_owned(), 6);
        assert_eq!((digest.run.calls, digest.steady.calls, digest.shapes.len()), (91, 90, 2));
        assert_eq!(digest.places, (0..15).map(|place| 2 * (100 + place) + 1).collect::<Vec<_>>());
        assert_eq!((digest.iteration_blocks.len(), digest.steady.blocks.len()), (6, 10));
        assert_eq!((digest.run.p99_ns, digest.run.p95_ns), (115, 114));
        assert_eq!(digest.shapes[1].run, (1, 7));
        assert_eq!(digest.shapes[1].steady, (0, 0));
    }

    #[test]
    fn uneven_iterations_have_no_places() {
        let mut calls = KernelCalls::default();
        for iteration in 0..6 {
            for _ in 0..20 + iteration {
                add(&mut calls, 50, Some(iteration), 1);
            }
        }
        assert_eq!(calls.finish(String::new(), String::new(), 6).places, [0_i64; 0]);
    }
}
