//! Collectives without the waits for other ranks. A straggler makes the durations on all other ranks longer, but not
//! the transfer.

use std::collections::BTreeMap;

use anyhow::Result;
use itertools::izip;
use polars::prelude::{DataFrame, DataType};

use super::kernel_calls::{Dispatch, KernelCalls};
use super::model::{GpuDigest, KernelDigest};
use super::units::unit_at;
use wavesieve_tables::columns::requests::Request;
use wavesieve_tables::columns::values::I64Values;

const TABLE: &str = "collective_kernels";

/// Columns to read from all processes together.
pub(super) fn request() -> Request {
    let columns = ["kernel_name", "gpu", "start_ns", "dispatch_id", "duration_ns", "collective", "ranks", "gpus"];
    Request::from([(TABLE, columns.into())])
}

/// A dispatch of a collective; `collective` is `None` if some of its calls are not recorded.
struct Member {
    start_ns: i64,
    dispatch_id: i64,
    duration_ns: i64,
    collective: Option<i64>,
}

/// Adds communication kernels with the minimum durations of their collectives. Only kernels all of whose dispatches
/// have partners on all ranks of their communicator are added. `iterations` are the steady ones of each process.
pub(super) fn separate(
    gpus: &mut [GpuDigest],
    collectives: &DataFrame,
    iterations: &BTreeMap<i64, Vec<(i64, i64)>>,
) -> Result<()> {
    let integers = |name: &str| -> Result<I64Values> {
        Ok(I64Values::new(collectives.column(name)?.cast(&DataType::Int64)?.i64()?))
    };
    let (processes, indices, starts) = (integers("process")?, integers("gpu")?, integers("start_ns")?);
    let (ids, durations, numbers) = (integers("dispatch_id")?, integers("duration_ns")?, integers("collective")?);
    let (ranks, found) = (integers("ranks")?, integers("gpus")?);
    let names = collectives.column("kernel_name")?.cast(&DataType::String)?;
    let mut least: BTreeMap<i64, i64> = BTreeMap::new();
    let mut kernels: BTreeMap<(i64, i64, &str), Vec<Member>> = BTreeMap::new();
    for (process, gpu, start, id, duration, collective, ranks, found, name) in izip!(
        processes.iter(),
        indices.iter(),
        starts.iter(),
        ids.iter(),
        durations.iter(),
        numbers.iter(),
        ranks.iter(),
        found.iter(),
        names.str()?.iter()
    ) {
        let (Some(process), Some(gpu), Some(start_ns), Some(duration_ns)) = (process, gpu, start, duration) else {
            continue;
        };
        let is_whole = found.is_some_and(|found| found > 1 && ranks.is_none_or(|ranks| ranks <= found));
        let collective = collective.filter(|_| is_whole);
        if let Some(collective) = collective {
            let least_ns = least.entry(collective).or_insert(duration_ns);
            *least_ns = (*least_ns).min(duration_ns);
        }
        let member = Member { start_ns, dispatch_id: id.unwrap_or_default(), duration_ns, collective };
        kernels.entry((process, gpu, name.unwrap_or_default())).or_default().push(member);
    }
    let transfer_ns = |member: &Member| least.get(&member.collective?).copied();
    for ((process, index, name), mut members) in kernels {
        let Some(gpu) = gpus.iter_mut().find(|gpu| gpu.process == process && gpu.gpu == index) else { continue };
        let Some(category) =
            gpu.kernels.iter().find(|kernel| kernel.name == name).map(|kernel| kernel.category.clone())
        else {
            continue;
        };
        if members.iter().any(|member| transfer_ns(member).is_none()) {
            continue;
        }
        members.sort_by_key(|member| (member.start_ns, member.dispatch_id));
        let own = iterations.get(&process).map_or(&[][..], Vec::as_slice);
        let mut calls = KernelCalls::default();
        for member in &members {
            let duration_ns = transfer_ns(member).unwrap_or(member.duration_ns);
            calls.add(Dispatch { duration_ns, iteration: unit_at(own, member.start_ns), sizes: [0; 7] });
        }
        let transfers = calls.finish(name.to_owned(), category, own.len());
        gpu.transfers.push(KernelDigest { is_transfer: true, ..transfers });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;

    /// Two recorded calls of a collective on two GPUs, on a communicator with this number of ranks.
    fn transfers(ranks: i64) -> usize {
        let frame = df!(
            "process" => [0_i64, 1, 0, 1],
            "kernel_name" => ["allreduce"; 4],
            "gpu" => [0_i64, 1, 0, 1],
            "start_ns" => [0_i64, 10, 100, 110],
            "dispatch_id" => [1_i64, 1, 2, 2],
            "duration_ns" => [50_i64, 40, 50, 40],
            "collective" => [0_i64, 0, 1, 1],
            "ranks" => [ranks; 4],
            "gpus" => [2_i64; 4],
        );
        let gpu = |process: i64| GpuDigest {
            process,
            gpu: process,
            kernels: vec![KernelDigest { name: "allreduce".to_owned(), ..KernelDigest::default() }],
            ..GpuDigest::default()
        };
        let mut gpus = [gpu(0), gpu(1)];
        separate(&mut gpus, &frame.unwrap(), &BTreeMap::new()).unwrap();
        assert!(gpus.iter().flat_map(|gpu| &gpu.transfers).all(|kernel| kernel.run.total_ns == 80));
        gpus.iter().map(|gpu| gpu.transfers.len()).sum()
    }

    #[test]
    fn ranks_that_were_not_recorded_may_have_been_the_last() {
        assert_eq!((transfers(2), transfers(4)), (2, 0));
    }
}
