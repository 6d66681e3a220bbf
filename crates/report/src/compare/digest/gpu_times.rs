//! Time accounting of the GPUs of a process, over the run and in each steady iteration.

use std::collections::BTreeMap;

use anyhow::Result;
use itertools::izip;
use polars::prelude::DataFrame;

use super::model::Times;
use wavesieve_tables::columns::frames::values_by_text;
use wavesieve_tables::columns::values::I64Values;

/// Idle time that `idle_gaps` does not explain, for example if filters leave only a part of it.
const UNEXPLAINED: &str = "no_record";
/// Causes in `idle_gaps` that are not idle time of the span.
const OUTSIDE: [&str; 3] = ["copy_only", "lead", "tail"];

/// Times of a GPU over the run, and in each iteration.
pub type GpuTimes = (Times, Vec<Times>);

/// Sums up rows of `gpu_segments` and `idle_gaps` by GPU. `iterations` are disjoint intervals in order of time. An
/// iteration in which a GPU has no time is empty for it.
pub fn gpu_times(segments: &DataFrame, gaps: &DataFrame, iterations: &[(i64, i64)]) -> Result<BTreeMap<i64, GpuTimes>> {
    let integers =
        |frame: &DataFrame, name: &str| -> Result<I64Values> { Ok(I64Values::new(frame.column(name)?.i64()?)) };
    let mut gpus: BTreeMap<i64, GpuTimes> = BTreeMap::new();
    let none = || (Times::default(), vec![Times::default(); iterations.len()]);
    let (gpu, start, end) =
        (integers(segments, "gpu")?, integers(segments, "start_ns")?, integers(segments, "end_ns")?);
    let (compute, comm) = (integers(segments, "compute")?, integers(segments, "comm")?);
    let copies = integers(segments, "copies")?;
    for (gpu, start, end, compute, comm, copies) in
        izip!(gpu.iter(), start.iter(), end.iter(), compute.iter(), comm.iter(), copies.iter())
    {
        let (Some(gpu), Some(start_ns), Some(end_ns)) = (gpu, start, end) else { continue };
        let runs = |count: Option<i64>| count.is_some_and(|count| count > 0);
        let (compute, comm, copies) = (runs(compute), runs(comm), runs(copies));
        add(gpus.entry(gpu).or_insert_with(none), iterations, (start_ns, end_ns), |times, length_ns| {
            let sums = [
                (true, &mut times.span_ns),
                (compute, &mut times.compute_ns),
                (comm, &mut times.comm_ns),
                (copies, &mut times.copy_ns),
                (comm && !compute, &mut times.exposed_comm_ns),
                (copies && !compute && !comm, &mut times.exposed_copy_ns),
            ];
            for (_, sum_ns) in sums.into_iter().filter(|(is_running, _)| *is_running) {
                *sum_ns = sum_ns.saturating_add(length_ns);
            }
        });
    }
    let mut causes: Vec<String> = Vec::new();
    let cause_of = {
        let names = std::cell::RefCell::new(&mut causes);
        values_by_text(gaps.column("cause")?, |name| {
            let mut names = names.borrow_mut();
            let place = names.len();
            names.push(name.to_owned());
            place
        })?
    };
    let (gpu, start, end) = (integers(gaps, "gpu")?, integers(gaps, "start_ns")?, integers(gaps, "end_ns")?);
    for (gpu, start, end, cause) in izip!(gpu.iter(), start.iter(), end.iter(), cause_of) {
        let (Some(gpu), Some(start_ns), Some(end_ns)) = (gpu, start, end) else { continue };
        let Some(cause) = cause.and_then(|cause| causes.get(cause)).filter(|name| !OUTSIDE.contains(&name.as_str()))
        else {
            continue;
        };
        add(gpus.entry(gpu).or_insert_with(none), iterations, (start_ns, end_ns), |times, length_ns| {
            let sum_ns = times.idle_ns.entry(cause.clone()).or_default();
            *sum_ns = sum_ns.saturating_add(length_ns);
        });
    }
    for (run, of_iterations) in gpus.values_mut() {
        close(run);
        of_iterations.iter_mut().for_each(close);
    }
    Ok(gpus)
}

/// Adds an interval to the run, and its parts to the iterations that it touches.
fn add(
    (run, of_iterations): &mut GpuTimes,
    iterations: &[(i64, i64)],
    (start_ns, end_ns): (i64, i64),
    mut add: impl FnMut(&mut Times, i64),
) {
    let length_ns = end_ns.saturating_sub(start_ns);
    if length_ns <= 0 {
        return;
    }
    add(run, length_ns);
    let first = iterations.partition_point(|(_, ends_ns)| *ends_ns <= start_ns);
    let touched = iterations.iter().zip(of_iterations).skip(first).take_while(|((from_ns, _), _)| *from_ns < end_ns);
    for ((from_ns, to_ns), times) in touched {
        add(times, end_ns.min(*to_ns).saturating_sub(start_ns.max(*from_ns)));
    }
}

/// Makes the causes add up to the idle time.
fn close(times: &mut Times) {
    let idle_ns = times.span_ns.saturating_sub(times.busy_ns());
    let known_ns = times.idle_ns.values().fold(0_i64, |sum, one| sum.saturating_add(*one));
    if idle_ns != known_ns {
        let unknown_ns = times.idle_ns.entry(UNEXPLAINED.to_owned()).or_default();
        *unknown_ns = unknown_ns.saturating_add(idle_ns.saturating_sub(known_ns));
    }
    times.idle_ns.retain(|_, idle_ns| *idle_ns != 0);
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;

    #[test]
    fn iterations_cut_segments_and_gaps() {
        let segments = df!(
            "gpu" => [0_i64; 4],
            "start_ns" => [0_i64, 10, 30, 40],
            "end_ns" => [10_i64, 30, 40, 60],
            "compute" => [1_i64, 0, 0, 2],
            "comm" => [0_i64, 0, 1, 1],
            "copies" => [0_i64, 0, 1, 0],
        );
        let gaps = df!(
            "gpu" => [0_i64, 0],
            "start_ns" => [10_i64, 22],
            "end_ns" => [22_i64, 28],
            "cause" => ["host_bound", "sync"],
        );
        let found = gpu_times(&segments.unwrap(), &gaps.unwrap(), &[(5, 25), (25, 50)]).unwrap();
        let (run, iterations) = found.get(&0).unwrap();
        let idle = |times: &Times| times.idle_ns.iter().map(|(cause, ns)| (cause.clone(), *ns)).collect::<Vec<_>>();
        let named =
            |causes: &[(&str, i64)]| causes.iter().map(|(cause, ns)| ((*cause).to_owned(), *ns)).collect::<Vec<_>>();
        assert_eq!((run.span_ns, run.compute_ns, run.exposed_comm_ns, run.exposed_copy_ns), (60, 30, 10, 0));
        assert_eq!(idle(run), named(&[("host_bound", 12), ("no_record", 2), ("sync", 6)]));
        assert_eq!((iterations[0].span_ns, iterations[0].compute_ns), (20, 5));
        assert_eq!(idle(&iterations[0]), named(&[("host_bound", 12), ("sync", 3)]));
        assert_eq!((iterations[1].span_ns, iterations[1].busy_ns()), (25, 20));
    }
}
