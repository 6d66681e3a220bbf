//! Clocks of processes: comparable times, and offsets between clocks.

use std::collections::BTreeMap;

use wavesieve_model::analysis::collectives::matching::MedianDeviation;

/// Times at which nodes left a collective, each on its own clock.
pub(crate) type CollectiveExits = BTreeMap<i64, i64>;

/// Offsets from the clocks of nodes to the clock of the first one, inferred from collectives. Each is the median over the collectives in
/// which two nodes took part. Nodes without a common collective are omitted.
pub fn offsets(nodes: &[i64], leavings: &[CollectiveExits]) -> BTreeMap<i64, i64> {
    let mut offsets: BTreeMap<i64, i64> = nodes.first().map(|first| (*first, 0)).into_iter().collect();
    loop {
        let mut placed = Vec::new();
        for node in nodes.iter().filter(|node| !offsets.contains_key(*node)) {
            // The placed node with most collectives in common is the best reference.
            let offset_counts = offsets.iter().map(|(known, offset_ns)| {
                let both = leavings.iter().filter_map(|at| Some((at.get(known)?, at.get(node)?)));
                let differences: Vec<i64> = both.map(|(there, here)| there + offset_ns - here).collect();
                (differences.len(), std::cmp::Reverse(*known), differences)
            });
            let most = offset_counts.max_by_key(|(count, known, _)| (*count, *known));
            if let Some(centre) = most.and_then(|(_, _, mut differences)| MedianDeviation::compute(&mut differences)) {
                placed.push((*node, centre.median_ns));
            }
        }
        if placed.is_empty() {
            return offsets;
        }
        offsets.extend(placed);
    }
}

/// Distance between the ends of collectives, which should be at about the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residual {
    /// Number of collectives.
    pub collectives: usize,
    /// Median of the distances from the first to the last end.
    pub median_ns: i64,
    /// Maximum distance.
    pub max_ns: i64,
}

impl Residual {
    /// Computes it from the distances, which it sorts; `None` without distances.
    pub fn compute(spreads: &mut [i64]) -> Option<Self> {
        spreads.sort_unstable();
        let median_ns = *spreads.get(spreads.len().checked_sub(1)? / 2)?;
        Some(Self { collectives: spreads.len(), median_ns, max_ns: *spreads.last()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_go_from_machine_to_machine() {
        // The clock of node 1 is 100 behind, and the clock of node 2 another 30; node 3 took part in no collective.
        let leaving = |times: &[(i64, i64)]| times.iter().copied().collect::<CollectiveExits>();
        let leavings = [
            leaving(&[(0, 1_000), (1, 900)]),
            leaving(&[(0, 2_000), (1, 1_901)]),
            leaving(&[(0, 3_000), (1, 2_900)]),
            leaving(&[(1, 5_000), (2, 4_970)]),
        ];
        let expected = BTreeMap::from([(0, 0), (1, 100), (2, 130)]);
        assert_eq!(offsets(&[0, 1, 2, 3], &leavings), expected);
        assert_eq!(offsets(&[], &leavings), BTreeMap::new());
    }

    #[test]
    fn the_residual_has_the_lower_median() {
        let residual = Residual { collectives: 4, median_ns: 2, max_ns: 9 };
        assert_eq!(Residual::compute(&mut [9, 1, 2, 3]), Some(residual));
        assert_eq!(Residual::compute(&mut []), None);
    }
}
