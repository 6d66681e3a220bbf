//! `dag.json`: the critical path.

use anyhow::Result;
use serde_json::{Value, json};

use super::parts::Parts;
use super::{SCHEMA_VERSION, known};
use crate::profiling::evidence::Evidence;
use crate::profiling::paths::{kernels, nodes};

pub(super) fn document(evidence: &Evidence, parts: &Parts) -> Result<Value> {
    let path = parts.path.as_ref().ok();
    // In order of time, each bound by its predecessor; the shortest are left out.
    let (nodes, nodes_left_out) = path.map(|path| nodes(evidence, path)).unwrap_or_default();
    let (slack, savings) = path.map(|path| kernels(evidence, path)).unwrap_or_default();
    known(json!({
        "schema_version": SCHEMA_VERSION,
        "critical_path": known(path)?,
        "nodes": nodes,
        "nodes_left_out": nodes_left_out,
        "slack": slack,
        "savings": savings,
        "absent": parts.absent(&["critical_path"]),
    }))
}
