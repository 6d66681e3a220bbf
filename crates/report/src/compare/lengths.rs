//! Runs that repeat the same steps a different number of times. Their spans differ by the number of steps, which does
//! not show the time of one step. Ranges that mark the steps can replace the runs.

use std::collections::BTreeMap;

use super::basis::BasisChoice;
use super::comparability::{Check, Level};
use super::comparison::{CompareOptions, compare};
use super::digest::ShapeKey;
use super::document::Comparison;
use super::matching::{KernelPair, SideKernel};
use super::side::Side;
use wavesieve_tables::derive::repeating::step_texts;

/// Logarithm of the ratio of calls below which runs have the same length.
const LEAST_LOG: f64 = 0.02;
/// Share of that logarithm by which the calls of a kernel may differ from the common ratio: work outside the steps.
const TOLERANCE: f64 = 0.1;
/// The same for the number of ranges, which profilers cut at both ends of a run.
const TOLERANCE_OF_STEPS: f64 = 0.25;
/// Minimum share of the kernel time that must be repeated alike.
const MIN_REPEATED: f64 = 0.9;
/// Maximum sum of the differences of the shares of shapes in kernels that are repeated alike.
const MAX_OTHER_SHAPES: f64 = 0.1;
/// Minimum number of kernels for a common ratio.
const MIN_KERNELS: usize = 2;
/// Minimum share of the kernel time that ranges must have launched to represent the steps of a program.
const MIN_COVERED: f64 = 0.5;

/// The name of the check.
pub(super) const CHECK: &str = "run_lengths";
/// The reason why times of runs have no verdict.
pub(super) const WHY: &str = "the runs repeat the same kernels another number of times";

/// Compares two sides. If they repeat the same steps a different number of times and ranges mark these steps, compares
/// them per step. `read` then reads both sides again with the name of the ranges. If it returns `None`, runs are
/// compared.
///
/// # Errors
/// Those of the reader.
pub fn compare_by_steps<E>(
    base: &Side,
    new: &Side,
    options: &CompareOptions,
    read: impl FnOnce(&str) -> Result<Option<(Side, Side)>, E>,
) -> Result<Comparison, E> {
    let of_runs = compare(base, new, options);
    let Some(step) = of_runs.step.clone() else { return Ok(of_runs) };
    let Some((base, new)) = read(&step)? else { return Ok(of_runs) };
    let options = CompareOptions { basis: BasisChoice::Range(step.clone()), ..options.clone() };
    let mut by_steps = compare(&base, &new, &options);
    if by_steps.basis.base_units == 0 || by_steps.basis.new_units == 0 {
        return Ok(of_runs);
    }
    let lengths = of_runs.comparability.into_iter().filter(|check| check.check == CHECK);
    by_steps.comparability.extend(lengths.map(|mut check| {
        check.level = Level::Info;
        check.message = format!("{WHY}; times are per range {step}");
        check
    }));
    Ok(by_steps)
}

/// The number of times that both sides repeat the same work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lengths {
    /// Calls of the kernels that are repeated alike, averaged over GPUs and runs.
    pub calls: [f64; 2],
    /// Logarithm of the ratio of calls that most kernel time has.
    log_ratio: f64,
}

