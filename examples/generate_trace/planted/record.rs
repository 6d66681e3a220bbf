//! The record of a run, handed to writers, and the sums that it knows of itself.

use anyhow::Result;
use serde_json::{Value, json};

use super::{Planted, Sample};
use crate::model::{Activity, Sink};
use crate::perfetto::Scheduled;

impl Planted {
    /// Hands everything to a writer; returns when the process ended.
    pub fn write(&self, sink: &mut dyn Sink) -> Result<u64> {
        for region in &self.regions {
            sink.record(&Activity::Region(region.clone()))?;
        }
        for dispatch in &self.dispatches {
            sink.record(&Activity::Dispatch(dispatch.clone()))?;
        }
        for allocation in &self.allocations {
            sink.record(&Activity::Allocation(allocation.clone()))?;
        }
        for copy in &self.copies {
            sink.record(&Activity::Copy(copy.clone()))?;
        }
        Ok(self.end_ns)
    }

    /// Values of the sensors of the GPU.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Changes by the scheduler.
    pub fn scheduled(&self) -> &[(u64, Scheduled)] {
        &self.scheduled
    }

    /// The sums that the run knows of itself.
    pub fn truth(&self) -> Value {
        let truth = &self.truth;
        json!({
            "host_bound_ns": truth.host_bound_ns,
            "blocked_ns": truth.blocked_ns,
            "exposed_ns": truth.exposed_ns,
            "steps_ns": truth.steps_ns,
            "compute_ns": truth.compute_ns,
            "collective_ns": truth.collective_ns,
            "waiting_ns": truth.waiting_ns,
            "excess_ns": truth.excess_ns,
            "leaked_bytes": truth.leaked_bytes,
        })
    }
}
