//! How close the kernel comes to the limits of the GPU.

use serde::Serialize;

use super::evidence::{Evidence, deeper};

/// Levels of memory that may bound a kernel.
const MEMORY: [&str; 4] = ["hbm", "l2", "l1", "lds"];

/// Work, traffic and roof of a kernel. Values that were not counted are absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Roofline {
    pub flops: Option<f64>,
    /// Bytes between L2 and memory.
    pub bytes: Option<f64>,
    /// FLOPs per byte of that traffic.
    pub arithmetic_intensity: Option<f64>,
    pub achieved_gflops: Option<f64>,
    pub achieved_bandwidth_gbps: Option<f64>,
    /// `memory` or `compute`.
    pub bound: Option<&'static str>,
    /// The unit or memory level that determines the roof: `valu`, `mfma`, `lds`, `l1`, `l2` or `hbm`.
    pub limit: Option<String>,
    /// GFLOP/s that the roof allows.
    pub attainable_gflops: Option<f64>,
    /// Time of the roof over the measured time, in the counter passes.
    pub efficiency: Option<f64>,
    /// Dispatches with counters, and their time.
    pub dispatches: i64,
    pub time_ns: f64,
}

pub fn roofline(evidence: &Evidence, kernel: &str) -> Result<Roofline, String> {
    let question = deeper::roofline();
    let Some(row) = evidence.row_of(&question, kernel) else {
        let is_there = !evidence.rows(&question).is_empty();
        return Err(if is_there { "the kernel was not counted".to_owned() } else { evidence.why_not(&question) });
    };
    let rows = evidence.rows(&question);
    let number = |column: &str| rows.number(row, column);
    let limit = rows.text(row, "bound").map(ToOwned::to_owned);
    let found = Roofline {
        flops: number("flops"),
        bytes: number("bytes_hbm"),
        arithmetic_intensity: number("intensity_hbm"),
        achieved_gflops: number("gflops"),
        achieved_bandwidth_gbps: number("hbm_gbps"),
        bound: limit.as_deref().map(|limit| if MEMORY.contains(&limit) { "memory" } else { "compute" }),
        limit,
        attainable_gflops: number("roof_gflops"),
        efficiency: number("pct_of_roof").map(|pct| pct / 100.0),
        dispatches: rows.integer(row, "dispatches").unwrap_or(0),
        time_ns: number("time_ns").unwrap_or(0.0),
    };
    if found.flops.is_none() && found.bytes.is_none() && found.efficiency.is_none() {
        return Err("not all counters of the work or of the traffic were collected".to_owned());
    }
    Ok(found)
}