impl Lengths {
    /// The lengths of two sides, if they repeat the same kernels with the same shapes a different number of times; rows
    /// are rows of whole runs.
    pub fn of(rows: &[KernelPair<'_>]) -> Option<Self> {
        let mut both: Vec<Repeated<'_, '_>> = rows.iter().filter_map(Repeated::of).collect();
        let log_ratio = common(&mut both)?;
        if log_ratio.abs() <= LEAST_LOG {
            return None;
        }
        let is_alike = |row: &&Repeated<'_, '_>| {
            is_near(row.log_ratio, log_ratio, TOLERANCE) && have_same_shapes(row.base, row.new)
        };
        let alike: Vec<&Repeated<'_, '_>> = both.iter().filter(is_alike).collect();
        let all_ns: f64 = rows.iter().map(KernelPair::time_ns).sum();
        let repeated_ns: f64 = alike.iter().map(|row| row.time_ns).sum();
        if alike.len() < MIN_KERNELS || repeated_ns < MIN_REPEATED * all_ns {
            return None;
        }
        let calls = |of: fn(&Repeated<'_, '_>) -> f64| alike.iter().map(|row| of(row)).sum();
        Some(Self { calls: [calls(|row| row.base.calls), calls(|row| row.new.calls)], log_ratio })
    }

    /// The check that reports them. If the user asks for a comparison of runs, runs are compared.
    pub(super) fn check(&self, is_asked: bool) -> Check {
        let advice =
            "their spans are not judged; choose --basis range:NAME for a range that marks a step, or --basis run";
        Check {
            check: CHECK,
            level: if is_asked { Level::Info } else { Level::Warn },
            base: format!("{:.0} calls", self.calls.first().copied().unwrap_or_default()),
            new: format!("{:.0} calls", self.calls.last().copied().unwrap_or_default()),
            message: if is_asked { WHY.to_owned() } else { format!("{WHY}, so that {advice}") },
        }
    }

    /// The ranges that mark the steps which both sides repeat a different number of times: they occur as often as the
    /// kernels, and launch most of them. Steps of the program or its framework come first, then the ranges with most of
    /// the kernel time, then those with the fewest ranges.
    pub fn steps(&self, base: &Side, new: &Side) -> Option<String> {
        let (of_new, is_step) = (steps(new), step_texts().ok());
        let mut found: Vec<(bool, u64, u64, &str)> = Vec::new();
        for (name, one) in steps(base) {
            let Some(other) = of_new.get(name) else { continue };
            let is_marked = is_step.as_ref().is_some_and(|is_step| is_step(&name.replace('*', "1")));
            let covered = one.covered.min(other.covered);
            let is_as_often = is_near(libm::log(other.count / one.count), self.log_ratio, TOLERANCE_OF_STEPS);
            if is_as_often && (is_marked || covered >= MIN_COVERED) {
                let hundredths = |share: f64| (share.min(1.0) * 100.0).round() as u64;
                found.push((!is_marked, 100 - hundredths(covered), one.count.round() as u64, name));
            }
        }
        found.into_iter().min().map(|(_, _, _, name)| name.to_owned())
    }
}

/// A kernel that both sides have.
struct Repeated<'r, 'a> {
    base: &'r SideKernel<'a>,
    new: &'r SideKernel<'a>,
    log_ratio: f64,
    time_ns: f64,
}

impl<'r, 'a> Repeated<'r, 'a> {
    fn of(row: &'r KernelPair<'a>) -> Option<Self> {
        let (base, new) = row.base.as_ref().zip(row.new.as_ref())?;
        let log_ratio = libm::log(new.calls / base.calls);
        log_ratio.is_finite().then(|| Self { base, new, log_ratio, time_ns: row.time_ns() })
    }
}

/// The median ratio of calls, weighted with the time of each kernel.
fn common(rows: &mut [Repeated<'_, '_>]) -> Option<f64> {
    rows.sort_by(|one, other| one.log_ratio.total_cmp(&other.log_ratio));
    let half_ns = rows.iter().map(|row| row.time_ns).sum::<f64>() / 2.0;
    let mut sum_ns = 0.0;
    let median = rows.iter().find(|row| {
        sum_ns += row.time_ns;
        sum_ns >= half_ns
    });
    median.map(|row| row.log_ratio)
}

fn is_near(log_ratio: f64, common: f64, tolerance: f64) -> bool {
    (log_ratio - common).abs() <= tolerance * common.abs()
}

/// Whether the shapes of a kernel come in nearly the same proportions. Work that was divided in another way also has
/// another number of calls, and is another program.
fn have_same_shapes(base: &SideKernel<'_>, new: &SideKernel<'_>) -> bool {
    let share = |side: &SideKernel<'_>, shape: &ShapeKey| {
        side.shapes.get(shape).map_or(0.0, |(calls, _)| calls / side.calls.max(f64::MIN_POSITIVE))
    };
    let only_new = new.shapes.keys().filter(|shape| !base.shapes.contains_key(*shape));
    let differ = |shape: &ShapeKey| (share(base, shape) - share(new, shape)).abs();
    base.name != new.name || base.shapes.keys().chain(only_new).map(differ).sum::<f64>() <= MAX_OTHER_SHAPES
}

/// Ranges of a name in the runs of a side.
struct Steps {
    /// Averaged over runs and processes.
    count: f64,
    /// Share of the kernel time that was launched in them.
    covered: f64,
}

