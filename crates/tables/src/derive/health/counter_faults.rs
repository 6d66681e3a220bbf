//! Counters with known faults in a release of ROCm or with a setting of the GPU.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use crate::derive::health::dead_counters::{zeros, zeros_by_name};
use wavesieve_model::analysis::counter_plan::RocmVersion;
use wavesieve_model::analysis::hardware::counter_faults::counter_faults;
use wavesieve_model::schema::anomaly::{Anomaly, Severity};
use wavesieve_model::schema::facts::ProcessFacts;

/// Finds counters of a process that are known to be wrong on its GPUs.
pub fn check(counters: &DataFrame, facts: &ProcessFacts) -> Result<Vec<Anomaly>> {
    let rocm = facts.rocm_version.as_deref().and_then(RocmVersion::recorded);
    let gpus = || facts.agents.iter().filter(|agent| agent.is_gpu());
    if counters.height() == 0 || gpus().all(|gpu| counter_faults(&gpu.name, rocm).next().is_none()) {
        return Ok(Vec::new());
    }
    let each = zeros(counters)?;
    let all = zeros_by_name(&each)?;
    let mut found: BTreeMap<&str, Anomaly> = BTreeMap::new();
    for fault in gpus().flat_map(|gpu| counter_faults(&gpu.name, rocm)) {
        let of_fault = all.iter().filter(|(name, zero)| fault.is_of(name) && (**zero || !fault.is_zero));
        let named: Vec<&str> = of_fault.map(|(name, _)| *name).collect();
        let Some(first) = named.first() else { continue };
        found.entry(&fault.says).or_insert_with(|| {
            let severity = if fault.is_zero { Severity::Warning } else { Severity::Info };
            let detail = format!("{}: {}", fault.says, named.join(", "));
            Anomaly::new("known_counter_fault", severity, "counters", named.len(), detail).first(Some(first))
        });
    }
    Ok(found.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavesieve_model::schema::facts::AgentFacts;

    fn facts(architecture: &str, rocm: Option<&str>) -> ProcessFacts {
        let agent = AgentFacts { agent_type: "GPU".to_owned(), name: architecture.to_owned(), ..AgentFacts::default() };
        ProcessFacts { agents: vec![agent], rocm_version: rocm.map(ToOwned::to_owned), ..ProcessFacts::default() }
    }

    #[test]
    fn known_faults_are_reported_where_they_may_be() {
        let frame = |requests: f64| {
            df!("counter" => ["SQ_WAVES", "TCP_REQ_sum", "TCP_REQ_sum"], "value" => [8.0, 0.0, requests]).unwrap()
        };
        let found = |architecture: &str, rocm: Option<&str>, requests: f64| {
            let found = check(&frame(requests), &facts(architecture, rocm)).unwrap();
            found.into_iter().filter_map(|one| one.first_key).collect::<Vec<String>>()
        };
        assert_eq!(found("gfx1151", Some("7.2"), 0.0), ["SQ_WAVES", "TCP_REQ_sum"]);
        assert_eq!(found("gfx1151", Some("10.1"), 0.0), ["TCP_REQ_sum"]);
        assert_eq!(found("gfx1151", Some("10.1"), 5.0), [""; 0]);
        assert_eq!(found("gfx1100", None, 0.0), ["SQ_WAVES"]);
        assert_eq!(found("gfx942:sramecc+:xnack-", None, 0.0), [""; 0]);
    }
}
