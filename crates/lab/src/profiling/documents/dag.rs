//! `dag.json`: the critical path.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use super::SCHEMA_VERSION;
use super::parts::Parts;
use crate::profiling::evidence::{Evidence, Row};
use crate::profiling::paths::{CriticalPath, kernels, nodes};

#[derive(Serialize)]
struct Document<'a> {
    schema_version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    critical_path: Option<&'a CriticalPath>,
    /// Parts in order of time, each bound by the one before; rows of `table critical_path`.
    nodes: Vec<Row>,
    /// Shorter parts that are not among them.
    nodes_left_out: i64,
    /// Rows of `table kernel_slack` and `table what_if_free`.
    slack: Vec<Row>,
    savings: Vec<Row>,
    absent: BTreeMap<&'static str, String>,
}

pub(super) fn document(evidence: &Evidence, parts: &Parts) -> Result<Value> {
    let path = parts.path.as_ref().ok();
    let (nodes, nodes_left_out) = path.map(|path| nodes(evidence, path)).unwrap_or_default();
    let (slack, savings) = path.map(|path| kernels(evidence, path)).unwrap_or_default();
    let absent = parts.absent(&["critical_path"]);
    Ok(serde_json::to_value(Document {
        schema_version: SCHEMA_VERSION,
        critical_path: path,
        nodes,
        nodes_left_out,
        slack,
        savings,
        absent,
    })?)
}
