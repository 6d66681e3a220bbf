//! Ids in a document: of ranks, nodes and processes.

use std::collections::BTreeSet;

use super::facts::Facts;
use wavesieve_report::document::Document;

/// Adds the ids of ranks, nodes and processes: recorded ids, and their indices.
pub(super) fn add_ids(facts: &mut Facts, document: &Document) {
    let provenance = &document.provenance;
    for rank in &provenance.ranks {
        facts.add_id(*rank as f64, "rank");
    }
    let hosts: BTreeSet<&String> = provenance.inputs.iter().filter_map(|input| input.hostname.as_ref()).collect();
    let paths: BTreeSet<&String> = provenance.inputs.iter().map(|input| &input.path).collect();
    add_some(facts, "node", hosts.len(), &hosts);
    // Names of folders and files contain nodes and processes.
    let ids = paths.iter().flat_map(|path| numbers_in(path));
    ids.collect::<BTreeSet<u64>>().into_iter().for_each(|id| facts.add_id(id as f64, "process"));
    add_some(facts, "process", provenance.processes, &BTreeSet::new());
}

fn add_some(facts: &mut Facts, name: &str, count: usize, called: &BTreeSet<&String>) {
    // Texts may count from zero or from one.
    let counted = (0..=count as u64).filter(|_| count > 0);
    let ids: BTreeSet<u64> = called.iter().flat_map(|text| numbers_in(text)).chain(counted).collect();
    ids.into_iter().for_each(|id| facts.add_id(id as f64, name));
}

fn numbers_in(text: &str) -> Vec<u64> {
    text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}
