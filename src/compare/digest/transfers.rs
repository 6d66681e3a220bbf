//! Collectives without the waits for other ranks: a straggler makes the durations of everybody else longer, but not the transfer.

use std::collections::BTreeMap;

use anyhow::Result;
use itertools::izip;
use polars::prelude::{DataFrame, DataType};

use super::kernel_calls::{Dispatch, KernelCalls};
use super::model::GpuDigest;
use super::take::iteration_at;
use crate::columns::requests::Request;
use crate::columns::values::I64Values;

const TABLE: &str = "collective_kernels";

/// What is read of all processes together.
pub(super) fn request() -> Request {
    Request::from([(TABLE, ["kernel_name", "gpu", "start_ns", "dispatch_id", "duration_ns", "collective"].into())])
}

/// A dispatch of a collective.
struct Member {
    start_ns: i64,
    dispatch_id: i64,
    duration_ns: i64,
    collective: Option<i64>,
}

/// Replaces the durations of communication kernels all of whose dispatches have partners by the least durations of their collectives,
/// and adds up what is left as waits. `iterations` are the steady ones of each process.
///
/// # Errors
/// When a column is missing or has another type.
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
    let names = collectives.column("kernel_name")?.cast(&DataType::String)?;
    let mut partners: BTreeMap<i64, (i64, usize)> = BTreeMap::new();
    let mut kernels: BTreeMap<(i64, i64, &str), Vec<Member>> = BTreeMap::new();
    for (process, gpu, start, id, duration, collective, name) in izip!(
        processes.iter(),
        indices.iter(),
        starts.iter(),
        ids.iter(),
        durations.iter(),
        numbers.iter(),
        names.str()?.iter()
    ) {
        let (Some(process), Some(gpu), Some(start_ns), Some(duration_ns)) = (process, gpu, start, duration) else {
            continue;
        };
        if let Some(collective) = collective {
            let (least_ns, count) = partners.entry(collective).or_insert((duration_ns, 0));
            (*least_ns, *count) = ((*least_ns).min(duration_ns), *count + 1);
        }
        let member = Member { start_ns, dispatch_id: id.unwrap_or_default(), duration_ns, collective };
        kernels.entry((process, gpu, name.unwrap_or_default())).or_default().push(member);
    }
    let transfer_ns = |member: &Member| {
        let (least_ns, count) = partners.get(&member.collective?)?;
        (*count > 1).then_some(*least_ns)
    };
    for ((process, index, name), mut members) in kernels {
        let Some(gpu) = gpus.iter_mut().find(|gpu| gpu.process == process && gpu.gpu == index) else { continue };
        let Some(kernel) = gpu.kernels.iter_mut().find(|kernel| kernel.name == name) else { continue };
        if members.iter().any(|member| transfer_ns(member).is_none()) {
            continue;
        }
        members.sort_by_key(|member| (member.start_ns, member.dispatch_id));
        let own = iterations.get(&process).map_or(&[][..], Vec::as_slice);
        let mut calls = KernelCalls::default();
        for member in &members {
            let duration_ns = transfer_ns(member).unwrap_or(member.duration_ns);
            let (wait_ns, iteration) =
                (member.duration_ns.saturating_sub(duration_ns), iteration_at(own, member.start_ns));
            gpu.waits_ns.0 = gpu.waits_ns.0.saturating_add(wait_ns);
            if iteration.is_some() {
                gpu.waits_ns.1 = gpu.waits_ns.1.saturating_add(wait_ns);
            }
            calls.add(Dispatch { duration_ns, iteration, sizes: [0; 6] });
        }
        let transfers = calls.finish(kernel.name.clone(), kernel.category.clone(), own.len());
        *kernel = super::model::KernelDigest { is_transfer: true, ..transfers };
    }
    Ok(())
}
