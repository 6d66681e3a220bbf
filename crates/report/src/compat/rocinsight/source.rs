//! Source code in a document.

use serde_json::{Value, json};

use wavesieve_engine::findings::Finding;
use wavesieve_source::scan::SourceScan;

/// Prefix of the ids of suggestions from source code.
const IDS: &str = "ROCPD-T0-";

/// Whether only source code suggests a finding.
pub fn is_of_source(finding: &Finding) -> bool {
    finding.id.starts_with(IDS)
}

/// Suggestions from source code, as recommendations.
pub(crate) fn source_recommendations(scan: &SourceScan) -> Value {
    json!(scan.recommendations)
}

/// The source code tier.
pub(crate) fn source_tier(scan: &SourceScan, timestamp: &str) -> Value {
    let mut tier = json!(scan);
    if let Some(fields) = tier.as_object_mut() {
        fields.insert("analysis_timestamp".to_owned(), json!(timestamp));
        fields.insert("llm_explanation".to_owned(), Value::Null);
    }
    tier
}
