//! `roofline.json`: work, traffic and roofs of all kernels.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use super::SCHEMA_VERSION;
use super::parts::Parts;
use crate::profiling::collecting::{PassOutcome, Recorded};
use crate::profiling::evidence::{Evidence, Row, deeper, timeline};
use crate::profiling::roof::Roofline;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: &'static str,
    kernel: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    roofline: Option<&'a Roofline>,
    /// Rows of `table roofline`, without what is not known.
    kernels: Vec<Row>,
    /// Rows of `table device_constants`: the roofs, and where they come from.
    device: Vec<Row>,
    passes: &'a [PassOutcome],
    absent: BTreeMap<&'static str, String>,
}

pub(super) fn document(recorded: &Recorded, evidence: &Evidence, parts: &Parts) -> Result<Value> {
    Ok(serde_json::to_value(Document {
        schema_version: SCHEMA_VERSION,
        kernel: &parts.kernel.name,
        roofline: parts.roofline.as_ref().ok(),
        kernels: evidence.records(&deeper::roofline(), |_, _| true),
        device: evidence.records(&timeline::constants(), |_, _| true),
        passes: &recorded.passes,
        absent: parts.absent(&["roofline"]),
    })?)
}
