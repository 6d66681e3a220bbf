//! Which call launched which kernels and copies: a flow for each, from the call to the GPU.

use std::collections::BTreeMap;

use anyhow::Result;
use itertools::izip;
use polars::prelude::DataFrame;

use crate::columns::frames::values_by_text;
use crate::columns::values::I64Values;

/// The flows of a process.
#[derive(Debug, Default)]
pub(super) struct Flows {
    /// By correlation id and start of the call.
    starting: BTreeMap<(i64, i64), Vec<u64>>,
    kernels: BTreeMap<i64, u64>,
    copies: BTreeMap<i64, u64>,
}

impl Flows {
    /// Those of the launches whose calls are among the regions; GPU work that starts before its call has none, which is counted.
    ///
    /// # Errors
    /// When a column is missing or has another type.
    pub(super) fn new(launches: &DataFrame, regions: &DataFrame, seed: u64, skewed: &mut u64) -> Result<Self> {
        let mut flows = Self::default();
        if launches.height() == 0 {
            return Ok(flows);
        }
        let of =
            |frame: &DataFrame, name: &str| -> Result<I64Values> { Ok(I64Values::new(frame.column(name)?.i64()?)) };
        let mut calls: Vec<(i64, i64)> = izip!(of(regions, "correlation_id")?.iter(), of(regions, "start_ns")?.iter())
            .filter_map(|(id, start)| id.zip(start))
            .collect();
        calls.sort_unstable();
        let is_copy = values_by_text(launches.column("kind")?, |kind| kind == "copy")?;
        let (ids, targets) = (of(launches, "correlation_id")?, of(launches, "target_id")?);
        let (calls_at, starts) = (of(launches, "api_start_ns")?, of(launches, "start_ns")?);
        for (id, target, call, start, is_copy) in
            izip!(ids.iter(), targets.iter(), calls_at.iter(), starts.iter(), is_copy)
        {
            let (Some(id), Some(target), Some(call_ns), Some(start_ns)) = (id, target, call, start) else { continue };
            if start_ns < call_ns {
                *skewed += 1;
                continue;
            }
            if calls.binary_search(&(id, call_ns)).is_err() {
                continue;
            }
            let is_copy = is_copy == Some(true);
            let flow = mixed(seed ^ mixed(target as u64 ^ u64::from(is_copy) << 63));
            let known = flows.starting.entry((id, call_ns)).or_default();
            // More than a viewer is given of one call.
            if known.len() >= MAX_FLOWS {
                continue;
            }
            known.push(flow);
            if is_copy { &mut flows.copies } else { &mut flows.kernels }.insert(target, flow);
        }
        Ok(flows)
    }

    /// Adds the flows that start with a call.
    pub(super) fn starting(&self, correlation_id: Option<i64>, start_ns: i64, into: &mut Vec<u64>) {
        if let Some(flows) = correlation_id.and_then(|id| self.starting.get(&(id, start_ns))) {
            into.extend(flows);
        }
    }

    pub(super) fn kernel(&self, dispatch_id: i64) -> Option<u64> {
        self.kernels.get(&dispatch_id).copied()
    }

    pub(super) fn copy(&self, copy_id: i64) -> Option<u64> {
        self.copies.get(&copy_id).copied()
    }
}

const MAX_FLOWS: usize = 64;

/// A number in which every bit depends on all bits (splitmix64).
fn mixed(value: u64) -> u64 {
    let mut value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (value ^ value >> 31).max(1)
}
