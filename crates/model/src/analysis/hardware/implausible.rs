//! Values of counters and metrics that cannot be right.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::metrics::recorded_counter;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ImplausibleFile {
    block: Vec<Block>,
    cycles: Vec<CycleCounters>,
    pass: Vec<PassCounters>,
    shares: Shares,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    #[serde(rename = "block")]
    _name: String,
    prefixes: Vec<String>,
    never: Vec<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CycleCounters {
    counters: Vec<String>,
    instances: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PassCounters {
    prefixes: Vec<String>,
    factor: f64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shares {
    above_pct: f64,
    below_pct: f64,
    metrics: Vec<String>,
}

fn file() -> &'static ImplausibleFile {
    shared!(ImplausibleFile, "share/implausible_counters.toml")
}

/// The counters that are 0 because their block did not count. `all_zero` states for each collected counter whether it
/// is 0 in every dispatch.
pub fn dead_counters<'a>(all_zero: &BTreeMap<&'a str, bool>) -> BTreeSet<&'a str> {
    let mut known: BTreeMap<&str, bool> = BTreeMap::new();
    for (name, is_zero) in all_zero {
        *known.entry(recorded_counter(name)).or_insert(true) &= is_zero;
    }
    let is_zero = |name: &String| known.get(name.as_str()) == Some(&true);
    let mut dead = BTreeSet::new();
    for block in file().block.iter().filter(|block| block.never.iter().any(|group| group.iter().all(is_zero))) {
        let is_of_block =
            |name: &str| block.prefixes.iter().any(|prefix| recorded_counter(name).starts_with(prefix.as_str()));
        dead.extend(all_zero.iter().filter(|(name, is_zero)| **is_zero && is_of_block(name)).map(|(name, _)| *name));
    }
    dead
}

/// A counter of cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycles {
    /// The constant of the device with the number of instances that its value is the sum of; `None` for the value of a
    /// single instance.
    pub instances: Option<&'static str>,
    /// Whether every die counts the same cycles.
    pub is_of_dies: bool,
}

/// Whether a counter, as it is collected, counts cycles, and in how many instances.
pub fn cycles_of(name: &str) -> Option<Cycles> {
    let known =
        file().cycles.iter().find(|known| known.counters.iter().any(|counter| counter == recorded_counter(name)))?;
    let is_of_one = name.contains(['(', '[']) || ["_max", "_min", "_avr"].iter().any(|ending| name.ends_with(ending));
    let instances = (!is_of_one).then_some(known.instances.as_str());
    Some(Cycles { instances, is_of_dies: !is_of_one && recorded_counter(name).starts_with("GRBM_") })
}

/// Maximum factor between the values of a counter in passes that ran the same work; `None` if none is known.
pub fn factor_between_passes(name: &str) -> Option<f64> {
    let is_it =
        |pass: &&PassCounters| pass.prefixes.iter().any(|prefix| recorded_counter(name).starts_with(prefix.as_str()));
    file().pass.iter().find(is_it).map(|pass| pass.factor)
}

/// Whether a metric is a share of a whole.
pub fn is_share(metric: &str) -> bool {
    file().shares.metrics.iter().any(|known| known == metric)
}

/// Whether a share of a whole can have this value. Counters of several passes do not start at the same time, so that
/// shares may slightly exceed the whole.
pub fn is_possible_share(pct: f64) -> bool {
    (file().shares.below_pct..=file().shares.above_pct).contains(&pct)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dead(zero: &[&'static str], others: &[&'static str]) -> Vec<&'static str> {
        let all = zero.iter().map(|name| (*name, true)).chain(others.iter().map(|name| (*name, false)));
        dead_counters(&all.collect()).into_iter().collect()
    }

    #[test]
    fn the_file_can_be_read() {
        let file: ImplausibleFile = toml::from_str(data!("share/implausible_counters.toml")).unwrap();
        for block in &file.block {
            let is_of_block = |name: &String| block.prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()));
            assert!(block.never.iter().flatten().all(is_of_block), "{block:?}");
        }
    }

    #[test]
    fn cycles_know_their_instances() {
        assert_eq!(cycles_of("GRBM_GUI_ACTIVE"), Some(Cycles { instances: Some("num_xcd"), is_of_dies: true }));
        assert_eq!(cycles_of("max_inst(GRBM_GUI_ACTIVE)"), Some(Cycles { instances: None, is_of_dies: false }));
        assert_eq!(cycles_of("TCC_BUSY_sum").and_then(|cycles| cycles.instances), Some("l2_channels"));
        assert_eq!(cycles_of("TCC_BUSY[3]").map(|cycles| cycles.instances), Some(None));
        assert_eq!(cycles_of("SQ_WAVES"), None);
        assert_eq!((factor_between_passes("SQ_WAVES"), factor_between_passes("TCC_HIT_sum")), (Some(1.01), None));
    }

    #[test]
    fn shares_name_metrics_in_percent() {
        let definitions = crate::analysis::hardware::metrics::Definitions::read().unwrap();
        for id in &file().shares.metrics {
            let metric = definitions.metrics.iter().find(|metric| &metric.id == id);
            assert!(metric.is_some_and(|metric| metric.unit == "%"), "{id}");
        }
        assert!(is_possible_share(104.0) && !is_possible_share(126.0));
    }

    #[test]
    fn a_block_that_did_not_count_has_no_zeros() {
        let zero = [
            "SQ_WAVE_CYCLES",
            "SQ_INSTS_VALU",
            "SQ_INSTS_MFMA",
            "GL2C_HIT_sum",
            "GL2C_MISS_sum",
            "GL2C_EA_RDREQ_64B_sum",
        ];
        let found = dead(&zero, &["SQ_WAVES", "SQ_BUSY_CYCLES", "GRBM_GUI_ACTIVE"]);
        assert_eq!(found.len(), zero.len());
        assert_eq!(dead(&["max_inst(TCC_REQ)", "TCC_EA0_RDREQ_sum"], &["SQ_WAVES"]).len(), 2);
    }

    #[test]
    fn zeros_of_blocks_that_count_are_true() {
        let others = ["SQ_WAVES", "SQ_WAVE_CYCLES", "SQ_INSTS_SALU", "TCC_HIT_sum", "TCP_TCC_READ_REQ_sum"];
        assert!(dead(&["SQ_INSTS_VALU", "SQ_INSTS_MFMA", "TCC_MISS_sum", "TCC_EA0_WRREQ_64B_sum"], &others).is_empty());
        // One counter of a group alone proves nothing.
        assert!(dead(&["SQ_INSTS_VALU", "TCC_MISS"], &["SQ_WAVES"]).is_empty());
        assert!(dead(&["TCP_TOTAL_CACHE_ACCESSES_sum", "SQC_ICACHE_MISSES"], &[]).is_empty());
    }
}