/// The ranges by name that every process with GPU work has in each run.
fn steps(side: &Side) -> BTreeMap<&str, Steps> {
    let mut processes = 0;
    let mut kernel_ns = 0.0;
    let mut sums: BTreeMap<&str, (usize, i64, f64)> = BTreeMap::new();
    for run in &side.runs {
        let mut working: Vec<i64> = run.gpus.iter().map(|gpu| gpu.process).collect();
        working.dedup();
        processes += working.len();
        let kernels = run.gpus.iter().flat_map(|gpu| &gpu.kernels);
        kernel_ns += kernels.map(|kernel| kernel.run.total_ns as f64).sum::<f64>();
        for step in run.steps.iter().filter(|step| working.contains(&step.process)) {
            let (found, count, time_ns) = sums.entry(&step.name).or_default();
            *found += 1;
            *count = count.saturating_add(step.count);
            *time_ns += step.kernel_ns as f64;
        }
    }
    let all = sums.into_iter().filter(|(_, (found, _, _))| *found == processes);
    let of = |(found, count, time_ns): (usize, i64, f64)| Steps {
        count: count as f64 / found.max(1) as f64,
        covered: time_ns / f64::max(kernel_ns, 1.0),
    };
    all.map(|(name, sums)| (name, of(sums))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::basis::Basis;
    use crate::compare::digest::{Calls, Digest, GpuDigest, KernelDigest, Shape, StepDigest};
    use crate::compare::matching::{MatchLevel, matched};

    /// A run of this many steps, each of which calls the kernels the given number of times, with the given grid.
    fn side(steps: i64, kernels: &[(&str, i64, i64)], ranges: &[(&str, i64, i64)]) -> Side {
        let kernel = |(name, calls, grid): &(&str, i64, i64)| KernelDigest {
            name: (*name).to_owned(),
            run: Calls { calls: calls * steps, total_ns: calls * steps * 100, ..Calls::default() },
            shapes: vec![Shape {
                sizes: [*grid, 1, 1, 64, 1, 1, 0],
                run: (calls * steps, calls * steps * 100),
                ..Shape::default()
            }],
            ..KernelDigest::default()
        };
        let range = |(name, count, kernel_ns): &(&str, i64, i64)| StepDigest {
            process: 0,
            name: (*name).to_owned(),
            count: *count,
            kernel_ns: *kernel_ns,
        };
        let gpu = GpuDigest { kernels: kernels.iter().map(kernel).collect(), ..GpuDigest::default() };
        let run = Digest { gpus: vec![gpu], steps: ranges.iter().map(range).collect(), ..Digest::default() };
        Side { runs: vec![run] }
    }

    fn lengths(base: &Side, new: &Side) -> Option<Lengths> {
        Lengths::of(&matched(base, new, Basis::Run, MatchLevel::Exact).rows)
    }

    #[test]
    fn runs_of_other_lengths_repeat_all_kernels_alike() {
        let kernels = [("gemm", 4, 64), ("add", 9, 32), ("softmax", 2, 16)];
        let of = |steps| side(steps, &kernels, &[]);
        assert_eq!(lengths(&of(12), &of(2)).map(|found| found.calls), Some([180.0, 30.0]));
        for (base, new) in [(2, 12), (100, 105), (3, 2), (1, 2)] {
            assert!(lengths(&of(base), &of(new)).is_some(), "{base} {new}");
        }
        assert_eq!(lengths(&of(12), &of(12)), None);
        // One kernel is called less often, is fused into another, or works on other shapes: the program changed.
        let fewer = side(12, &[("gemm", 2, 64), ("add", 9, 32), ("softmax", 2, 16)], &[]);
        let gone = side(12, &[("gemm", 4, 64), ("softmax", 2, 16)], &[]);
        let wider = side(6, &[("gemm", 4, 128), ("add", 9, 64), ("softmax", 2, 32)], &[]);
        for other in [fewer, gone, wider] {
            assert_eq!(lengths(&of(12), &other), None);
        }
        let only = |steps| side(steps, &[("gemm", 4, 64)], &[]);
        assert_eq!(lengths(&only(12), &only(6)), None);
    }

    #[test]
    fn ranges_that_come_as_often_as_the_kernels_are_the_steps() {
        let kernels = [("gemm", 4, 64), ("add", 6, 32)];
        let of = |steps: i64, ranges: &[(&str, i64, i64)]| side(steps, &kernels, ranges);
        let chosen = |names: &[(&str, i64, i64)]| {
            // Each name occurs this often in a step, or once in the run, and launches this many hundredths of the
            // kernel time.
            let ranges = |steps: i64| {
                let count = |often: i64| if often == 0 { 1 } else { often * steps };
                names.iter().map(|(name, often, pct)| (*name, count(*often), pct * 10 * steps)).collect::<Vec<_>>()
            };
            let (base, new) = (of(12, &ranges(12)), of(2, &ranges(2)));
            lengths(&base, &new).unwrap().steps(&base, &new)
        };
        assert_eq!(chosen(&[]), None);
        assert_eq!(chosen(&[("train", 0, 100)]), None);
        assert_eq!(chosen(&[("train", 0, 100), ("step", 1, 100), ("layer", 8, 100)]).as_deref(), Some("step"));
        assert_eq!(chosen(&[("forward", 1, 60), ("step", 1, 100), ("data", 1, 2)]).as_deref(), Some("step"));
        assert_eq!(chosen(&[("data", 1, 2)]), None);
        assert_eq!(chosen(&[("ProfilerStep#*", 1, 30), ("layer", 8, 100)]).as_deref(), Some("ProfilerStep#*"));
        // A range that only one side has is not a common step.
        let (base, new) = (of(12, &[("step", 12, 12_000)]), of(2, &[("iter", 2, 2_000)]));
        assert_eq!(lengths(&base, &new).unwrap().steps(&base, &new), None);
    }
}
