//! The second view of a change: along the critical path, whose parts add up to the span of a process, and the work of
//! ranges.

use std::collections::BTreeMap;

use super::basis::Basis;
use super::digest::{Digest, GpuDigest, PathDigest};
use super::document::{Delta, PathRow};
use super::matching::KernelPair;
use super::side::{Side, units};
use super::tree::{SpanPart, mean, tiled};

/// Separator between the kind and the name of a part.
const SEPARATOR: char = '\u{1f}';
/// Kinds of parts that are named after kernels.
const OF_KERNELS: [&str; 3] = ["kernel", "launch_latency", "queue_wait"];

/// Parts of the critical path of both sides per unit, averaged over the processes, largest change first. Empty if a side has none.
pub(crate) fn path_rows(base: &Side, new: &Side, basis: Basis, rows: &[KernelPair<'_>]) -> Vec<PathRow> {
    let names: BTreeMap<&str, &str> =
        rows.iter().filter_map(|row| Some((row.new.as_ref()?.name, row.key()?))).collect();
    let paths: Parts = |run| &run.paths;
    rows_of(of_side(base, basis, &BTreeMap::new(), paths), of_side(new, basis, &names, paths))
}

/// Kernel time launched in the ranges of both sides by path per unit, averaged over the processes, largest change
/// first. Empty if a side has none.
pub fn range_rows(base: &Side, new: &Side, basis: Basis) -> Vec<Delta> {
    let [base, new] = [base, new].map(|side| of_side(side, basis, &BTreeMap::new(), |run| &run.ranges));
    let delta = |row: PathRow| Delta {
        name: row.kernel.unwrap_or_default(),
        base_ns: row.base_ns,
        new_ns: row.new_ns,
        delta_ns: row.delta_ns,
    };
    rows_of(base, new).into_iter().map(delta).collect()
}

fn rows_of(base: Option<SpanPart>, new: Option<SpanPart>) -> Vec<PathRow> {
    let (Some(base), Some(new)) = (base, new) else { return Vec::new() };
    let of_parts = |part: &SpanPart| {
        part.children.iter().map(|child| (child.name.clone(), child.time_ns)).collect::<BTreeMap<String, i64>>()
    };
    let (of_base, mut of_new) = (of_parts(&base), of_parts(&new));
    let mut all: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for (name, base_ns) in of_base {
        let new_ns = of_new.remove(&name).unwrap_or(0);
        all.insert(name, (base_ns, new_ns));
    }
    all.extend(of_new.into_iter().map(|(name, new_ns)| (name, (0, new_ns))));
    let row = |(name, (base_ns, new_ns)): (String, (i64, i64))| {
        let (kind, name) = name.split_once(SEPARATOR).unwrap_or((&name, ""));
        PathRow {
            kind: kind.to_owned(),
            kernel: (!name.is_empty()).then(|| name.to_owned()),
            base_ns,
            new_ns,
            delta_ns: new_ns.saturating_sub(base_ns),
        }
    };
    let mut rows: Vec<PathRow> = all.into_iter().filter(|(_, times)| *times != (0, 0)).map(row).collect();
    rows.sort_by(|one, other| {
        let key = |row: &PathRow| (row.kind.clone(), row.kernel.clone());
        other.delta_ns.abs().cmp(&one.delta_ns.abs()).then_with(|| key(one).cmp(&key(other)))
    });
    rows
}

/// The parts of a run to compare.
type Parts = fn(&Digest) -> &Vec<PathDigest>;

/// The mean over all processes; kernels are renamed by `names`.
fn of_side(side: &Side, basis: Basis, names: &BTreeMap<&str, &str>, parts: Parts) -> Option<SpanPart> {
    let of_run = |run: &Digest| {
        let mut by_process: BTreeMap<i64, Vec<&PathDigest>> = BTreeMap::new();
        for path in parts(run) {
            by_process.entry(path.process).or_default().push(path);
        }
        let of_process = |(process, parts): (i64, Vec<&PathDigest>)| {
            let of_process = |gpu: &&GpuDigest| gpu.process == process;
            let units =
                run.gpus.iter().filter(of_process).map(|gpu| units(gpu, basis)).max().filter(|units| *units > 0)?;
            let mut sums: BTreeMap<String, i64> = BTreeMap::new();
            for part in parts {
                let is_kernel = OF_KERNELS.contains(&part.kind.as_str());
                let name = names.get(part.name.as_str()).filter(|_| is_kernel).copied().unwrap_or(&part.name);
                let time_ns = if basis == Basis::Run { part.run_ns } else { part.steady_ns };
                let sum = sums.entry(format!("{}{SEPARATOR}{name}", part.kind)).or_default();
                *sum = sum.saturating_add(time_ns);
            }
            Some(tiled("path", sums.into_iter(), units))
        };
        by_process.into_iter().filter_map(of_process).collect::<Vec<SpanPart>>()
    };
    mean(&side.runs.iter().flat_map(of_run).collect::<Vec<SpanPart>>())
}

/// The part of the change of a kernel that is on the path.
pub fn on_path(rows: &[PathRow], key: &str) -> Option<i64> {
    let of_kernel = rows.iter().filter(|row| row.kind == "kernel" && row.kernel.as_deref() == Some(key));
    (!rows.is_empty()).then(|| of_kernel.fold(0, |sum: i64, row| sum.saturating_add(row.delta_ns)))
}
