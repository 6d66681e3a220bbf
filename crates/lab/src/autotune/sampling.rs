//! Samples that are spread over a space.

use super::features::Distances;
use super::random::Random;
use super::space::Space;

/// Number of random configurations of which the best spread one becomes a sample.
const CANDIDATES: usize = 48;
/// The number of latest samples from which a new one keeps its distance.
const LOOKED_AT: usize = 256;

/// Orders configurations so that each is far from those before it, and has values that were rare in them. The same seed
/// gives the same samples.
pub fn spread(space: &Space, count: usize, seed: u64) -> Vec<usize> {
    let mut random = Random::new(seed);
    let distances = Distances::new(space);
    let mut used: Vec<Vec<usize>> = space.parameters.iter().map(|parameter| vec![0; parameter.levels.len()]).collect();
    let mut rest: Vec<usize> = (0..space.len()).collect();
    let mut samples: Vec<usize> = Vec::new();
    while samples.len() < count && !rest.is_empty() {
        let drawn = CANDIDATES.min(rest.len());
        // Drawn configurations are swapped to the front.
        for place in 0..drawn {
            let other = place + random.below(rest.len() - place);
            rest.swap(place, other);
        }
        let score = |configuration: &usize| {
            let levels = space.levels(*configuration);
            let near =
                samples.iter().rev().take(LOOKED_AT).map(|sample| distances.between(levels, space.levels(*sample)));
            let near = near.fold(f64::INFINITY, f64::min).min(1e3);
            let crowd = used.iter().zip(levels).map(|(used, level)| {
                let most = used.iter().sum::<usize>().max(1) as f64;
                used.get(*level).map_or(0.0, |times| *times as f64 * used.len() as f64 / most)
            });
            near.sqrt() - 0.5 * crowd.sum::<f64>() / levels.len().max(1) as f64
        };
        let scores = rest.iter().take(drawn).map(score).zip(0..);
        let best = scores.max_by(|one, two| one.0.total_cmp(&two.0).then(two.1.cmp(&one.1)));
        let Some((_, place)) = best else { break };
        let chosen = rest.swap_remove(place);
        for (used, level) in used.iter_mut().zip(space.levels(chosen)) {
            if let Some(times) = used.get_mut(*level) {
                *times += 1;
            }
        }
        samples.push(chosen);
    }
    samples
}
