//! Reports parts of filters that match nothing while other parts do.

use std::collections::BTreeSet;

use super::filters::Filter;
use super::number_set::NumberSet;
use super::unmatched::list;
use crate::trace::Trace;

/// One sentence for every filter by ranks or GPUs in which some numbers match nothing: otherwise a typing error would be missed.
pub fn partly_unmatched(trace: &Trace) -> Vec<String> {
    let choice = trace.choice();
    let gpus = trace.members().iter().flat_map(|member| member.process.gpus.values().map(|gpu| gpu.gpu));
    [
        sentence(Filter::Rank, choice.ranks.as_ref(), trace.all_ranks(), "rank"),
        sentence(Filter::Gpu, choice.gpus.as_ref(), &gpus.collect(), "GPU"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn sentence(filter: Filter, set: Option<&NumberSet>, known: &BTreeSet<i64>, noun: &str) -> Option<String> {
    let set = set?;
    let parts = set.without_match(known)?;
    (parts != *set)
        .then(|| format!("no {noun} matches {} {parts}; available: {}", filter.flag(), list(known.iter().copied())))
}
