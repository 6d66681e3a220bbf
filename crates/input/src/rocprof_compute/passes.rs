//! Assigns the runs of dispatches to passes.

use std::collections::{BTreeMap, BTreeSet};

/// The pass of every run, given as dispatch and start, and the number of passes. Each pass runs the program from its start. So in the order
/// of time, a new pass starts when a dispatch comes again. Passes are numbered in the order of their first run in the file.
pub fn passes(runs: &[(i64, Option<i64>)]) -> (Vec<i64>, i64) {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by_key(|at| runs.get(*at).map(|(dispatch, start)| (*start, *dispatch)));
    let mut passes = vec![0; runs.len()];
    let mut seen: BTreeSet<i64> = BTreeSet::new();
    let mut pass = 0;
    for at in order {
        let Some((dispatch, _)) = runs.get(at) else { continue };
        if !seen.insert(*dispatch) {
            seen.clear();
            seen.insert(*dispatch);
            pass += 1;
        }
        if let Some(place) = passes.get_mut(at) {
            *place = pass;
        }
    }
    let mut numbers: BTreeMap<i64, i64> = BTreeMap::new();
    for pass in &mut passes {
        let next = numbers.len() as i64;
        *pass = *numbers.entry(*pass).or_insert(next);
    }
    (passes, numbers.len() as i64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::passes;
    use proptest::prelude::*;

    #[test]
    fn a_dispatch_that_comes_again_begins_a_pass() {
        let runs = [(1, Some(500)), (2, Some(510)), (1, Some(100)), (2, Some(90)), (1, Some(900)), (2, Some(910))];
        assert_eq!(passes(&runs), (vec![0, 0, 1, 1, 2, 2], 3));
        assert_eq!(passes(&[]), (vec![], 0));
        assert_eq!(passes(&[(7, None), (8, None), (7, None)]), (vec![0, 1, 1], 2));
    }

    proptest! {
        #[test]
        fn complete_passes_are_found(dispatches in 1_i64..20, count in 1_i64..9, seed in any::<u64>()) {
            let mut runs: Vec<(i64, i64)> =
                (0..count).flat_map(|pass| (0..dispatches).map(move |dispatch| (dispatch, pass))).collect();
            // Any order in the file, and any order of the dispatches within a pass.
            runs.sort_by_key(|(dispatch, pass)| (dispatch * 31 + pass * 17).wrapping_mul((seed | 1) as i64));
            let start = |(dispatch, pass): &(i64, i64)| pass * 1000 + (dispatch * 7 + seed as i64 % 13) % 100;
            let given: Vec<(i64, Option<i64>)> = runs.iter().map(|run| (run.0, Some(start(run)))).collect();
            let (found, number) = passes(&given);
            let pairs: BTreeSet<(i64, i64)> = runs.iter().map(|(_, pass)| *pass).zip(found).collect();
            prop_assert_eq!((pairs.len() as i64, number), (count, count), "{:?}", pairs);
        }

        #[test]
        fn no_pass_has_a_dispatch_twice(runs in prop::collection::vec((0_i64..6, prop::option::of(0_i64..9)), 0..40)) {
            let (found, count) = passes(&runs);
            let mut keys: Vec<(i64, i64)> = found.iter().zip(&runs).map(|(pass, (dispatch, _))| (*pass, *dispatch)).collect();
            keys.sort_unstable();
            keys.dedup();
            prop_assert_eq!(keys.len(), runs.len());
            prop_assert!(found.iter().all(|pass| (0..count).contains(pass)));
        }
    }
}
