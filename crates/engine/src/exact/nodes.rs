//! The parts of a plan.

use std::collections::BTreeSet;

use polars_plan::plans::IR;
use polars_plan::prelude::{Arena, Node};

/// Every part of a plan, once.
pub(crate) fn nodes_of(root: Node, plans: &Arena<IR>) -> Vec<Node> {
    let mut seen = BTreeSet::new();
    let mut open = vec![root];
    let mut nodes = Vec::new();
    while let Some(node) = open.pop() {
        if seen.insert(node.0) {
            open.extend(plans.get(node).inputs());
            nodes.push(node);
        }
    }
    nodes
}
