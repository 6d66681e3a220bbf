//! Which call launched which kernels and copies: a flow for each, from the call to the GPU.

use anyhow::Result;
use itertools::izip;
use polars::prelude::DataFrame;

use super::rows::integers;
use super::write::Omitted;
use crate::columns::frames::values_by_text;

/// Flows that a viewer is given of one call.
const MAX_FLOWS: usize = 64;

/// Work of the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Kernel,
    Copy,
}

/// A call by its correlation id and start, and a flow that starts with it.
type Start = ((i64, i64), u64);

/// The flows of a process.
#[derive(Debug, Default)]
pub(super) struct Flows {
    seed: u64,
    starts: Vec<Start>,
    kernels: Vec<i64>,
    copies: Vec<i64>,
}

impl Flows {
    /// Those of the launches whose calls are among the regions. Work that starts before its call has none, and a call has 64 at
    /// most; both are counted.
    ///
    /// # Errors
    /// When a column is missing or has another type.
    pub(super) fn new(launches: &DataFrame, regions: &DataFrame, seed: u64, omitted: &mut Omitted) -> Result<Self> {
        let mut flows = Self { seed, ..Self::default() };
        if launches.height() == 0 || regions.height() == 0 {
            return Ok(flows);
        }
        let of = |name: &str| integers(launches, name);
        let kinds =
            values_by_text(launches.column("kind")?, |kind| if kind == "copy" { Work::Copy } else { Work::Kernel })?;
        let (ids, targets, calls, starts) =
            (of("correlation_id")?, of("target_id")?, of("api_start_ns")?, of("start_ns")?);
        let mut ends: Vec<((i64, i64), (i64, Work))> = Vec::with_capacity(launches.height());
        for (id, target, call, start, kind) in izip!(ids.iter(), targets.iter(), calls.iter(), starts.iter(), kinds) {
            let (Some(id), Some(target), Some(call_ns), Some(start_ns), Some(kind)) = (id, target, call, start, kind)
            else {
                continue;
            };
            if start_ns < call_ns {
                omitted.skewed_flows += 1;
            } else if call_ns > 0 {
                ends.push(((id, call_ns), (target, kind)));
            }
        }
        ends.sort_unstable_by_key(|((id, call_ns), (target, kind))| (*id, *call_ns, *kind == Work::Copy, *target));
        let known = integers(regions, "correlation_id")?;
        let known_starts = integers(regions, "start_ns")?;
        let mut calls: Vec<(i64, i64)> =
            izip!(known.iter(), known_starts.iter()).filter_map(|(id, start)| id.zip(start)).collect();
        if !calls.is_sorted() {
            calls.sort_unstable();
        }
        let mut calls = calls.into_iter().peekable();
        for one in ends.chunk_by(|one, other| one.0 == other.0) {
            let Some((call, _)) = one.first() else { continue };
            while calls.next_if(|known| known < call).is_some() {}
            if calls.peek() != Some(call) {
                continue;
            }
            omitted.flows_beyond += one.len().saturating_sub(MAX_FLOWS) as u64;
            for (_, (target, kind)) in one.iter().take(MAX_FLOWS) {
                flows.starts.push((*call, flows.id(*kind, *target)));
                if *kind == Work::Kernel { &mut flows.kernels } else { &mut flows.copies }.push(*target);
            }
        }
        flows.kernels.sort_unstable();
        flows.copies.sort_unstable();
        Ok(flows)
    }

    fn id(&self, kind: Work, target: i64) -> u64 {
        let is_copy = u64::from(kind == Work::Copy);
        (mixed(self.seed ^ mixed(target as u64 ^ is_copy << 63)) & !1 | is_copy).max(2)
    }

    /// Adds the flows that start with a call.
    pub(super) fn starting(&self, id: Option<i64>, start_ns: i64, into: &mut Vec<u64>) {
        let Some(id) = id else { return };
        let call = (id, start_ns);
        let first = self.starts.partition_point(|(known, _)| *known < call);
        let of_call = self.starts.get(first..).unwrap_or_default().iter().take_while(|(known, _)| *known == call);
        into.extend(of_call.map(|(_, flow)| flow));
    }

    /// The flow that ends with this work.
    pub(super) fn ending(&self, kind: Work, target: i64) -> Option<u64> {
        let ids = if kind == Work::Kernel { &self.kernels } else { &self.copies };
        ids.binary_search(&target).ok().map(|_| self.id(kind, target))
    }
}

/// A number in which every bit depends on all bits (splitmix64).
fn mixed(value: u64) -> u64 {
    let mut value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (value ^ value >> 31).max(1)
}
