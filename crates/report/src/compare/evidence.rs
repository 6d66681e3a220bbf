//! Change of a typical duration, and its certainty. Dispatches depend on their neighbors, so the unit of evidence is
//! never a single dispatch. It is a block of iterations, a place of the iteration or a block of dispatches.
//!
//! Iterations come first: all places of an iteration are fast or slow together (clocks, traffic of other GPUs), which
//! the scatter between places does not show. If there are too few iterations, places add what certainty they can.

use std::collections::BTreeMap;

use super::basis::Basis;
use super::digest::{KernelDigest, ShapeKey};
use super::matching::{KernelPair, SideKernel};
use super::side::{GpuKey, Side, calls, key, levels_of_shape, of_shape};
use wavesieve_model::analysis::statistics::blocks::{block_estimate, block_means, mean_of_blocks};
use wavesieve_model::analysis::statistics::trimmed::{Estimate, mean, sum_of_squares, trimmed_estimate, trimmed_mean};

/// Minimum number of dispatches for blocks of them as evidence.
const MIN_CALLS: i64 = 15;
/// Minimum number of GPUs whose differences also show an error.
const MIN_GPUS: usize = 4;
/// Minimum number of iterations for blocks of them as evidence.
const MIN_ITERATIONS: usize = 5;
/// Difference of the shares of a shape that is ignored.
pub(super) const SAME_SHARE: f64 = 0.005;

/// Kind of the single values of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Places,
    Iterations,
    Calls,
    /// Blocks of the dispatches of each shape, if shapes come in other proportions on the two sides.
    Shapes,
}

impl Unit {
    /// Its name in machine-readable output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Places => "places",
            Self::Iterations => "iteration_blocks",
            Self::Calls => "call_blocks",
            Self::Shapes => "shape_blocks",
        }
    }
}

/// Logarithm of a ratio with the error that one pair of runs shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    pub log_ratio: f64,
    /// `None` if the data is not enough for an error.
    pub error: Option<Estimate>,
    pub unit: Option<Unit>,
    /// Values on the side with fewer, on the GPU with the fewest.
    pub samples: usize,
    /// Level of each run, base and new, for the differences between runs.
    pub levels: [Vec<f64>; 2],
    /// The change on each GPU.
    pub by_gpu: Vec<(GpuKey, Estimate)>,
}

/// A level on one GPU with its error.
struct Level {
    estimate: Estimate,
    samples: usize,
    by_run: Vec<(usize, f64)>,
}

/// The evidence about a row that both sides have.
pub fn of_row(row: &KernelPair<'_>, basis: Basis) -> Option<Evidence> {
    let (base, new) = row.base.as_ref().zip(row.new.as_ref())?;
    let common: Vec<GpuKey> = base.by_gpu.keys().filter(|key| new.by_gpu.contains_key(key)).copied().collect();
    let units: &[Unit] = match (has_same_mix(base, new), basis) {
        (false, _) => &[Unit::Shapes],
        (true, Basis::Run) => &[Unit::Calls],
        (true, Basis::Iteration) => &[Unit::Iterations, Unit::Places, Unit::Calls],
    };
    for unit in units.iter().copied() {
        let per_gpu: Option<Vec<_>> = common.iter().map(|gpu| of_gpu(base, new, *gpu, unit, basis)).collect();
        if let Some(per_gpu) = per_gpu.filter(|per_gpu| !per_gpu.is_empty()) {
            return combined(&common, &per_gpu, unit);
        }
    }
    let level = |side: &SideKernel<'_>| {
        let all = side.by_gpu.values().flatten();
        mean(&all.map(|(_, kernel)| calls(kernel, basis).log_mean).collect::<Vec<f64>>())
    };
    let count = |side: &SideKernel<'_>| {
        side.by_gpu.values().flatten().map(|(_, kernel)| calls(kernel, basis).calls).min().unwrap_or(0)
    };
    Some(Evidence {
        log_ratio: level(new)? - level(base)?,
        error: None,
        unit: None,
        samples: usize::try_from(count(base).min(count(new))).unwrap_or(0),
        levels: Default::default(),
        by_gpu: Vec::new(),
    })
}

