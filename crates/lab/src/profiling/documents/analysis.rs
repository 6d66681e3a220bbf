//! `analysis.json`: the limits of the kernel, and its potential saving.

use anyhow::Result;
use serde_json::{Value, json};

use super::parts::Parts;
use super::{SCHEMA_VERSION, known};

pub(super) fn document(parts: &Parts) -> Result<Value> {
    let headroom = parts.headroom.as_ref().ok();
    known(json!({
        "schema_version": SCHEMA_VERSION,
        "kernel": parts.kernel.name,
        "bottleneck": parts.verdict,
        "bottlenecks": parts.bottlenecks,
        "critical_path": known(parts.path.as_ref().ok())?,
        "att": known(parts.att.as_ref().ok())?,
        "headroom": known(headroom)?,
        // The maximum potential saving of the kernel's time.
        "headroom_fraction": headroom.and_then(|headroom| headroom.kernel).map(|kernel| kernel.high),
        "score": parts.score().map(|(low, high)| json!({ "low": low, "high": high })),
        "absent": parts.absent(&["critical_path", "att", "headroom"]),
    }))
}
