//! Successive halving: the promising configurations run again, twice as often in each round, and the worse half is left out.

use super::history::History;
use super::score::{Noise, Scale, median_score};

/// Configurations that run again, at most.
const MAX_ENTRANTS: usize = 16;
/// Scores this close together are as good as the same.
const CLOSE: f64 = 0.005;
/// What single runs of the first round are, at most, above the best: beyond, noise does not explain it.
const ENTRY: f64 = 1.3;

/// What the rounds come to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// This one has to run again first.
    Undecided(usize),
    /// The best is better than all others, by more than noise.
    Separated { best: usize },
    /// Others cannot be distinguished from the best.
    Tied { best: usize, others: Vec<usize> },
    /// Nothing was measured.
    Nothing,
}

impl Verdict {
    /// The best configuration.
    pub(crate) fn best(&self) -> Option<usize> {
        match self {
            Self::Separated { best } | Self::Tied { best, .. } => Some(*best),
            Self::Undecided(_) | Self::Nothing => None,
        }
    }
}

/// Where the rounds stand, with up to `most` runs of a configuration.
pub(crate) fn halving(history: &History, scale: Scale, most: usize) -> Verdict {
    let mut survivors: Vec<(f64, usize)> = history
        .measured()
        .filter_map(|(configuration, values)| Some((median_score(values.get(..1)?, scale)?, configuration)))
        .collect();
    sort(&mut survivors);
    let Some((first, _)) = survivors.first().copied() else { return Verdict::Nothing };
    let entry = first + scale.room(ENTRY, scale.value(first));
    survivors.retain(|(score, _)| *score <= entry);
    survivors.truncate(MAX_ENTRANTS.min((history.measured().count() / 3).max(4)));
    let mut runs = 1;
    loop {
        let is_last = runs >= most;
        let values = |configuration: usize| history.values(configuration).and_then(|values| values.get(..runs));
        // One after the other, so that what changes over time hits all of them.
        let least = survivors
            .iter()
            .map(|(_, configuration)| (history.values(*configuration).map_or(0, <[f64]>::len), *configuration))
            .filter(|(count, _)| *count < runs)
            .min_by_key(|(count, _)| *count);
        if let Some((_, configuration)) = least {
            return Verdict::Undecided(configuration);
        }
        for (score, configuration) in &mut survivors {
            *score = values(*configuration).and_then(|values| median_score(values, scale)).unwrap_or(f64::INFINITY);
        }
        sort(&mut survivors);
        let Some((lowest, best)) = survivors.first().copied() else { return Verdict::Nothing };
        let groups = survivors.iter().filter_map(|(_, configuration)| values(*configuration));
        let noise = Noise::new(groups, scale);
        if let Some(noise) = noise {
            let apart = noise.difference(runs, runs);
            let half = survivors.len().div_ceil(2).max(2);
            survivors.retain(|(score, configuration)| *configuration == best || score - lowest <= apart);
            if survivors.len() == 1 {
                return Verdict::Separated { best };
            }
            if is_last || apart <= scale.room(1.0 + CLOSE, scale.value(lowest)) {
                return Verdict::Tied { best, others: others(&survivors, best) };
            }
            survivors.truncate(half);
        } else if is_last || survivors.len() == 1 && history.measured().count() == 1 {
            return Verdict::Tied { best, others: others(&survivors, best) };
        }
        runs = (runs * 2).min(most);
    }
}

fn sort(survivors: &mut [(f64, usize)]) {
    survivors.sort_by(|one, two| one.0.total_cmp(&two.0).then(one.1.cmp(&two.1)));
}

fn others(survivors: &[(f64, usize)], best: usize) -> Vec<usize> {
    survivors.iter().map(|(_, configuration)| *configuration).filter(|configuration| *configuration != best).collect()
}