/// The change on one GPU: an estimate, the number of samples, and the levels of the runs.
type OfGpu = (Estimate, usize, [Vec<(usize, f64)>; 2]);

fn of_gpu(base: &SideKernel<'_>, new: &SideKernel<'_>, gpu: GpuKey, unit: Unit, basis: Basis) -> Option<OfGpu> {
    let (base, new) = (base.by_gpu.get(&gpu)?, new.by_gpu.get(&gpu)?);
    match unit {
        Unit::Places => return of_places(base, new),
        Unit::Shapes => return of_shapes(base, new, basis),
        Unit::Iterations | Unit::Calls => {}
    }
    let (base, new) = (level(base, unit, basis)?, level(new, unit, basis)?);
    let samples = base.samples.min(new.samples);
    Some((difference(new.estimate, base.estimate), samples, [base.by_run, new.by_run]))
}

/// Whether the shapes of a kernel come in the same proportions on both sides, so that typical durations over all of
/// them can be compared. A kernel with another name and one shape has no mix.
pub(crate) fn has_same_mix(base: &SideKernel<'_>, new: &SideKernel<'_>) -> bool {
    if base.shapes.len() <= 1 && new.shapes.len() <= 1 {
        return base.name != new.name || base.shapes.keys().eq(new.shapes.keys());
    }
    let share = |side: &SideKernel<'_>, shape: &ShapeKey| {
        side.shapes.get(shape).map_or(0.0, |(calls, _)| calls / side.calls.max(f64::MIN_POSITIVE))
    };
    let differ = |side: &SideKernel<'_>| {
        side.shapes.keys().any(|shape| (share(base, shape) - share(new, shape)).abs() > SAME_SHARE)
    };
    !differ(base) && !differ(new)
}

/// Levels of a shape on one GPU, one for each run.
#[derive(Default)]
struct ShapeLevels {
    estimates: Vec<Estimate>,
    calls: i64,
    time_ns: f64,
}

/// The mean change of the shapes that both sides have, weighted by their time on both.
fn of_shapes(base: &[(usize, &KernelDigest)], new: &[(usize, &KernelDigest)], basis: Basis) -> Option<OfGpu> {
    let by_shape = |runs: &[(usize, &KernelDigest)]| {
        let mut levels: BTreeMap<ShapeKey, ShapeLevels> = BTreeMap::new();
        for shape in runs.iter().flat_map(|(_, kernel)| &kernel.shapes) {
            let Some((level, blocks)) = levels_of_shape(shape, basis).split_first() else { continue };
            let Some(estimate) = block_estimate(*level, blocks) else { continue };
            let (calls, total_ns) = of_shape(shape, basis);
            let all = levels.entry(shape.sizes).or_default();
            all.estimates.push(estimate);
            all.calls = all.calls.saturating_add(calls);
            all.time_ns += total_ns as f64;
        }
        levels.retain(|_, levels| levels.estimates.len() == runs.len());
        levels
    };
    let (base, new) = (by_shape(base), by_shape(new));
    let common: Vec<_> = base.iter().filter_map(|(shape, base)| Some((base, new.get(shape)?))).collect();
    let all: f64 = common.iter().map(|(base, new)| base.time_ns + new.time_ns).sum();
    let mut parts = Vec::new();
    for (base, new) in &common {
        let change = difference(averaged(&new.estimates)?, averaged(&base.estimates)?);
        let share = (base.time_ns + new.time_ns) / all;
        parts.push(Estimate { value: share * change.value, standard_error: share * change.standard_error, ..change });
    }
    let samples = common.iter().map(|(base, new)| base.calls.min(new.calls)).sum::<i64>();
    let value: f64 = parts.iter().map(|part| part.value).sum();
    let estimate = Estimate { value, ..with_errors(&parts) };
    // Levels of runs with other mixes do not measure noise.
    (!parts.is_empty()).then(|| (estimate, usize::try_from(samples).unwrap_or(0), Default::default()))
}

