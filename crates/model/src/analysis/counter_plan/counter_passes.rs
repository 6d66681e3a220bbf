//! Assigns counters to passes: no pass holds more counters of a block than the block can count.

use std::collections::{BTreeMap, BTreeSet};

/// A counter that a block counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Select {
    pub block: String,
    /// The counter, or something else that takes the place of a counter.
    pub counter: String,
}

/// Counters that must be collected in one pass.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    /// Names for the profiler, in this order and without others between them.
    pub names: Vec<String>,
    /// Selections that it needs in the blocks. A selection that another item of the pass also needs counts once.
    pub selects: BTreeSet<Select>,
    /// Counters that it accumulates. A pass accumulates only one counter, as there is only one accumulator name.
    pub accumulates: BTreeSet<String>,
    /// Its counters that could be accumulated: a pass that accumulates another counter could not distinguish them.
    pub levels: BTreeSet<String>,
    /// Its group and member of that group: a pass holds only one member of each group.
    pub apart: Option<(usize, String)>,
}

impl Item {
    /// A counter by itself.
    pub fn single(block: &str, counter: &str) -> Self {
        let select = Select { block: block.to_owned(), counter: counter.to_owned() };
        Self {
            names: vec![counter.to_owned()],
            selects: BTreeSet::from([select]),
            accumulates: BTreeSet::new(),
            levels: BTreeSet::new(),
            apart: None,
        }
    }

    /// Whether it can go into any pass in which its block has room.
    fn is_free(&self) -> bool {
        self.selects.len() == 1 && self.accumulates.is_empty() && self.levels.is_empty() && self.apart.is_none()
    }
}

/// Items that are collected in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// In the order passed to the profiler.
    pub items: Vec<Item>,
}

impl Pass {
    /// Names for the profiler.
    pub fn names(&self) -> Vec<&str> {
        self.items.iter().flat_map(|item| &item.names).map(String::as_str).collect()
    }

    /// The counters of each block.
    pub fn selects(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut selects: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for select in self.items.iter().flat_map(|item| &item.selects) {
            selects.entry(&select.block).or_default().insert(&select.counter);
        }
        selects
    }

    /// Whether an item has room next to the items of the pass, and may join them.
    pub fn takes(&self, item: &Item, limits: &BTreeMap<String, usize>) -> bool {
        let mut together = self.selects();
        for select in &item.selects {
            together.entry(&select.block).or_default().insert(&select.counter);
        }
        let has_room = together.iter().all(|(block, counters)| counters.len() <= limit(limits, block));
        let others = || self.items.iter().chain([item]);
        let accumulated: BTreeSet<&String> = others().flat_map(|other| &other.accumulates).collect();
        let levels: BTreeSet<&String> = others().flat_map(|other| &other.levels).collect();
        let is_described = accumulated.len() <= 1
            && (accumulated.is_empty() || levels.iter().all(|level| accumulated.contains(level)));
        let may = |other: &Item| match (&other.apart, &item.apart) {
            (Some((group, member)), Some((own_group, own))) => group != own_group || member == own,
            _ => true,
        };
        has_room && is_described && self.items.iter().all(may)
    }
}

/// An item that no pass can hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{names} need {needed} counters of the block {block}, which has room for {limit}; see --block-limit")]
pub struct PassError {
    names: String,
    block: String,
    needed: usize,
    limit: usize,
}

fn limit(limits: &BTreeMap<String, usize>, block: &str) -> usize {
    limits.get(block).copied().unwrap_or(0)
}

/// A lower bound of the number of passes. All counters of every block must find room, every accumulated counter needs a
/// pass, and so does every member of a group that is kept apart.
pub(crate) fn lower_bound(items: &[Item], limits: &BTreeMap<String, usize>) -> usize {
    let whole = Pass { items: items.to_vec() };
    let of_blocks =
        whole.selects().iter().map(|(block, counters)| counters.len().div_ceil(limit(limits, block).max(1))).max();
    let accumulated: BTreeSet<&String> = items.iter().flat_map(|item| &item.accumulates).collect();
    let mut apart: BTreeMap<usize, BTreeSet<&String>> = BTreeMap::new();
    for (group, member) in items.iter().filter_map(|item| item.apart.as_ref()) {
        apart.entry(*group).or_default().insert(member);
    }
    let of_groups = apart.values().map(BTreeSet::len).max();
    accumulated.len().max(of_blocks.unwrap_or(0)).max(of_groups.unwrap_or(0))
}

