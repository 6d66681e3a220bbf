//! Matches the kernels of one side with those of the other: first by full names, then by families. Matches are one to
//! one, and their order depends only on names and times.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::basis::Basis;
use super::digest::{KernelDigest, ShapeKey, has_inputs, without_inputs};
use super::evidence::SAME_SHARE;
use super::families::Families;
use super::places::{Replaced, intervals};
use super::side::{GpuKey, Side, calls, key, of_shape, units};

/// Maximum difference of matched names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchLevel {
    /// Full names only.
    Exact,
    /// Names of one family, for kernels that the other side does not have.
    Family,
    /// Also the kernel at the same place of a typical iteration.
    #[default]
    Place,
}

impl MatchLevel {
    /// Its name in machine-readable output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Family => "family",
            Self::Place => "place",
        }
    }
}

/// How a row was matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchedBy {
    /// Full name, and the same grids and workgroups.
    Exact,
    /// Full name; grids or workgroups differ.
    Shape,
    Family,
    /// Its place in a typical iteration.
    Place,
    /// Several kernels replace several others.
    Replaced,
    /// Only one side has it.
    None,
}

impl MatchedBy {
    /// Its name in machine-readable output.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Exact => Some("exact"),
            Self::Shape => Some("shape"),
            Self::Family => Some("family"),
            Self::Place => Some("place"),
            Self::Replaced | Self::None => None,
        }
    }
}

/// A kernel of one side with its dispatches on each GPU of each run.
#[derive(Clone, Default)]
pub(crate) struct SideKernel<'a> {
    pub name: &'a str,
    pub category: &'a str,
    /// By GPU, the digest in each run that has it, with the number of the run.
    pub by_gpu: BTreeMap<GpuKey, Vec<(usize, &'a KernelDigest)>>,
    /// Calls and nanoseconds per unit, averaged over GPUs and runs.
    pub calls: f64,
    pub time_ns: f64,
    /// The same by grid and workgroup.
    pub shapes: BTreeMap<ShapeKey, (f64, f64)>,
}

impl SideKernel<'_> {
    /// Adds up shapes that differ only in their inputs.
    fn forget_inputs(&mut self) {
        for (shape, (calls, time_ns)) in std::mem::take(&mut self.shapes) {
            let sum = self.shapes.entry(without_inputs(shape)).or_default();
            *sum = (sum.0 + calls, sum.1 + time_ns);
        }
    }
}

/// A kernel on both sides, or on one.
pub struct KernelPair<'a> {
    pub base: Option<SideKernel<'a>>,
    pub new: Option<SideKernel<'a>>,
    pub matched_by: MatchedBy,
    /// Whether inputs do not count, because the sides recorded them for different shares of the dispatches.
    pub lacks_inputs: bool,
}

/// The kernels of a side by name, without those that have no dispatch in any unit.
pub fn kernels_of(side: &Side, basis: Basis) -> BTreeMap<&str, SideKernel<'_>> {
    let gpus = side.gpus().count().max(1) as f64;
    let mut kernels: BTreeMap<&str, SideKernel<'_>> = BTreeMap::new();
    for (run, gpu) in side.runs.iter().enumerate().flat_map(|(place, run)| run.gpus.iter().map(move |gpu| (place, gpu)))
    {
        let share = 1.0 / (units(gpu, basis).max(1) as f64 * gpus);
        for kernel in gpu.kernels.iter().filter(|kernel| calls(kernel, basis).calls > 0) {
            let all = kernels.entry(&kernel.name).or_default();
            (all.name, all.category) = (&kernel.name, &kernel.category);
            all.by_gpu.entry(key(gpu)).or_default().push((run, kernel));
            let sums = calls(kernel, basis);
            all.calls += sums.calls as f64 * share;
            all.time_ns += sums.total_ns as f64 * share;
            for shape in &kernel.shapes {
                let (calls, total_ns) = of_shape(shape, basis);
                if calls > 0 {
                    let sum = all.shapes.entry(shape.sizes).or_default();
                    *sum = (sum.0 + calls as f64 * share, sum.1 + total_ns as f64 * share);
                }
            }
        }
    }
    kernels
}

