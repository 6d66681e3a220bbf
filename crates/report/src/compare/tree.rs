//! The parts of the span of a side, in whole nanoseconds per unit. Every part is the exact sum of its children.

use std::collections::{BTreeMap, BTreeSet};

use super::basis::Basis;
use super::digest::GpuDigest;
use super::side::{Side, calls, times, units};
use wavesieve_model::analysis::categories::COMMUNICATION;
use wavesieve_model::analysis::statistics::rounding::{largest_remainder, nearest};

/// A part of the span with its children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpanPart {
    pub name: String,
    /// Time per unit; negative if it is subtracted.
    pub time_ns: i64,
    pub children: Vec<SpanPart>,
}

/// A part of a sum, before the division by the units.
struct Sum {
    name: String,
    time_ns: i128,
    children: Vec<Sum>,
}

impl Sum {
    fn leaf(name: impl Into<String>, time_ns: i64) -> Self {
        Self { name: name.into(), time_ns: i128::from(time_ns), children: Vec::new() }
    }

    /// A part whose last child is the rest that the others leave.
    fn closed(name: &str, time_ns: i64, mut children: Vec<Self>, rest: &str) -> Self {
        let known: i128 = children.iter().map(|child| child.time_ns).sum();
        children.push(Self { name: rest.to_owned(), time_ns: i128::from(time_ns) - known, children: Vec::new() });
        Self { name: name.to_owned(), time_ns: i128::from(time_ns), children }
    }

    /// The parts per unit, rounded from the top down.
    fn per_unit(&self, time_ns: i128, units: i128) -> SpanPart {
        let numerators: Vec<i128> = self.children.iter().map(|child| child.time_ns).collect();
        let rounded = largest_remainder(time_ns, &numerators, units);
        let children =
            self.children.iter().zip(rounded).map(|(child, time_ns)| child.per_unit(time_ns, units)).collect();
        SpanPart { name: self.name.clone(), time_ns: i64::try_from(time_ns).unwrap_or(i64::MAX), children }
    }
}

/// Prefix of the names of kernel parts: `kernel NAME`.
const KERNEL: &str = "kernel ";

/// The name of the kernel if a part is a kernel part.
pub fn kernel_of(part: &str) -> Option<&str> {
    part.strip_prefix(KERNEL)
}

/// The span of a GPU per unit; `None` without units.
pub fn of_gpu(gpu: &GpuDigest, basis: Basis) -> Option<SpanPart> {
    let units = i128::from(units(gpu, basis));
    if units <= 0 {
        return None;
    }
    let times = times(gpu, basis);
    let kernels = |is_comm: bool| {
        let of_kind = gpu.kernels.iter().filter(move |kernel| (kernel.category == COMMUNICATION) == is_comm);
        let leaf = |kernel: &super::digest::KernelDigest| {
            Sum::leaf(format!("{KERNEL}{}", kernel.name), calls(kernel, basis).total_ns)
        };
        of_kind.map(leaf).filter(|leaf| leaf.time_ns != 0).collect::<Vec<_>>()
    };
    let group = |name: &str, children: Vec<Sum>| Sum {
        name: name.to_owned(),
        time_ns: children.iter().map(|child| child.time_ns).sum(),
        children,
    };
    let copies = gpu.copies.iter().map(|copy| {
        let (_, total_ns) = if basis == Basis::Run { copy.run } else { copy.steady };
        Sum::leaf(format!("copies_{}", copy.direction), total_ns)
    });
    let hidden = |name: &str, any_ns: i64, exposed_ns: i64| Sum::leaf(name, exposed_ns.saturating_sub(any_ns));
    let compute =
        Sum::closed("compute", times.compute_ns, vec![group("compute_kernels", kernels(false))], "overlap_compute");
    let (run_ns, steady_ns) = gpu.waits_ns;
    let wait = Sum::leaf("comm_wait", if basis == Basis::Run { run_ns } else { steady_ns });
    let comm =
        vec![group("comm_kernels", kernels(true)), wait, hidden("hidden_comm", times.comm_ns, times.exposed_comm_ns)];
    let comm = Sum::closed("exposed_comm", times.exposed_comm_ns, comm, "overlap_comm");
    let copy = vec![group("copies", copies.collect()), hidden("hidden_copy", times.copy_ns, times.exposed_copy_ns)];
    let copy = Sum::closed("exposed_copy", times.exposed_copy_ns, copy, "overlap_copy");
    let idle = times.idle_ns.iter().map(|(cause, idle_ns)| Sum::leaf(format!("idle_{cause}"), *idle_ns)).collect();
    let span = group("span", vec![group("busy", vec![compute, comm, copy]), group("idle", idle)]);
    Some(span.per_unit(nearest(span.time_ns, units), units))
}

