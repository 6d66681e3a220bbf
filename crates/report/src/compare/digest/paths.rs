//! The critical path of a process by kind and name of its parts, and the work of its ranges by path.

use std::collections::BTreeMap;

use anyhow::Result;
use itertools::izip;
use polars::prelude::*;

use super::model::PathDigest;
use super::units::{in_units, unit_at};
use wavesieve_tables::columns::values::I64Values;

/// Sums up the parts of the critical path, which follow each other without gaps from the first start of the process to its last end.
pub(super) fn paths(frame: &DataFrame, process: i64, units: &[(i64, i64)]) -> Result<Vec<PathDigest>> {
    let (starts, ends) =
        (I64Values::new(frame.column("start_ns")?.i64()?), I64Values::new(frame.column("end_ns")?.i64()?));
    let texts = |name: &str| frame.column(name)?.cast(&DataType::String);
    let (kinds, names) = (texts("kind")?, texts("name")?);
    let mut sums: BTreeMap<(&str, &str), (i64, i64)> = BTreeMap::new();
    for (start, end, kind, name) in izip!(starts.iter(), ends.iter(), kinds.str()?.iter(), names.str()?.iter()) {
        let (Some(start_ns), Some(end_ns), Some(kind)) = (start, end, kind) else { continue };
        let (run_ns, steady_ns) = sums.entry((kind, name.unwrap_or_default())).or_default();
        *run_ns = run_ns.saturating_add(end_ns.saturating_sub(start_ns));
        *steady_ns = steady_ns.saturating_add(in_units(units, start_ns, end_ns));
    }
    Ok(digests(process, sums))
}

/// Sums up the kernel time of the ranges of a process by path. It counts for the unit in which the work of a range
/// starts.
pub(super) fn ranges(frame: &DataFrame, process: i64, units: &[(i64, i64)]) -> Result<Vec<PathDigest>> {
    let (starts, kernels) =
        (I64Values::new(frame.column("gpu_start_ns")?.i64()?), I64Values::new(frame.column("kernel_ns")?.i64()?));
    let paths = frame.column("path")?.cast(&DataType::String)?;
    let mut sums: BTreeMap<(&str, &str), (i64, i64)> = BTreeMap::new();
    for (start, kernel_ns, path) in izip!(starts.iter(), kernels.iter(), paths.str()?.iter()) {
        let (Some(start_ns), Some(kernel_ns), Some(path)) = (start, kernel_ns, path) else { continue };
        let (run_ns, steady_ns) = sums.entry(("", path)).or_default();
        *run_ns = run_ns.saturating_add(kernel_ns);
        if unit_at(units, start_ns).is_some() {
            *steady_ns = steady_ns.saturating_add(kernel_ns);
        }
    }
    Ok(digests(process, sums))
}

fn digests(process: i64, sums: BTreeMap<(&str, &str), (i64, i64)>) -> Vec<PathDigest> {
    let digest = |((kind, name), (run_ns, steady_ns)): ((&str, &str), (i64, i64))| PathDigest {
        process,
        kind: kind.to_owned(),
        name: name.to_owned(),
        run_ns,
        steady_ns,
    };
    sums.into_iter().map(digest).collect()
}
