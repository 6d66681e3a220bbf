//! `roofline.json`: work, traffic and roofs of all kernels.

use anyhow::Result;
use serde_json::{Value, json};

use super::parts::Parts;
use super::{SCHEMA_VERSION, known};
use crate::profiling::collecting::Recorded;
use crate::profiling::evidence::{Evidence, deeper, timeline};

pub(super) fn document(recorded: &Recorded, evidence: &Evidence, parts: &Parts) -> Result<Value> {
    known(json!({
        "schema_version": SCHEMA_VERSION,
        "kernel": parts.kernel.name,
        "roofline": known(parts.roofline.as_ref().ok())?,
        "kernels": evidence.records(&deeper::roofline(), |_, _| true),
        "device": evidence.records(&timeline::constants(), |_, _| true),
        "passes": recorded.passes,
        "absent": parts.absent(&["roofline"]),
    }))
}