/// Parts of a whole per unit; their times add up to it.
pub fn tiled(name: &str, parts: impl Iterator<Item = (String, i64)>, units: i64) -> SpanPart {
    let children: Vec<Sum> = parts.map(|(name, time_ns)| Sum::leaf(name, time_ns)).collect();
    let time_ns = children.iter().map(|child| child.time_ns).sum();
    let units = i128::from(units.max(1));
    Sum { name: name.to_owned(), time_ns, children }.per_unit(nearest(time_ns, units), units)
}

/// The mean of trees: their sum, divided by their number.
pub fn mean(trees: &[SpanPart]) -> Option<SpanPart> {
    fn summed(name: &str, trees: &[&SpanPart]) -> Sum {
        let mut names: Vec<&str> = Vec::new();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for child in trees.iter().flat_map(|tree| &tree.children) {
            if seen.insert(&child.name) {
                names.push(&child.name);
            }
        }
        let mut by_name: BTreeMap<&str, Vec<&SpanPart>> = BTreeMap::new();
        for child in trees.iter().flat_map(|tree| &tree.children) {
            by_name.entry(&child.name).or_default().push(child);
        }
        let children = names.iter().map(|name| summed(name, by_name.get(name).map_or(&[], Vec::as_slice))).collect();
        let time_ns = trees.iter().map(|tree| i128::from(tree.time_ns)).sum();
        Sum { name: name.to_owned(), time_ns, children }
    }
    let sum = summed(&trees.first()?.name, &trees.iter().collect::<Vec<_>>());
    let count = trees.len() as i128;
    Some(sum.per_unit(nearest(sum.time_ns, count), count))
}

/// The mean span over all GPUs and runs of a side.
pub fn of_side(side: &Side, basis: Basis) -> Option<SpanPart> {
    mean(&side.gpus().filter_map(|gpu| of_gpu(gpu, basis)).collect::<Vec<_>>())
}

/// The time of a part anywhere in a tree.
pub fn time_of(part: &SpanPart, name: &str) -> Option<i64> {
    if part.name == name {
        return Some(part.time_ns);
    }
    part.children.iter().find_map(|child| time_of(child, name))
}

/// The time of a kernel in the mean span.
pub fn kernel_ns(tree: &SpanPart, name: &str) -> i64 {
    if kernel_of(&tree.name) == Some(name) {
        return tree.time_ns;
    }
    tree.children.iter().fold(0, |sum: i64, child| sum.saturating_add(kernel_ns(child, name)))
}

/// The times of all kernels in the mean span.
pub(crate) fn kernel_times(tree: &SpanPart) -> BTreeMap<&str, i64> {
    let mut times = BTreeMap::new();
    fn add<'a>(part: &'a SpanPart, times: &mut BTreeMap<&'a str, i64>) {
        if let Some(kernel) = kernel_of(&part.name) {
            *times.entry(kernel).or_default() += part.time_ns;
        }
        part.children.iter().for_each(|child| add(child, times));
    }
    add(tree, &mut times);
    times
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::compare::digest::{Calls, KernelDigest, Times};

    fn is_closed(part: &SpanPart) -> bool {
        let sum: i64 = part.children.iter().map(|child| child.time_ns).sum();
        (part.children.is_empty() || sum == part.time_ns) && part.children.iter().all(is_closed)
    }

    fn gpu(iterations: usize) -> GpuDigest {
        let times = Times {
            span_ns: 101,
            compute_ns: 50,
            comm_ns: 20,
            copy_ns: 9,
            exposed_comm_ns: 11,
            exposed_copy_ns: 2,
            idle_ns: [("sync".to_owned(), 30), ("host_bound".to_owned(), 8)].into(),
        };
        let kernel = |name: &str, category: &str, total_ns| KernelDigest {
            name: name.to_owned(),
            category: category.to_owned(),
            steady: Calls { calls: 5, total_ns, ..Calls::default() },
            ..KernelDigest::default()
        };
        GpuDigest {
            iterations: vec![times; iterations],
            kernels: vec![kernel("a", "gemm", 100), kernel("b", "gemm", 71), kernel("c", COMMUNICATION, 61)],
            ..GpuDigest::default()
        }
    }

    #[test]
    fn parents_are_the_sums_of_their_children() {
        for iterations in 1..8 {
            let tree = of_gpu(&gpu(iterations), Basis::Iteration).unwrap();
            assert!(is_closed(&tree), "{tree:?}");
            assert_eq!(tree.time_ns, 101);
            let mixed =
                mean(&[tree, of_gpu(&gpu(3), Basis::Iteration).unwrap(), of_gpu(&gpu(7), Basis::Iteration).unwrap()]);
            assert!(is_closed(&mixed.unwrap()));
        }
        assert_eq!(of_gpu(&gpu(0), Basis::Iteration), None);
    }
}
