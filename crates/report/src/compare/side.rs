//! A side of a comparison: one run or several, and the GPUs in them.

use std::collections::BTreeSet;

use super::basis::Basis;
use super::digest::{Calls, Digest, GpuDigest, KernelDigest, Shape, Times};
use super::families::Families;
use wavesieve_model::analysis::categories::COMMUNICATION;

/// The runs of one side.
#[derive(Clone)]
pub struct Side {
    pub runs: Vec<Digest>,
}

/// A GPU by rank and index; it is paired with the same one of the other side.
pub type GpuKey = (i64, i64);

impl Side {
    /// A side of distinct runs, and a sentence for each duplicate. A run that counts twice would make the noise look
    /// smaller than it is.
    pub fn of_distinct(runs: Vec<Digest>) -> (Self, Vec<String>) {
        let (mut distinct, mut sentences): (Vec<Digest>, Vec<String>) = (Vec::new(), Vec::new());
        for run in runs {
            match distinct.iter().find(|earlier| earlier.is_same_run(&run)) {
                Some(earlier) => {
                    let (named, of) = (run.facts.inputs.join(" "), earlier.facts.inputs.join(" "));
                    sentences.push(format!("{named} is the same run as {of}; it is counted once"));
                }
                None => distinct.push(run),
            }
        }
        (Self { runs: distinct }, sentences)
    }

    /// All GPUs of all runs.
    pub fn gpus(&self) -> impl Iterator<Item = &GpuDigest> {
        self.runs.iter().flat_map(|run| &run.gpus)
    }

    /// The GPUs of any run.
    pub fn keys(&self) -> BTreeSet<GpuKey> {
        self.gpus().map(key).collect()
    }

    /// Gives the GPUs of every run the ranks and indices of the GPUs of `other`, in order, if both have equally many
    /// and none in common. Runs of one process each are then compared, whatever their ranks are. Returns whether any
    /// GPU was renamed.
    pub(crate) fn pair_with(&mut self, other: &Self) -> bool {
        let Some(names) = other.runs.first().map(|run| run.gpus.iter().map(key).collect::<BTreeSet<GpuKey>>()) else {
            return false;
        };
        let mut is_any = false;
        for run in &mut self.runs {
            let own: BTreeSet<GpuKey> = run.gpus.iter().map(key).collect();
            if own.len() != names.len() || own.intersection(&names).next().is_some() {
                continue;
            }
            let names: Vec<(GpuKey, GpuKey)> = own.into_iter().zip(names.iter().copied()).collect();
            for gpu in &mut run.gpus {
                if let Some((_, name)) = names.iter().find(|(own, _)| *own == key(gpu)) {
                    (gpu.rank, gpu.gpu) = *name;
                }
            }
            is_any = true;
        }
        is_any
    }

    /// Minimum number of steady iterations of a GPU.
    pub(crate) fn steady_iterations(&self) -> usize {
        self.gpus().map(|gpu| gpu.iterations.len()).min().unwrap_or(0)
    }

    /// The word for the units of work, if all runs have the same.
    pub fn unit(&self) -> Option<&str> {
        let words: BTreeSet<&str> = self.runs.iter().flat_map(|run| &run.facts.units).map(String::as_str).collect();
        words.first().copied().filter(|_| words.len() == 1)
    }

    /// Number of units of the basis over all runs and processes.
    pub fn units(&self, basis: Basis) -> i64 {
        let of_run = |run: &Digest| {
            let mut processes: Vec<(i64, i64)> = run.gpus.iter().map(|gpu| (gpu.process, units(gpu, basis))).collect();
            processes.dedup_by_key(|(process, _)| *process);
            processes.into_iter().map(|(_, units)| units).max().unwrap_or(0)
        };
        self.runs.iter().map(of_run).sum()
    }
}

/// Replaces the durations of communication kernels, which include the wait for other ranks, with their transfer times.
/// A kernel is replaced only if it and its family have transfer times on all GPUs of all sides that have them.
/// Otherwise, different quantities would be compared.
pub(crate) fn separate_waits(sides: &mut [&mut Side]) {
    let family = |kernel: &KernelDigest| Families::builtin().of(&kernel.name);
    let mut lack: BTreeSet<String> = BTreeSet::new();
    for gpu in sides.iter().flat_map(|side| side.gpus()) {
        let has_transfers = |kernel: &&KernelDigest| gpu.transfers.iter().any(|transfer| transfer.name == kernel.name);
        let communicate = gpu.kernels.iter().filter(|kernel| kernel.category == COMMUNICATION);
        lack.extend(communicate.filter(|kernel| !has_transfers(kernel)).map(family));
    }
    for gpu in sides.iter_mut().flat_map(|side| &mut side.runs).flat_map(|run| &mut run.gpus) {
        for transfer in
            std::mem::take(&mut gpu.transfers).into_iter().filter(|transfer| !lack.contains(&family(transfer)))
        {
            let Some(kernel) = gpu.kernels.iter_mut().find(|kernel| kernel.name == transfer.name) else { continue };
            let wait_ns = |of: fn(&KernelDigest) -> &Calls| of(kernel).total_ns.saturating_sub(of(&transfer).total_ns);
            let (run_ns, steady_ns) = (wait_ns(|kernel| &kernel.run), wait_ns(|kernel| &kernel.steady));
            gpu.waits_ns.0 = gpu.waits_ns.0.saturating_add(run_ns);
            gpu.waits_ns.1 = gpu.waits_ns.1.saturating_add(steady_ns);
            *kernel = transfer;
        }
    }
}

