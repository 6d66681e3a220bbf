//! Counters whose values cannot be right: a block of the GPU that did not count.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    block: Vec<Block>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    #[serde(rename = "block")]
    _name: String,
    prefixes: Vec<String>,
    never: Vec<Vec<String>>,
}

static FILE: LazyLock<File> =
    LazyLock::new(|| toml::from_str(include_str!("../../../share/implausible_counters.toml")).unwrap_or_default());

/// Endings of names that state what is counted over instances.
const ENDINGS: [&str; 4] = ["_sum", "_avr", "_max", "_min"];

/// The counters that are 0 because their block did not count, by whether each that was collected is 0 in every dispatch.
pub(crate) fn dead_counters<'a>(all_zero: &BTreeMap<&'a str, bool>) -> BTreeSet<&'a str> {
    let mut known: BTreeMap<&str, bool> = BTreeMap::new();
    for (name, is_zero) in all_zero {
        *known.entry(base(name)).or_insert(true) &= is_zero;
    }
    let is_zero = |name: &String| known.get(name.as_str()) == Some(&true);
    let mut dead = BTreeSet::new();
    for block in FILE.block.iter().filter(|block| block.never.iter().any(|group| group.iter().all(is_zero))) {
        let is_of_block = |name: &str| block.prefixes.iter().any(|prefix| base(name).starts_with(prefix.as_str()));
        dead.extend(all_zero.iter().filter(|(name, is_zero)| **is_zero && is_of_block(name)).map(|(name, _)| *name));
    }
    dead
}

/// A counter without what was made of its instances.
fn base(name: &str) -> &str {
    let inner = name.split_once('(').map_or(name, |(_, inner)| inner.trim_end_matches(')'));
    ENDINGS.iter().find_map(|ending| inner.strip_suffix(ending)).unwrap_or(inner)
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
        let file: File = toml::from_str(include_str!("../../../share/implausible_counters.toml")).unwrap();
        for block in &file.block {
            let is_of_block = |name: &String| block.prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()));
            assert!(block.never.iter().flatten().all(is_of_block), "{block:?}");
        }
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
        // One of a group alone says nothing.
        assert!(dead(&["SQ_INSTS_VALU", "TCC_MISS"], &["SQ_WAVES"]).is_empty());
        assert!(dead(&["TCP_TOTAL_CACHE_ACCESSES_sum", "SQC_ICACHE_MISSES"], &[]).is_empty());
    }
}