/// The kernels of two sides, matched.
pub(crate) struct Matched<'a> {
    pub rows: Vec<KernelPair<'a>>,
    /// Names of kernels that replace others.
    pub replaced: Vec<Replaced<'a>>,
}

/// Matches the kernels of two sides. Rows are in the order of the time on both sides, longest first, then of the names.
pub fn matched<'a>(base: &'a Side, new: &'a Side, basis: Basis, level: MatchLevel) -> Matched<'a> {
    let (mut of_base, mut of_new) = (kernels_of(base, basis), kernels_of(new, basis));
    let common: BTreeSet<&str> = of_base.keys().filter(|name| of_new.contains_key(*name)).copied().collect();
    let mut rows = Vec::new();
    for name in common {
        let (mut base, mut new) = (of_base.remove(name), of_new.remove(name));
        let lacks_inputs = base.as_mut().zip(new.as_mut()).is_some_and(|(base, new)| forget_unequal_inputs(base, new));
        let are_alike =
            base.as_ref().zip(new.as_ref()).is_some_and(|(base, new)| base.shapes.keys().eq(new.shapes.keys()));
        let matched_by = if are_alike { MatchedBy::Exact } else { MatchedBy::Shape };
        rows.push(KernelPair { base, new, matched_by, lacks_inputs });
    }
    if level >= MatchLevel::Family {
        rows.extend(by_family(&mut of_base, &mut of_new));
    }
    let intervals = if level >= MatchLevel::Place { intervals(base, new, &rows) } else { Vec::new() };
    let (pairs, replaced): (Vec<Replaced<'_>>, Vec<Replaced<'_>>) =
        intervals.into_iter().partition(|interval| interval.base.len() == 1 && interval.new.len() == 1);
    for pair in pairs {
        if let ([base], [new]) = (pair.base.as_slice(), pair.new.as_slice()) {
            let (base, new) = (of_base.remove(base), of_new.remove(new));
            rows.push(KernelPair { base, new, matched_by: MatchedBy::Place, lacks_inputs: false });
        }
    }
    let in_interval = |name: &str| {
        let holds = |interval: &Replaced<'_>| interval.base.iter().chain(&interval.new).any(|known| *known == name);
        if replaced.iter().any(holds) { MatchedBy::Replaced } else { MatchedBy::None }
    };
    let of_base = of_base.into_values().map(|base| KernelPair {
        matched_by: in_interval(base.name),
        base: Some(base),
        new: None,
        lacks_inputs: false,
    });
    rows.extend(of_base);
    let of_new = of_new.into_values().map(|new| KernelPair {
        matched_by: in_interval(new.name),
        base: None,
        new: Some(new),
        lacks_inputs: false,
    });
    rows.extend(of_new);
    rows.sort_by(|one, other| other.time_ns().total_cmp(&one.time_ns()).then_with(|| one.names().cmp(&other.names())));
    Matched { rows, replaced }
}

/// Makes shapes of a kernel that differ only in their inputs one on both sides, if the sides did not record the inputs of the same share
/// of its dispatches: unknown inputs are not other work. Returns whether it did.
pub(super) fn forget_unequal_inputs(base: &mut SideKernel<'_>, new: &mut SideKernel<'_>) -> bool {
    let unknown_share = |side: &SideKernel<'_>| {
        let calls = side.shapes.iter().filter(|(shape, _)| !has_inputs(shape)).map(|(_, (calls, _))| calls);
        calls.sum::<f64>() / side.calls.max(f64::MIN_POSITIVE)
    };
    let is_unequal = (unknown_share(base) - unknown_share(new)).abs() > SAME_SHARE;
    if is_unequal {
        base.forget_inputs();
        new.forget_inputs();
    }
    is_unequal
}