/// Places are compared one by one, because they differ more from one another than runs do. The error combines the error
/// between the places and the error between the few iterations.
fn of_places(base: &[(usize, &KernelDigest)], new: &[(usize, &KernelDigest)]) -> Option<OfGpu> {
    let count = base.first()?.1.places.len();
    if count == 0 || base.iter().chain(new).any(|(_, kernel)| kernel.places.len() != count) {
        return None;
    }
    let of_iterations = |runs: &[(usize, &KernelDigest)]| {
        averaged(&runs.iter().map(|(_, kernel)| mean_of_blocks(&kernel.iteration_blocks)).collect::<Option<Vec<_>>>()?)
    };
    let between_iterations = difference(of_iterations(new)?, of_iterations(base)?);
    let logs = |kernel: &KernelDigest| {
        kernel.places.iter().map(|median| libm::log((*median).max(1) as f64)).collect::<Vec<f64>>()
    };
    let side = |runs: &[(usize, &KernelDigest)]| {
        let logs: Vec<Vec<f64>> = runs.iter().map(|(_, kernel)| logs(kernel)).collect();
        let at = |place: usize| mean(&logs.iter().filter_map(|run| run.get(place).copied()).collect::<Vec<f64>>());
        let levels = runs.iter().zip(&logs).filter_map(|((run, _), logs)| Some((*run, trimmed_mean(logs)?)));
        (levels.collect::<Vec<_>>(), (0..count).filter_map(at).collect::<Vec<f64>>())
    };
    let ((base_levels, base), (new_levels, new)) = (side(base), side(new));
    let changes: Vec<f64> = new.iter().zip(&base).map(|(new, base)| new - base).collect();
    let of_places = trimmed_estimate(&changes)?;
    let error = Estimate { value: of_places.value, ..with_errors(&[of_places, between_iterations]) };
    Some((error, count, [base_levels, new_levels]))
}

fn level(runs: &[(usize, &KernelDigest)], unit: Unit, basis: Basis) -> Option<Level> {
    let of_run = |kernel: &KernelDigest| {
        if unit == Unit::Iterations {
            let blocks = &kernel.iteration_blocks;
            return (blocks.len() >= MIN_ITERATIONS)
                .then(|| mean_of_blocks(blocks))
                .flatten()
                .map(|level| (level, blocks.len()));
        }
        let calls = calls(kernel, basis);
        let level = (calls.calls >= MIN_CALLS).then(|| block_estimate(calls.log_mean, &calls.blocks)).flatten();
        level.map(|level| (level, usize::try_from(calls.calls).unwrap_or(0)))
    };
    let levels: Vec<(usize, Estimate, usize)> = runs
        .iter()
        .map(|(run, kernel)| of_run(kernel).map(|(level, samples)| (*run, level, samples)))
        .collect::<Option<_>>()?;
    let estimates: Vec<Estimate> = levels.iter().map(|(_, level, _)| *level).collect();
    Some(Level {
        estimate: averaged(&estimates)?,
        samples: levels.iter().map(|(_, _, samples)| *samples).min()?,
        by_run: levels.iter().map(|(run, level, _)| (*run, level.value)).collect(),
    })
}

/// The difference of independent estimates; its degrees of freedom are Welch's and Satterthwaite's.
pub fn difference(one: Estimate, other: Estimate) -> Estimate {
    let sum = with_errors(&[one, other]);
    Estimate { value: one.value - other.value, ..sum }
}

/// The mean of independent estimates.
pub fn averaged(estimates: &[Estimate]) -> Option<Estimate> {
    let count = estimates.len() as f64;
    let value = mean(&estimates.iter().map(|one| one.value).collect::<Vec<f64>>())?;
    let sum = with_errors(estimates);
    Some(Estimate { value, standard_error: sum.standard_error / count, degrees: sum.degrees })
}