/// Leaves the recorded inputs out of all shapes if a run has none, such as a digest of version 1: no shape of it would
/// be a shape of the others.
pub(crate) fn join_inputs(sides: &mut [&mut Side]) {
    let has_inputs = |run: &Digest| {
        let kernels = run.gpus.iter().flat_map(|gpu| &gpu.kernels);
        kernels.flat_map(|kernel| &kernel.shapes).any(|shape| matches!(shape.sizes, [.., inputs] if inputs != 0))
    };
    if sides.iter().flat_map(|side| &side.runs).all(has_inputs) {
        return;
    }
    for gpu in sides.iter_mut().flat_map(|side| &mut side.runs).flat_map(|run| &mut run.gpus) {
        for kernel in &mut gpu.kernels {
            // Shapes are in the order of their sizes, the inputs last.
            for mut shape in std::mem::take(&mut kernel.shapes) {
                let [sizes @ .., inputs] = &mut shape.sizes;
                *inputs = 0;
                match kernel.shapes.last_mut().filter(|last| last.sizes.starts_with(sizes)) {
                    Some(last) => join(last, &shape),
                    None => kernel.shapes.push(shape),
                }
            }
        }
    }
}

/// Adds the dispatches of another shape. The levels of both together are not known.
fn join(shape: &mut Shape, other: &Shape) {
    let sum = |one: (i64, i64), two: (i64, i64)| (one.0.saturating_add(two.0), one.1.saturating_add(two.1));
    *shape = Shape {
        sizes: shape.sizes,
        run: sum(shape.run, other.run),
        steady: sum(shape.steady, other.steady),
        ..Shape::default()
    };
}

/// Rank and index of a GPU.
pub fn key(gpu: &GpuDigest) -> GpuKey {
    (gpu.rank, gpu.gpu)
}

/// Number of units of the basis on a GPU.
pub fn units(gpu: &GpuDigest, basis: Basis) -> i64 {
    match basis {
        Basis::Iteration => gpu.iterations.len() as i64,
        Basis::Run => 1,
    }
}

/// Times of a GPU over all units.
pub fn times(gpu: &GpuDigest, basis: Basis) -> Times {
    match basis {
        Basis::Run => gpu.run.clone(),
        Basis::Iteration => gpu.iterations.iter().fold(Times::default(), |mut sum, times| {
            sum.add(times);
            sum
        }),
    }
}

/// Dispatches of a kernel over all units.
pub fn calls(kernel: &KernelDigest, basis: Basis) -> &Calls {
    match basis {
        Basis::Run => &kernel.run,
        Basis::Iteration => &kernel.steady,
    }
}

/// Calls and total of a shape over all units.
pub(crate) fn of_shape(shape: &Shape, basis: Basis) -> (i64, i64) {
    match basis {
        Basis::Run => shape.run,
        Basis::Iteration => shape.steady,
    }
}

/// The level of the durations of a shape, then the levels of its blocks; empty if they are not known.
pub(crate) fn levels_of_shape(shape: &Shape, basis: Basis) -> &[f64] {
    match basis {
        Basis::Run => &shape.run_logs,
        Basis::Iteration => &shape.steady_logs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(has_transfers: bool) -> Side {
        let kernel = |total_ns: i64, is_transfer: bool| KernelDigest {
            name: "ncclDevKernel_AllReduce".to_owned(),
            category: COMMUNICATION.to_owned(),
            is_transfer,
            run: Calls { calls: 2, total_ns, ..Calls::default() },
            ..KernelDigest::default()
        };
        let transfers = if has_transfers { vec![kernel(30, true)] } else { Vec::new() };
        let gpu = GpuDigest { kernels: vec![kernel(100, false)], transfers, ..GpuDigest::default() };
        Side { runs: vec![Digest { gpus: vec![gpu], ..Digest::default() }] }
    }

    #[test]
    fn transfer_times_are_compared_only_with_transfer_times() {
        let separated = |base: bool, new: bool| {
            let (mut base, mut new) = (side(base), side(new));
            separate_waits(&mut [&mut base, &mut new]);
            let gpu = &base.runs[0].gpus[0];
            (gpu.kernels[0].run.total_ns, gpu.waits_ns.0)
        };
        assert_eq!(separated(true, true), (30, 70));
        assert_eq!(separated(true, false), (100, 0));
        assert_eq!(separated(false, true), (100, 0));
    }

    #[test]
    fn shapes_without_inputs_match_shapes_with_them() {
        let side = |shapes: &[(i64, i64)]| {
            let shape = |(grid, inputs): &(i64, i64)| Shape {
                sizes: [*grid, 1, 1, 64, 1, 1, *inputs],
                run: (2, 10),
                run_logs: vec![1.5],
                ..Shape::default()
            };
            let kernel = KernelDigest { shapes: shapes.iter().map(shape).collect(), ..KernelDigest::default() };
            let gpu = GpuDigest { kernels: vec![kernel], ..GpuDigest::default() };
            Side { runs: vec![Digest { gpus: vec![gpu], ..Digest::default() }] }
        };
        let joined = |base: &[(i64, i64)], new: &[(i64, i64)]| {
            let (mut base, mut new) = (side(base), side(new));
            join_inputs(&mut [&mut base, &mut new]);
            let of = |shape: &Shape| (shape.sizes[0], shape.sizes[6], shape.run.0, shape.run_logs.len());
            new.runs[0].gpus[0].kernels[0].shapes.iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(joined(&[(1, 0)], &[(1, 7), (1, 9), (2, 7)]), [(1, 0, 4, 0), (2, 0, 2, 1)]);
        assert_eq!(joined(&[(1, 7)], &[(1, 7), (1, 9)]), [(1, 7, 2, 1), (1, 9, 2, 1)]);
    }
}
