//! Durations that change their level once and for all: a jump, as opposed to a trend or to single slow repetitions.

use std::ops::Range;

use serde::Deserialize;

const FACTS: &str = data!("share/levels.toml");

/// Thresholds of a jump; `share/levels.toml` documents each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelThresholds {
    least_change_pct: f64,
    least_far_change_pct: f64,
    least_each: usize,
    most_crossing_pct: f64,
    near: usize,
    window: usize,
    least_near_pct: f64,
    most_levels: usize,
    most_episode_pct: f64,
    /// For people.
    #[serde(rename = "source")]
    _source: String,
}

impl LevelThresholds {
    /// Those of the binary.
    ///
    /// # Errors
    /// When the file is wrong, which the tests exclude.
    pub fn builtin() -> anyhow::Result<Self> {
        Ok(toml::from_str(FACTS)?)
    }

    /// The number of the level of each duration, from 0, in order. Takes `O(n log n)` for each level.
    pub fn levels(&self, durations: &[i64]) -> Vec<i64> {
        let mut cuts = vec![0, durations.len()];
        let mut open: Vec<Range<usize>> = std::iter::once(0..durations.len()).collect();
        while let Some(range) = open.pop().filter(|_| cuts.len() <= self.most_levels) {
            let Some(cut) = durations.get(range.clone()).and_then(|part| self.jump(part)) else { continue };
            let cut = range.start + cut;
            cuts.push(cut);
            open.extend([range.start..cut, cut..range.end]);
        }
        cuts.sort_unstable();
        while let Some(episode) = self.episode(durations, &cuts) {
            cuts.drain(episode);
        }
        let mut levels = Vec::with_capacity(durations.len());
        for (level, length) in (0..).zip(cuts.windows(2).filter_map(|ends| ends.last()?.checked_sub(*ends.first()?))) {
            levels.extend(std::iter::repeat_n(level, length));
        }
        levels
    }

    /// The cuts around and within levels that together are short, and return to the one before them; the shortest such part of the run.
    fn episode(&self, durations: &[i64], cuts: &[usize]) -> Option<Range<usize>> {
        let part = |from: usize, to: usize| durations.get(*cuts.get(from)?..*cuts.get(to)?);
        let returns = |first: &usize, end: &usize| -> Option<usize> {
            let (before, own, after) = (part(first - 1, *first)?, part(*first, *end)?, part(*end, end + 1)?);
            let (before, after) = (median(before)?, median(after)?);
            let change = (after - before).abs() / before.min(after).max(1.0) * 100.0;
            let is_short = own.len() as f64 * 100.0 <= self.most_episode_pct * durations.len() as f64;
            (is_short && change < self.least_change_pct).then_some(own.len())
        };
        let places = 1..cuts.len().saturating_sub(1);
        let pairs = places.clone().flat_map(|first| places.clone().map(move |end| (first, end)));
        let episodes = pairs
            .filter(|(first, end)| first < end)
            .filter_map(|(first, end)| returns(&first, &end).map(|length| (length, first, end)));
        episodes.min().map(|(_, first, end)| first..end + 1)
    }

    /// The place of the clearest jump of a sequence, if it has one.
    fn jump(&self, durations: &[i64]) -> Option<usize> {
        let cut = self.moved(durations, clearest_cut(durations, self.least_each)?)?;
        let (before, after) = durations.split_at_checked(cut)?;
        // Further away may be other levels.
        let before = before.get(before.len().saturating_sub(self.window)..)?;
        let after = after.get(..self.window.min(after.len()))?;
        let (low, high) = (median(before)?, median(after)?);
        let crossing = crossing_pct(before, after, low, high);
        let change = (high - low).abs() / low.min(high).max(1.0) * 100.0;
        // Few repetitions show a jump only if it is a large one.
        let is_short = before.len().min(after.len()) <= self.near;
        let least = if is_short { self.least_far_change_pct } else { self.least_change_pct };
        let near_before = median(before.get(before.len().saturating_sub(self.near)..)?)?;
        let near_after = median(after.get(..self.near.min(after.len()))?)?;
        let near = (near_after - near_before) / (high - low) * 100.0;
        (change >= least && crossing <= self.most_crossing_pct && near >= self.least_near_pct).then_some(cut)
    }

    /// The cut near another one at which durations are closest to the medians of their sides: ranks alone put a short one of the later side to
    /// the earlier one.
    fn moved(&self, durations: &[i64], cut: usize) -> Option<usize> {
        let (before, after) = durations.split_at_checked(cut)?;
        let low = median(before.get(before.len().saturating_sub(self.window)..)?)?;
        let high = median(after.get(..self.window.min(after.len()))?)?;
        let places = cut.saturating_sub(self.near).max(self.least_each)
            ..=(cut + self.near).min(durations.len().saturating_sub(self.least_each));
        let distance = |place: usize| -> f64 {
            let near = durations.iter().enumerate().skip(cut.saturating_sub(self.near)).take(2 * self.near);
            near.map(|(at, ns)| (*ns as f64 - if at < place { low } else { high }).abs()).sum()
        };
        places.min_by(|one, other| distance(*one).total_cmp(&distance(*other)))
    }
}