/// The error of a sum of independent values with these errors.
pub(crate) fn with_errors(estimates: &[Estimate]) -> Estimate {
    let squares: Vec<f64> = estimates.iter().map(|one| one.standard_error * one.standard_error).collect();
    let sum: f64 = squares.iter().sum();
    let scaled: f64 = squares.iter().zip(estimates).map(|(square, one)| square * square / one.degrees).sum();
    let degrees = if scaled > 0.0 { sum * sum / scaled } else { f64::INFINITY };
    Estimate { value: 0.0, standard_error: sum.sqrt(), degrees }
}

/// The change over all GPUs: the mean of their changes.
fn combined(gpus: &[GpuKey], per_gpu: &[OfGpu], unit: Unit) -> Option<Evidence> {
    let estimates: Vec<Estimate> = per_gpu.iter().map(|(estimate, _, _)| *estimate).collect();
    let values: Vec<f64> = estimates.iter().map(|estimate| estimate.value).collect();
    let mut error = averaged(&estimates)?;
    if values.len() >= MIN_GPUS {
        let (count, degrees) = (values.len() as f64, (values.len() - 1) as f64);
        let between = (sum_of_squares(&values)? / (degrees * count)).sqrt();
        // A change over time that all GPUs share shows only within each GPU.
        if between > error.standard_error {
            error = Estimate { standard_error: between, degrees, ..error };
        }
    }
    let levels = |side: usize| {
        let mut by_run: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for (run, level) in per_gpu.iter().filter_map(|(_, _, levels)| levels.get(side)).flatten() {
            by_run.entry(*run).or_default().push(*level);
        }
        by_run.values().filter_map(|levels| mean(levels)).collect::<Vec<f64>>()
    };
    Some(Evidence {
        log_ratio: error.value,
        error: Some(error),
        unit: Some(unit),
        samples: per_gpu.iter().map(|(_, samples, _)| *samples).min().unwrap_or(0),
        levels: [levels(0), levels(1)],
        by_gpu: gpus.iter().copied().zip(estimates).collect(),
    })
}

/// The evidence about a time of the steady iterations, such as their length; `None` if the time is 0 on a GPU in some
/// iteration, or if there are too few iterations.
pub fn of_times(base: &Side, new: &Side, time: impl Fn(&super::digest::Times) -> i64) -> Option<Evidence> {
    let by_gpu = |side: &Side| {
        let mut levels: BTreeMap<GpuKey, Vec<(usize, Estimate, usize)>> = BTreeMap::new();
        for (place, run) in side.runs.iter().enumerate() {
            for gpu in &run.gpus {
                let values: Vec<i64> = gpu.iterations.iter().map(&time).collect();
                if values.len() < MIN_ITERATIONS || values.iter().any(|value| *value <= 0) {
                    return None;
                }
                let logs: Vec<f64> = values.iter().map(|value| libm::log(*value as f64)).collect();
                let estimate = mean_of_blocks(&block_means(&logs))?;
                levels.entry(key(gpu)).or_default().push((place, estimate, values.len()));
            }
        }
        Some(levels)
    };
    let (base, new) = (by_gpu(base)?, by_gpu(new)?);
    if !base.keys().eq(new.keys()) {
        return None;
    }
    let per_gpu = base.values().zip(new.values()).map(|(base, new)| {
        let level = |levels: &[(usize, Estimate, usize)]| {
            averaged(&levels.iter().map(|(_, level, _)| *level).collect::<Vec<_>>())
        };
        let by_run = |levels: &[(usize, Estimate, usize)]| {
            levels.iter().map(|(run, level, _)| (*run, level.value)).collect::<Vec<_>>()
        };
        let samples = base.iter().chain(new).map(|(_, _, count)| *count).min().unwrap_or(0);
        Some((difference(level(new)?, level(base)?), samples, [by_run(base), by_run(new)]))
    });
    let gpus: Vec<GpuKey> = base.keys().copied().collect();
    combined(&gpus, &per_gpu.collect::<Option<Vec<_>>>()?, Unit::Iterations)
}
