//! Repetitions of the kernel sequence that nothing marks: whether they are iterations, or may be parts of one pass, such as its layers.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::rows_named;
use crate::columns::values::{BoolValues, FrameValues, present_in};
use crate::derive::repeating::periods::Iteration;
use crate::derive::{Frames, OnDemandTables};
use wavesieve_model::analysis::api_classes::ApiClasses;
use wavesieve_model::analysis::gpu_time::idle_kinds::IdleKinds;

/// Columns of calls that show whether the host waits.
const CALLS: [&str; 4] = ["name", "start_ns", "end_ns", "valid"];
/// Directions of copies between host and GPU.
const WITH_HOST: [&str; 2] = ["H2D", "D2H"];
/// Part of the names of calls that launch.
const LAUNCH: &str = "launch";

/// Whether at least every other repetition has one of these.
fn is_in_most(times_ns: &[i64], repetitions: &[Iteration]) -> bool {
    let (Some(first), Some(last)) = (repetitions.first(), repetitions.last()) else { return false };
    let within = times_ns.iter().filter(|time_ns| (first.start_ns..last.end_ns).contains(*time_ns)).count();
    2 * within >= repetitions.len()
}

/// Whether the host copies inputs or results in most repetitions: a layer has none.
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

/// Whether the host launches the repetitions without waiting in most of them, so that nothing separates them. `false` if no launches are
/// recorded. Calls that were not read are read on demand.
pub(super) fn is_launched_in_one_go(
    tables: &Frames,
    more: Option<&dyn OnDemandTables>,
    repetitions: &[Iteration],
) -> Result<bool> {
    let has_all = |calls: &&DataFrame| CALLS.iter().all(|name| calls.column(name).is_ok());
    let calls = match (tables.get("regions").filter(has_all), more) {
        (Some(calls), _) => calls.clone(),
        (None, Some(more)) => more.rows("regions", &CALLS, None)?.select(CALLS.map(|name| col(name))).collect()?,
        (None, None) => return Ok(false),
    };
    let names = calls.column("name")?;
    let [starts] = calls.integers(["start_ns"])?;
    let valid = present_in(calls.truths("valid")?.are_true(), [&starts]);
    let count = |rows: &BooleanChunked| (&BoolValues::new(rows).are_true() & &valid).set_bits();
    // A call that launches a whole repetition is around it.
    if count(&rows_named(names, |name| name.to_ascii_lowercase().contains(LAUNCH))?) < 2 * repetitions.len() {
        return Ok(false);
    }
    let blocks = |name: &str| {
        ApiClasses::builtin().synchronizes(name) || IdleKinds::builtin().of_call(name).is_some_and(|kind| kind.blocks)
    };
    // The host is ahead of the GPU, so that its calls are counted, and not placed.
    Ok(2 * count(&rows_named(names, blocks)?) < repetitions.len())
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
            Column::new("start_ns".into(), times.clone()),
            Column::new("end_ns".into(), times),
            Column::new("valid".into(), vec![true; texts.len()]),
        ])
        .unwrap()
    }

    #[test]
    fn a_host_that_waits_separates_iterations() {
        let of = |calls: &[&str]| {
            let tables = Frames::from_iter([("regions", frame("name", calls))]);
            is_launched_in_one_go(&tables, None, &repetitions(4)).unwrap()
        };
        let launches = ["hipLaunchKernel"; 8];
        assert!(of(&[&launches[..], &["hipDeviceSynchronize"]].concat()));
        assert!(!of(&[&launches[..], &["hipDeviceSynchronize", "hipFree"]].concat()));
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
