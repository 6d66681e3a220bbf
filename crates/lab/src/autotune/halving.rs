//! Successive halving: the promising configurations run again, twice as often in each round, and the worse half drops
//! out.

use super::history::History;
use super::score::{Noise, Scale, median_score};

/// Maximum number of configurations that run again.
const MAX_ENTRANTS: usize = 16;
/// Scores this close together count as equal.
const CLOSE: f64 = 0.005;
/// Maximum factor between a single run of the first round and the best. Noise does not explain a larger one.
const ENTRY: f64 = 1.3;

/// The outcome of the rounds.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// This configuration has to run again first.
    Undecided(usize),
    /// The best is better than all others, by more than noise.
    Separated { best: usize },
    /// Others cannot be distinguished from the best.
    Tied { best: usize, others: Vec<usize> },
    /// Each configuration ran once, so the noise is unknown; this one was the best.
    Unrepeated { best: usize },
    /// Nothing was measured.
    Nothing,
}

impl Verdict {
    /// The best configuration.
    pub fn best(&self) -> Option<usize> {
        match self {
            Self::Separated { best } | Self::Tied { best, .. } | Self::Unrepeated { best } => Some(*best),
            Self::Undecided(_) | Self::Nothing => None,
        }
    }
}

/// Returns the state of the rounds, with up to `most` runs of a configuration.
pub(crate) fn halving(history: &History, scale: Scale, most: usize) -> Verdict {
    match next_of_rounds(history, scale, most) {
        Some(configuration) => Verdict::Undecided(configuration),
        None => verdict(history, scale, most),
    }
}

/// The configuration that has to run again before the last round ends.
fn next_of_rounds(history: &History, scale: Scale, most: usize) -> Option<usize> {
    let mut survivors: Vec<(f64, usize)> = history
        .measured()
        .filter_map(|(configuration, values)| Some((median_score(values.get(..1)?, scale)?, configuration)))
        .collect();
    sort(&mut survivors);
    let (first, _) = survivors.first().copied()?;
    let entry = first + scale.room(ENTRY, scale.value(first));
    survivors.retain(|(score, _)| *score <= entry);
    survivors.truncate(MAX_ENTRANTS.min((history.measured().count() / 3).max(4)));
    let mut runs = 1;
    while runs < most {
        runs = (runs * 2).min(most);
        let values = |configuration: usize| history.values(configuration).and_then(|values| values.get(..runs));
        // The configurations take turns, so that drift affects all of them.
        let least = survivors
            .iter()
            .map(|(_, configuration)| (history.values(*configuration).map_or(0, <[f64]>::len), *configuration))
            .filter(|(count, _)| *count < runs)
            .min_by_key(|(count, _)| *count);
        if let Some((_, configuration)) = least {
            return Some(configuration);
        }
        for (score, configuration) in &mut survivors {
            *score = values(*configuration).and_then(|values| median_score(values, scale)).unwrap_or(f64::INFINITY);
        }
        sort(&mut survivors);
        let (lowest, _) = survivors.first().copied()?;
        let noise = Noise::new(survivors.iter().filter_map(|(_, configuration)| values(*configuration)), scale)?;
        let apart = noise.difference(runs, runs);
        let half = survivors.len().div_ceil(2).max(2);
        survivors.retain(|(score, _)| score - lowest <= apart);
        if survivors.len() == 1 || apart <= scale.room(1.0 + CLOSE, scale.value(lowest)) {
            return None;
        }
        survivors.truncate(half);
    }
    None
}

/// Compares the best with all others, including those that dropped out early. A close rival runs as
/// often.
fn verdict(history: &History, scale: Scale, most: usize) -> Verdict {
    let rows: Vec<(f64, usize, usize)> = history
        .measured()
        .filter_map(|(configuration, values)| Some((median_score(values, scale)?, values.len(), configuration)))
        .collect();
    let repeated = rows.iter().filter(|(_, runs, _)| *runs > 1).count();
    let leaders = rows.iter().filter(|(_, runs, _)| *runs > 1 || repeated == 0);
    let leader = leaders.min_by(|one, two| one.0.total_cmp(&two.0).then(one.2.cmp(&two.2)));
    let Some((lowest, runs, best)) = leader.copied() else { return Verdict::Nothing };
    if rows.len() == 1 {
        return Verdict::Separated { best };
    }
    let Some(noise) = Noise::new(history.measured().map(|(_, values)| values), scale) else {
        return Verdict::Unrepeated { best };
    };
    let apart = |other: usize| noise.difference(runs, other);
    let close: Vec<(f64, usize, usize)> =
        rows.iter().filter(|row| row.2 == best || row.0 - lowest <= apart(row.1)).copied().collect();
    if close.len() == 1 {
        return Verdict::Separated { best };
    }
    let is_open = |row: &&(f64, usize, usize)| {
        let is_sure = row.2 != best && apart(row.1) <= scale.room(1.0 + CLOSE, scale.value(lowest));
        row.1 < most && !is_sure && (row.1 > 1 || repeated < MAX_ENTRANTS)
    };
    let has_rivals = close.iter().filter(|row| row.2 != best).any(|row| is_open(&row));
    let next = close.iter().filter(is_open).min_by(|one, two| one.1.cmp(&two.1).then(one.0.total_cmp(&two.0)));
    match next.filter(|_| has_rivals) {
        Some((_, _, configuration)) => Verdict::Undecided(*configuration),
        None => {
            let others = close.iter().map(|row| row.2).filter(|configuration| *configuration != best).collect();
            Verdict::Tied { best, others }
        }
    }
}

fn sort(survivors: &mut [(f64, usize)]) {
    survivors.sort_by(|one, two| one.0.total_cmp(&two.0).then(one.1.cmp(&two.1)));
}
