//! Gives the records of a step their ids, in the order of time, and passes them to the writer.

use anyhow::{Context, Result};

use crate::model::{Activity, Allocation, Copy, CounterValues, Dispatch, Mark, Region, Setup, Sink};
use crate::random::Random;
use crate::step::{AllocationDraft, CopyDraft, DispatchDraft, Step};

/// The last id given of each kind.
#[derive(Debug, Default)]
pub struct Ids {
    correlation: i64,
    dispatch: i64,
    copy: i64,
    allocation: i64,
    mark: i64,
}

/// Hands everything over: calls first, then what they caused, each in the order of its ids.
pub fn flush(mut step: Step, ids: &mut Ids, setup: &Setup, sink: &mut dyn Sink) -> Result<()> {
    let correlations = correlate(&step, ids);
    let traced = step.plan.traced;
    let correlation = |call: usize| correlations.get(call).copied().context("call without id");

    let mut calls: Vec<_> = std::mem::take(&mut step.calls).into_iter().zip(&correlations).collect();
    calls.sort_unstable_by_key(|(_, id)| **id);
    let mut marks = Vec::new();
    for (call, id) in calls {
        if call.name == "roctxMarkA" {
            ids.mark += 1;
            marks.push(Mark {
                id: ids.mark,
                correlation_id: *id,
                thread_id: call.thread_id,
                message: call.message.unwrap_or_default(),
                time_ns: call.start_ns,
            });
        } else if traced {
            sink.record(&Activity::Region(Region {
                id: *id,
                parent_id: call.parent.map_or(Ok(0), correlation)?,
                thread_id: call.thread_id,
                domain: call.domain,
                name: call.name,
                message: call.message,
                start_ns: call.start_ns,
                end_ns: call.end_ns,
                arguments: call.arguments,
            }))?;
        }
    }

    let mut dispatches = std::mem::take(&mut step.dispatches);
    dispatches.sort_by_key(|draft| correlations.get(draft.call).copied());
    for draft in dispatches {
        ids.dispatch += 1;
        let dispatch = dispatch(&draft, ids.dispatch, correlation(draft.call)?, setup, step.random)?;
        sink.record(&Activity::Dispatch(dispatch))?;
    }

    let mut copies = std::mem::take(&mut step.copies);
    copies.sort_by_key(|draft| correlations.get(draft.call).copied());
    for draft in copies {
        ids.copy += 1;
        let copy = copy(&draft, ids.copy, correlation(draft.call)?);
        sink.record(&Activity::Copy(copy))?;
    }
    for draft in std::mem::take(&mut step.allocations) {
        ids.allocation += 1;
        let correlation_id = draft.call.map_or(Ok(0), correlation)?;
        let allocation = allocation(&draft, ids.allocation, correlation_id);
        sink.record(&Activity::Allocation(allocation))?;
    }
    for mark in marks {
        sink.record(&Activity::Mark(mark))?;
    }
    Ok(())
}

/// Correlation ids in the order calls were entered, over all threads.
fn correlate(step: &Step, ids: &mut Ids) -> Vec<i64> {
    let mut order: Vec<usize> = (0..step.calls.len()).collect();
    // Drafts of a thread are in order already, so a stable sort keeps parents before their children.
    order.sort_by_key(|index| step.calls.get(*index).map(|call| call.start_ns));
    let mut correlations = vec![0; order.len()];
    for index in order {
        ids.correlation += 1;
        if let Some(correlation) = correlations.get_mut(index) {
            *correlation = ids.correlation;
        }
    }
    correlations
}

fn dispatch(
    draft: &DispatchDraft,
    id: i64,
    correlation_id: i64,
    setup: &Setup,
    random: &mut Random,
) -> Result<Dispatch> {
    let symbol = setup.symbols.get(draft.symbol).context("no symbol")?;
    let template = symbol.template;
    let duration_us = (draft.end_ns - draft.start_ns).div_ceil(1_000);
    let here = setup.counters.iter().filter(|counter| counter.collected && counter.agent_id == draft.agent_id);
    let counters = here.map(|counter| CounterValues {
        counter_id: counter.id,
        instances: (0..counter.instances)
            .map(|_| match counter.template.rate_per_us {
                0 => random.between(1_000, 9_500) as f64 / 100.0,
                rate => random.around(rate * duration_us) as f64,
            })
            .collect(),
    });
    Ok(Dispatch {
        id,
        correlation_id,
        thread_id: draft.thread_id,
        agent_id: draft.agent_id,
        kernel_id: symbol.id,
        queue_id: draft.queue_id,
        stream_id: draft.stream_id,
        start_ns: draft.start_ns,
        end_ns: draft.end_ns,
        scratch_bytes: template.scratch_bytes,
        lds_bytes: template.lds_bytes,
        workgroup: template.workgroup,
        grid: template.grid(),
        counters: counters.collect(),
    })
}

fn copy(draft: &CopyDraft, id: i64, correlation_id: i64) -> Copy {
    Copy {
        id,
        correlation_id,
        thread_id: draft.thread_id,
        name: draft.name,
        source_agent_id: draft.source_agent_id,
        target_agent_id: draft.target_agent_id,
        source_address: 0x7D00_0000_0000 + draft.bytes as i64,
        target_address: 0x7E00_4000_0000 + draft.bytes as i64,
        bytes: draft.bytes as i64,
        stream_id: draft.stream_id,
        start_ns: draft.start_ns,
        end_ns: draft.end_ns,
    }
}

fn allocation(draft: &AllocationDraft, id: i64, correlation_id: i64) -> Allocation {
    Allocation {
        id,
        correlation_id,
        thread_id: draft.thread_id,
        agent_id: draft.agent_id,
        operation: draft.operation,
        level: draft.level,
        address: draft.address,
        bytes: draft.bytes,
        queue_id: draft.queue_id,
        flags: draft.queue_id.map(|_| 2),
        start_ns: draft.start_ns,
        end_ns: draft.end_ns,
    }
}