/// Puts every item into one pass, with few passes. The result does not depend on the order of the items or of
/// `together`.
///
/// It starts with `lower_bound` passes. Items that are not free (accumulations, groups, members of what is kept
/// apart) go first, those with the most counters before the others. Each goes into the first pass that takes it, or a
/// new one. A free counter needs one place of one block. If all passes together have at least as many places for a
/// block as it has counters, each free counter finds one.
///
/// So the plan has the minimum number of passes if all items are free. It also does with accumulations, as these need
/// two of a block's places in passes of their own. More can be needed only for groups that leave gaps, as in any
/// first-fit decreasing, or for counters incompatible with an accumulation.
///
/// The number of passes does not depend on where free counters go. So the free counters of one set of `together` go
/// into one pass if it has room. Values computed from them then come from the same run.
///
/// # Errors
/// When one item alone is too large.
pub fn plan(
    items: &[Item],
    limits: &BTreeMap<String, usize>,
    together: &[BTreeSet<String>],
) -> Result<Vec<Pass>, PassError> {
    let items: BTreeSet<&Item> = items.iter().collect();
    for item in &items {
        let alone = Pass { items: vec![(*item).clone()] };
        let selects = alone.selects();
        if let Some((block, counters)) = selects.iter().find(|(block, counters)| counters.len() > limit(limits, block))
        {
            return Err(PassError {
                names: item.names.join(" and "),
                block: (*block).to_owned(),
                needed: counters.len(),
                limit: limit(limits, block),
            });
        }
    }
    let owned: Vec<Item> = items.iter().map(|item| (*item).clone()).collect();
    let mut passes = vec![Pass::default(); lower_bound(&owned, limits)];
    let (mut free, mut bound): (Vec<&Item>, Vec<&Item>) = items.into_iter().partition(|item| item.is_free());
    bound.sort_by_key(|item| (item.accumulates.is_empty(), std::cmp::Reverse(item.selects.len()), &item.names));
    for item in bound {
        put(&mut passes, item, limits);
    }
    let mut sets: Vec<&BTreeSet<String>> = together.iter().collect();
    sets.sort_by_key(|set| (std::cmp::Reverse(set.len()), *set));
    for set in sets {
        let (own, others): (Vec<&Item>, Vec<&Item>) =
            free.iter().partition(|item| item.names.iter().any(|name| set.contains(name)));
        if let Some(pass) = best_for(&passes, &own, set, limits).and_then(|best| passes.get_mut(best)) {
            pass.items.extend(own.into_iter().cloned());
            free = others;
        }
    }
    for item in free {
        put(&mut passes, item, limits);
    }
    passes.retain(|pass| !pass.items.is_empty());
    for pass in &mut passes {
        pass.items.sort_by(|a, b| (a.selects.first(), a).cmp(&(b.selects.first(), b)));
    }
    Ok(passes)
}

fn put(passes: &mut Vec<Pass>, item: &Item, limits: &BTreeMap<String, usize>) {
    match passes.iter_mut().find(|pass| pass.takes(item, limits)) {
        Some(pass) => pass.items.push(item.clone()),
        None => passes.push(Pass { items: vec![item.clone()] }),
    }
}

/// The pass that has room for all of these free counters and holds most of the others of their set; the first of
/// equals.
fn best_for(passes: &[Pass], own: &[&Item], set: &BTreeSet<String>, limits: &BTreeMap<String, usize>) -> Option<usize> {
    if own.is_empty() {
        return None;
    }
    let mut best: Option<(usize, usize)> = None;
    for (at, pass) in passes.iter().enumerate() {
        let mut filled = pass.clone();
        let takes_all = own.iter().all(|item| {
            let takes = filled.takes(item, limits);
            filled.items.push((*item).clone());
            takes
        });
        let shared =
            pass.items.iter().flat_map(|item| &item.selects).filter(|select| set.contains(&select.counter)).count();
        if takes_all && best.is_none_or(|(_, most)| shared > most) {
            best = Some((at, shared));
        }
    }
    best.map(|(at, _)| at)
}