/// Matches the remaining kernels by family and category: within a family, pairs with the same shapes first, then by
/// time.
fn by_family<'a>(
    base: &mut BTreeMap<&'a str, SideKernel<'a>>,
    new: &mut BTreeMap<&'a str, SideKernel<'a>>,
) -> Vec<KernelPair<'a>> {
    type Members<'a> = BTreeMap<(String, &'a str), Vec<&'a str>>;
    fn members<'a>(kernels: &BTreeMap<&'a str, SideKernel<'a>>) -> Members<'a> {
        let mut members = Members::new();
        for kernel in kernels.values() {
            members.entry((Families::builtin().of(kernel.name), kernel.category)).or_default().push(kernel.name);
        }
        for names in members.values_mut() {
            names.sort_by_key(|name| (kernels.get(name).map(|kernel| Reverse(kernel.time_ns as i64)), *name));
        }
        members
    }
    let (of_base, mut of_new) = (members(base), members(new));
    let mut rows = Vec::new();
    for (family, names) in of_base {
        let Some(others) = of_new.get_mut(&family) else { continue };
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for name in &names {
            let shapes = base.get(name).map(|kernel| &kernel.shapes);
            let is_alike = |other: &&str| {
                shapes.zip(new.get(other)).is_some_and(|(shapes, other)| shapes.keys().eq(other.shapes.keys()))
            };
            if let Some(place) = others.iter().position(is_alike) {
                pairs.push((name, others.remove(place)));
            }
        }
        let left = names.iter().filter(|name| !pairs.iter().any(|(paired, _)| paired == *name)).copied();
        let by_time: Vec<(&str, &str)> = left.zip(others.iter().copied()).collect();
        pairs.extend(by_time);
        rows.extend(pairs.into_iter().map(|(one, other)| KernelPair {
            base: base.remove(one),
            new: new.remove(other),
            matched_by: MatchedBy::Family,
            lacks_inputs: false,
        }));
    }
    rows
}

impl<'a> KernelPair<'a> {
    /// Time per unit on both sides.
    pub fn time_ns(&self) -> f64 {
        self.sides().map(|side| side.time_ns).sum()
    }

    /// The sides that have it.
    pub fn sides(&self) -> impl Iterator<Item = &SideKernel<'a>> {
        self.base.iter().chain(&self.new)
    }

    fn names(&self) -> (Option<&str>, Option<&str>) {
        (self.base.as_ref().map(|side| side.name), self.new.as_ref().map(|side| side.name))
    }

    /// The name used for both sides.
    pub fn key(&self) -> Option<&'a str> {
        self.base.as_ref().or(self.new.as_ref()).map(|side| side.name)
    }

    /// Whether it has another name on the other side.
    pub fn is_renamed(&self) -> bool {
        let (base, new) = self.names();
        base.is_some() && new.is_some() && base != new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::effects::effects;

    fn kernel<'a>(shapes: &[(i64, i64, f64, f64)]) -> SideKernel<'a> {
        let mut kernel = SideKernel::default();
        for (grid, inputs, calls, mean_ns) in shapes {
            kernel.shapes.insert([*grid, 1, 1, 64, 1, 1, *inputs], (*calls, calls * mean_ns));
            (kernel.calls, kernel.time_ns) = (kernel.calls + calls, kernel.time_ns + calls * mean_ns);
        }
        kernel
    }

    /// One side without recorded inputs is as fast as the other one for each grid, so that nothing is another mix.
    #[test]
    fn unknown_inputs_are_not_other_work() {
        let mut base = kernel(&[(1, 7, 10.0, 100.0), (1, 8, 10.0, 300.0), (2, 9, 5.0, 50.0)]);
        let mut new = kernel(&[(1, 0, 20.0, 250.0), (2, 0, 5.0, 50.0)]);
        assert!(forget_unequal_inputs(&mut base, &mut new));
        assert!(base.shapes.keys().eq(new.shapes.keys()));
        let found = effects(&base, &new, 1_000);
        assert_eq!((found.speed_ns, found.mix_ns, found.calls_ns), (1_000, 0, 0));
    }

    #[test]
    fn inputs_that_both_sides_recorded_alike_count() {
        let sides =
            || (kernel(&[(1, 7, 99.0, 100.0), (1, 0, 1.0, 300.0)]), kernel(&[(1, 8, 99.0, 100.0), (1, 0, 1.0, 300.0)]));
        let (mut base, mut new) = sides();
        assert!(!forget_unequal_inputs(&mut base, &mut new));
        assert!(base.shapes == sides().0.shapes && new.shapes == sides().1.shapes);
    }
}
