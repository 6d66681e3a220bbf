//! Repetitions of the kernel sequence that nothing marks: whether they are iterations, or may be parts of one pass, such as its layers.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::rows_named;
use crate::columns::values::{BoolValues, FrameValues};
use crate::derive::repeating::periods::Iteration;
use crate::derive::{Frames, OnDemandTables};
use wavesieve_model::analysis::api_classes::ApiClasses;
use wavesieve_model::analysis::gpu_time::idle_kinds::IdleKinds;

/// Columns of calls that show whether the host waits.
const CALLS: [&str; 5] = ["name", "correlation_id", "start_ns", "end_ns", "valid"];
/// Directions of copies between host and GPU.
const WITH_HOST: [&str; 2] = ["H2D", "D2H"];
/// Part of the names of calls that launch.
const LAUNCH: &str = "launch";

/// Whether at least half as many of these as there are repetitions start from the first to the last.
fn is_in_most(times_ns: &[i64], repetitions: &[Iteration]) -> bool {
    let (Some(first), Some(last)) = (repetitions.first(), repetitions.last()) else { return false };
    let within = times_ns.iter().filter(|time_ns| (first.start_ns..last.end_ns).contains(*time_ns)).count();
    2 * within >= repetitions.len()
}

/// Whether the host copies inputs or results at least half as often as the repetitions come: a layer has none.
pub(super) fn copies_with_host(copies: Option<&DataFrame>, repetitions: &[Iteration]) -> Result<bool> {
    let Some((copies, directions)) = copies.and_then(|copies| Some((copies, copies.column("direction").ok()?))) else {
        return Ok(false);
    };
    let is_one = BoolValues::new(&rows_named(directions, |direction| WITH_HOST.contains(&direction))?).are_true();
    let rows = copies.valid_rows(["start_ns"])?;
    let times: Vec<i64> =
        rows.filter(|(row, _)| is_one.get(*row as usize) == Some(true)).map(|(_, [start_ns])| start_ns).collect();
    Ok(is_in_most(&times, repetitions))
}

/// Whether kernels of a backward pass are in most repetitions: those of a training have both passes.
pub(super) fn has_backward_pass(backward_ns: &[i64], repetitions: &[Iteration]) -> bool {
    let has_any = |own: &&Iteration| {
        let next = backward_ns.partition_point(|start_ns| *start_ns < own.start_ns);
        backward_ns.get(next).is_some_and(|start_ns| *start_ns < own.end_ns)
    };
    2 * repetitions.iter().filter(has_any).count() >= repetitions.len()
}

/// Sorted correlation ids of the kernels in the repetitions; id 0 means no call.
fn launched_ids(kernels: Option<&DataFrame>, repetitions: &[Iteration]) -> Result<Vec<i64>> {
    let kernels = kernels.filter(|kernels| kernels.column("correlation_id").is_ok());
    let (Some(kernels), Some(first), Some(last)) = (kernels, repetitions.first(), repetitions.last()) else {
        return Ok(Vec::new());
    };
    let rows = kernels.valid_rows(["correlation_id", "start_ns"])?;
    let is_one = |id: i64, start_ns: i64| id != 0 && (first.start_ns..last.end_ns).contains(&start_ns);
    let mut ids: Vec<i64> = rows.filter(|(_, [id, start_ns])| is_one(*id, *start_ns)).map(|(_, [id, _])| id).collect();
    ids.sort_unstable();
    Ok(ids)
}

