//! From resolved counters to the items that are put into passes.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::counter_plan::counter_blocks::{ArchitectureBlocks, BlockError};
use crate::analysis::counter_plan::counter_passes::{Item, Select};
use crate::analysis::counter_plan::counter_request::{Needs, Resolved};
use crate::analysis::hardware::metrics::Accumulated;

/// How the profiler is asked to accumulate a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accumulations {
    /// Through its own counter `NAME_ACCUM`, which a definitions file creates with `accumulate()`. rocprofv3 does not
    /// preserve the order of counters, so it reports 0 for pairs.
    Defined,
    /// Through the accumulator right after the counter, as rocprof before rocprofv3 expects it.
    Paired,
}

/// The items of a request. With `by_name`, derived counters that rocprofiler-sdk defines are requested by their names
/// if they fit into a pass.
///
/// # Errors
/// If a counter has no block.
pub fn items(
    resolved: &Resolved,
    blocks: &ArchitectureBlocks,
    accumulated: &Accumulated,
    style: Accumulations,
    by_name: bool,
) -> Result<Vec<Item>, BlockError> {
    let mut items = Vec::new();
    let mut rest = Needs::default();
    for (name, needs) in &resolved.of {
        let selects = selects(needs, name, blocks)?;
        if by_name && resolved.known_to_profiler.contains(name) && fits(&selects, blocks) && !needs.is_empty() {
            let apart = resolved.apart.get(name).map(|(group, _)| (*group, name.clone()));
            let accumulates = needs.accumulated.clone();
            items.push(Item { names: vec![name.clone()], selects, accumulates, levels: BTreeSet::new(), apart });
        } else {
            rest.counters.extend(needs.counters.iter().cloned());
            rest.accumulated.extend(needs.accumulated.iter().cloned());
        }
    }
    for level in &rest.accumulated {
        let needs = Needs { counters: BTreeSet::new(), accumulated: BTreeSet::from([level.clone()]) };
        let is_asked_for = rest.counters.remove(level);
        let names = match style {
            Accumulations::Paired => {
                [Some(level), accumulated.accumulator.first()].into_iter().flatten().cloned().collect()
            }
            Accumulations::Defined if is_asked_for => vec![level.clone(), format!("{level}_ACCUM")],
            Accumulations::Defined => vec![format!("{level}_ACCUM")],
        };
        items.push(Item {
            names,
            selects: selects(&needs, level, blocks)?,
            accumulates: needs.accumulated,
            levels: BTreeSet::new(),
            apart: None,
        });
    }
    for (name, (group, needs)) in &resolved.apart {
        let own: BTreeSet<String> = needs.counters.intersection(&rest.counters).cloned().collect();
        rest.counters.retain(|counter| !own.contains(counter));
        let whole = Needs { counters: own, ..Needs::default() };
        let whole = selects(&whole, name, blocks)?;
        // A group larger than a pass is at least kept away from the others.
        let parts: Vec<BTreeSet<Select>> = match fits(&whole, blocks) {
            true => vec![whole],
            false => whole.into_iter().map(|select| BTreeSet::from([select])).collect(),
        };
        items.extend(parts.into_iter().filter(|part| !part.is_empty()).map(|selects| Item {
            names: selects.iter().map(|select| select.counter.clone()).collect(),
            selects,
            accumulates: BTreeSet::new(),
            levels: BTreeSet::new(),
            apart: Some((*group, name.clone())),
        }));
    }
    for counter in &rest.counters {
        let block = blocks.block_of(counter)?.to_owned();
        items.push(Item::single(&block, counter));
    }
    for item in &mut items {
        let is_level = |select: &&Select| accumulated.counters.contains(&select.counter);
        item.levels = item.selects.iter().filter(is_level).map(|select| select.counter.clone()).collect();
    }
    Ok(items)
}

/// Selections in the blocks for some needs. An accumulation takes the place of a counter next to the counter that it
/// accumulates.
fn selects(needs: &Needs, whose: &str, blocks: &ArchitectureBlocks) -> Result<BTreeSet<Select>, BlockError> {
    let mut selects = BTreeSet::new();
    for counter in &needs.counters {
        selects.insert(Select { block: blocks.block_of(counter)?.to_owned(), counter: counter.clone() });
    }
    for level in &needs.accumulated {
        let block = blocks.block_of(level)?.to_owned();
        selects.insert(Select { block: block.clone(), counter: level.clone() });
        // Two derived counters may accumulate the same one in different ways.
        let of = if whose == level { String::new() } else { format!(" for {whose}") };
        selects.insert(Select { block, counter: format!("{level} accumulated{of}") });
    }
    Ok(selects)
}

fn fits(selects: &BTreeSet<Select>, blocks: &ArchitectureBlocks) -> bool {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    selects.iter().for_each(|select| *counts.entry(&select.block).or_default() += 1);
    counts.iter().all(|(block, count)| blocks.limits.get(*block).is_some_and(|limit| count <= limit))
}