/// The cut of a sequence into two parts, of at least so many each, that differ most in rank: the statistic of Pettitt (1979).
fn clearest_cut(durations: &[i64], least_each: usize) -> Option<usize> {
    let places: Range<usize> = least_each..(durations.len() + 1).checked_sub(least_each)?;
    let ranks = ranks(durations);
    let expected = (durations.len() as f64 + 1.0) / 2.0;
    let mut sum = 0.0;
    let mut best: Option<(f64, usize)> = None;
    for (place, rank) in ranks.iter().enumerate() {
        // Scaled by the spread of such a sum, so that a cut near an end may be the clearest.
        let parts = place as f64 * (durations.len() - place) as f64;
        let distance = if place == 0 { 0.0 } else { (sum - place as f64 * expected).abs() / parts.sqrt() };
        if places.contains(&place) && best.is_none_or(|(most, _)| distance > most) {
            best = Some((distance, place));
        }
        sum += rank;
    }
    best.map(|(_, place)| place)
}

/// Ranks from 1; equal durations share the mean of theirs.
fn ranks(durations: &[i64]) -> Vec<f64> {
    let mut order: Vec<(i64, usize)> = durations.iter().copied().zip(0..).collect();
    order.sort_unstable();
    let mut ranks = vec![0.0; durations.len()];
    let mut before = 0;
    for equal in order.chunk_by(|one, next| one.0 == next.0) {
        let rank = before as f64 + (equal.len() as f64 + 1.0) / 2.0;
        for (_, place) in equal {
            if let Some(slot) = ranks.get_mut(*place) {
                *slot = rank;
            }
        }
        before += equal.len();
    }
    ranks
}

/// Share of the durations that are nearer to the median of the other part.
fn crossing_pct(before: &[i64], after: &[i64], low: f64, high: f64) -> f64 {
    let crosses = |part: &[i64], own: f64, other: f64| {
        part.iter().filter(|ns| (**ns as f64 - own).abs() > (**ns as f64 - other).abs()).count()
    };
    let crossing = crosses(before, low, high) + crosses(after, high, low);
    crossing as f64 / (before.len() + after.len()).max(1) as f64 * 100.0
}

fn median(durations: &[i64]) -> Option<f64> {
    let mut sorted = durations.to_vec();
    sorted.sort_unstable();
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = *sorted.get(sorted.len().checked_sub(1)? / 2)?;
    Some((lower as f64 + upper as f64) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(durations: &[i64]) -> Vec<i64> {
        LevelThresholds::builtin().unwrap().levels(durations)
    }

    fn noisy(count: i64, level: i64) -> Vec<i64> {
        (0..count).map(|place| level + (place * 7_919) % (level / 50).max(1)).collect()
    }

    #[test]
    fn jumps_are_found() {
        assert_eq!(levels(&[118, 115, 1_021, 1_076, 1_060]), [0, 0, 1, 1, 1]);
        let twice = [noisy(20, 1_000), noisy(30, 1_500), noisy(25, 1_000)].concat();
        let expected: Vec<i64> = [vec![0; 20], vec![1; 30], vec![2; 25]].concat();
        assert_eq!(levels(&twice), expected);
        let stairs = [noisy(20, 1_000), noisy(20, 1_500), noisy(20, 3_000)].concat();
        assert_eq!(levels(&stairs), [vec![0; 20], vec![1; 20], vec![2; 20]].concat());
    }

    #[test]
    fn trends_outliers_and_patterns_are_no_jumps() {
        let trend: Vec<i64> = (0..60).map(|place| 1_000 + 20 * place).collect();
        let mut outliers = noisy(40, 1_000);
        outliers.iter_mut().step_by(9).for_each(|ns| *ns *= 3);
        let alternating: Vec<i64> = (0..40).map(|place| if place % 2 == 0 { 800 } else { 250 }).collect();
        let slow_first = [vec![5_000], noisy(30, 1_000)].concat();
        let episode = [noisy(20, 1_000), noisy(10, 1_500), noisy(30, 1_000)].concat();
        // The slow part is several levels, because its first repetition and its last one are cut from the usual ones.
        let by_steps = vec![
            7_468, 7_466, 7_461, 7_472, 7_465, 7_466, 7_461, 7_464, 7_465, 7_484, 7_487, 7_450, 7_474, 7_455, 7_470,
            7_457, 7_474, 7_476, 7_468, 7_478, 21_192, 24_540, 24_540, 24_540, 24_540, 24_540, 24_540, 24_540, 24_540,
            21_362, 7_454, 7_464, 7_485, 7_487, 7_490, 7_484, 7_490, 7_474, 7_456, 7_473, 7_451, 7_475, 7_478, 7_467,
            7_464,
        ];
        for durations in [
            trend,
            outliers,
            alternating,
            slow_first,
            episode,
            by_steps,
            noisy(50, 1_000),
            vec![100, 130],
            vec![],
            vec![5; 9],
        ] {
            assert!(levels(&durations).iter().all(|level| *level == 0), "{durations:?}");
        }
    }
}
