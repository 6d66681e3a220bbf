//! Counters of the L2 cache of gfx115x, where releases of rocprofiler-sdk before February 2026 read only 4 of 8 instances (rocm-systems
//! pull request 3100).

use anyhow::Result;
use polars::prelude::*;

use wavesieve_model::schema::anomaly::{Anomaly, Severity};
use wavesieve_model::schema::facts::AgentFacts;

const ARCHITECTURES: &str = "gfx115";
const BLOCK: &str = "GL2C_";
/// Derived counters that are sums over the instances of the block.
const SUMS: [&str; 2] = ["FETCH_SIZE", "WRITE_SIZE"];
/// Number of instances that were read, and number of all instances.
const READ: i64 = 4;
const ALL: i64 = 8;

/// Finds values that miss half of the instances, or that do not state how many they have.
pub fn check(counters: &DataFrame, agents: &[AgentFacts]) -> Result<Option<Anomaly>> {
    if counters.height() == 0 || !agents.iter().any(|agent| agent.name.starts_with(ARCHITECTURES)) {
        return Ok(None);
    }
    let each = counters
        .clone()
        .lazy()
        .group_by([col("counter").cast(DataType::String)])
        .agg([col("instances").max()])
        .sort(["counter"], SortMultipleOptions::default())
        .collect()?;
    let names = each.column("counter")?.str()?.clone();
    let instances = each.column("instances")?.i64()?.clone();
    let of_block: Vec<(&str, i64)> = names
        .iter()
        .zip(instances.iter())
        .filter_map(|(name, instances)| Some((name?, instances.unwrap_or(1))))
        .filter(|(name, _)| name.starts_with(BLOCK) || SUMS.contains(name))
        .collect();
    let most = of_block.iter().map(|(_, instances)| *instances).max().unwrap_or(0);
    let (severity, detail) = match most {
        ..=0 => return Ok(None),
        1 => (
            Severity::Info,
            format!(
                "sums over instances of GL2C do not state how many there are: releases of rocprofiler-sdk before February 2026 read {READ} \
                 of the {ALL} of gfx115x, so that values were about half"
            ),
        ),
        2..=READ => (
            Severity::Warning,
            format!(
                "GL2C was read in {most} of {ALL} instances, as by releases of rocprofiler-sdk before February 2026: sums, FETCH_SIZE and \
                 WRITE_SIZE are about half; collect again with a newer release"
            ),
        ),
        _ => return Ok(None),
    };
    let found = Anomaly::new("gl2c_instances", severity, "counters", of_block.len(), detail);
    Ok(Some(found.first(of_block.first().map(|(name, _)| *name))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(architecture: &str, rows: &[(&str, i64)]) -> Option<(Severity, i64)> {
        let counters = df!(
            "counter" => rows.iter().map(|row| row.0).collect::<Vec<_>>(),
            "instances" => rows.iter().map(|row| row.1).collect::<Vec<_>>(),
        )
        .unwrap();
        let agents = [AgentFacts { name: architecture.to_owned(), ..AgentFacts::default() }];
        check(&counters, &agents).unwrap().map(|anomaly| (anomaly.severity, anomaly.count))
    }

    #[test]
    fn half_of_the_instances_is_a_warning_and_an_unknown_number_a_note() {
        assert_eq!(
            found("gfx1151", &[("GL2C_HIT", 4), ("GL2C_MISS", 4), ("SQ_WAVES", 20)]),
            Some((Severity::Warning, 2))
        );
        assert_eq!(found("gfx1151", &[("GL2C_HIT", 8), ("FETCH_SIZE", 1)]), None);
        assert_eq!(found("gfx1150", &[("FETCH_SIZE", 1), ("SQ_WAVES", 4)]), Some((Severity::Info, 1)));
        assert_eq!(found("gfx1152", &[("GL2C_HIT_sum", 1), ("GL2C_HIT", 4)]), Some((Severity::Warning, 2)));
        assert_eq!(found("gfx1151", &[("SQ_WAVES", 4)]), None);
        assert_eq!(found("gfx1100", &[("GL2C_HIT", 4), ("FETCH_SIZE", 1)]), None);
        assert_eq!(found("gfx942", &[("FETCH_SIZE", 1)]), None);
    }
}