/// Whether the host launches the repetitions without waiting in most of them, so that nothing separates them: few calls block from the
/// first to the last of their launches. `false` if no launches are recorded. Calls that were not read are read on demand.
pub(super) fn is_launched_in_one_go(
    tables: &Frames,
    more: Option<&dyn OnDemandTables>,
    repetitions: &[Iteration],
) -> Result<bool> {
    let has_all = |calls: &&DataFrame| CALLS.iter().all(|name| calls.column(name).is_ok());
    let calls = match (tables.get("regions").filter(has_all), more) {
        (Some(calls), _) => calls.clone(),
        (None, Some(more)) => more.rows("regions", &CALLS, None)?.select(CALLS.map(col)).collect()?,
        (None, None) => return Ok(false),
    };
    let names = calls.column("name")?;
    let is_launch = BoolValues::new(&rows_named(names, |name| name.to_ascii_lowercase().contains(LAUNCH))?).are_true();
    let ids = calls.integer("correlation_id")?;
    let rows = calls.valid_rows(["start_ns"])?;
    let launches: Vec<(Option<i64>, i64)> = rows
        .filter(|(row, _)| is_launch.get(*row as usize) == Some(true))
        .map(|(row, [start_ns])| (ids.get(row as usize), start_ns))
        .collect();
    // A call that launches a whole repetition is around it.
    if launches.len() < 2 * repetitions.len() {
        return Ok(false);
    }
    let launched = launched_ids(tables.get("kernels"), repetitions)?;
    let is_own = |id: Option<i64>| id.is_some_and(|id| launched.binary_search(&id).is_ok());
    let has_own = launches.iter().any(|(id, _)| is_own(*id));
    // Without ids, every launch may be one of the repetitions.
    let own = launches.iter().filter(|(id, _)| !has_own || is_own(*id));
    let starts: Vec<i64> = own.map(|(_, start_ns)| *start_ns).collect();
    let (Some(first_ns), Some(last_ns)) = (starts.iter().min().copied(), starts.iter().max().copied()) else {
        return Ok(false);
    };
    let blocks = |name: &str| {
        ApiClasses::builtin().synchronizes(name) || IdleKinds::builtin().of_call(name).is_some_and(|kind| kind.blocks)
    };
    let is_blocking = BoolValues::new(&rows_named(names, blocks)?).are_true();
    // The host is ahead of the GPU, so that its calls are counted among its launches, and not placed in repetitions. Before a pass it
    // may allocate, and wait for copies of weights.
    let between = calls.valid_rows(["start_ns"])?.filter(|(row, [start_ns])| {
        is_blocking.get(*row as usize) == Some(true) && (first_ns..=last_ns).contains(start_ns)
    });
    Ok(2 * between.count() < repetitions.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::frames::categorical;

    fn repetitions(count: i64) -> Vec<Iteration> {
        let one =
            |place| Iteration { start_ns: place * 10, end_ns: place * 10 + 10, kernels: 1, kernel_ns: 9, period: 1 };
        (0..count).map(one).collect()
    }

    fn frame(column: &str, texts: &[&str]) -> DataFrame {
        let words = Series::new(column.into(), texts.to_vec()).cast(&categorical()).unwrap();
        let times: Vec<i64> = (1..=texts.len() as i64).collect();
        DataFrame::new_infer_height(vec![
            words.into_column(),
            Column::new("correlation_id".into(), times.clone()),
            Column::new("start_ns".into(), times.clone()),
            Column::new("end_ns".into(), times),
            Column::new("valid".into(), vec![true; texts.len()]),
        ])
        .unwrap()
    }

    /// Kernels with these correlation ids, one after the other.
    fn kernels(ids: &[i64]) -> DataFrame {
        DataFrame::new_infer_height(vec![
            Column::new("correlation_id".into(), ids.to_vec()),
            Column::new("start_ns".into(), (0..ids.len() as i64).collect::<Vec<i64>>()),
            Column::new("valid".into(), vec![true; ids.len()]),
        ])
        .unwrap()
    }

    #[test]
    fn a_host_that_waits_separates_iterations() {
        let of_launched = |calls: &[&str], ids: &[i64]| {
            let tables = Frames::from_iter([("regions", frame("name", calls)), ("kernels", kernels(ids))]);
            is_launched_in_one_go(&tables, None, &repetitions(4)).unwrap()
        };
        let of = |calls: &[&str]| of_launched(calls, &[]);
        let launches = ["hipLaunchKernel"; 8];
        let waits = ["hipDeviceSynchronize", "hipFree"];
        let between = |waits: &[&'static str]| [&launches[..4], waits, &launches[4..]].concat();
        assert!(of(&between(&waits[..1])));
        assert!(!of(&between(&waits)));
        assert!(of(&[&waits[..], &launches[..], &waits[..]].concat()), "before and after the launches");
        // The first launch is of other work.
        let after_set_up = [&launches[..1], &waits[..], &launches[..]].concat();
        let ids: Vec<i64> = (4..12).collect();
        assert!(of_launched(&after_set_up, &ids));
        assert!(!of_launched(&after_set_up, &[0, 50]), "no call has launched them");
        assert!(!of_launched(&between(&waits), &(1..11).collect::<Vec<i64>>()));
        assert!(!of(&launches[..4]), "a call launches a whole repetition");
        assert!(!of(&["hipMalloc"]), "no launches are recorded");
        assert!(!is_launched_in_one_go(&Frames::from_iter([]), None, &repetitions(4)).unwrap());
    }

    #[test]
    fn inputs_results_and_a_backward_pass_are_of_iterations() {
        let copies =
            |directions: &[&str]| copies_with_host(Some(&frame("direction", directions)), &repetitions(4)).unwrap();
        assert_eq!([copies(&["H2D", "D2H"]), copies(&["D2D", "D2D", "H2D"])], [true, false]);
        assert_eq!([&[5, 15][..], &[5, 7]].map(|starts| has_backward_pass(starts, &repetitions(4))), [true, false]);
    }
}
