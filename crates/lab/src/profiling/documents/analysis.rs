//! `analysis.json`: what limits the kernel, and what it is worth.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use super::SCHEMA_VERSION;
use super::parts::{Headroom, Parts};
use crate::profiling::bottlenecks::{Ranked, Verdict};
use crate::profiling::headroom::Score;
use crate::profiling::paths::CriticalPath;
use crate::profiling::trace_of_kernel::Att;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: &'static str,
    kernel: &'a str,
    bottleneck: &'a Verdict,
    bottlenecks: &'a [Ranked],
    #[serde(skip_serializing_if = "Option::is_none")]
    critical_path: Option<&'a CriticalPath>,
    #[serde(skip_serializing_if = "Option::is_none")]
    att: Option<&'a Att>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headroom: Option<&'a Headroom>,
    /// The most of the kernel's time that may be saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    headroom_fraction: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<Scores>,
    absent: BTreeMap<&'static str, String>,
}

#[derive(Serialize)]
struct Scores {
    low: Score,
    high: Score,
}

pub(super) fn document(parts: &Parts) -> Result<Value> {
    let headroom = parts.headroom.as_ref().ok();
    Ok(serde_json::to_value(Document {
        schema_version: SCHEMA_VERSION,
        kernel: &parts.kernel.name,
        bottleneck: &parts.verdict,
        bottlenecks: &parts.bottlenecks,
        critical_path: parts.path.as_ref().ok(),
        att: parts.att.as_ref().ok(),
        headroom,
        headroom_fraction: headroom.and_then(|headroom| headroom.kernel).map(|kernel| kernel.high),
        score: parts.score().map(|(low, high)| Scores { low, high }),
        absent: parts.absent(&["critical_path", "att", "headroom"]),
    })?)
}
