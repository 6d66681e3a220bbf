//! Where repetitions begin, and what occurs in each of them.

use super::anchors::{Anchor, tolerance};
use super::occurrences::Occurrences;
use crate::trace::gallop::gallop;

/// Share of the repetitions in which a symbol must occur equally often to belong to them.
const STEADY: f64 = 0.7;

/// Anchors that may stand in for a missing one, of those that seem nearest behind it.
const MOST_LOOKED_AT: usize = 64;
/// Occurrences of the anchor, evenly spread, behind which their distance is looked up: its median says as much as that of
/// all.
const MOST_MEASURED: usize = 1024;

/// What of a sequence is explained by cutting it into repetitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    /// Symbols that occur equally often in nearly all repetitions.
    pub symbols: usize,
    /// How often these occur so.
    pub occurrences: usize,
}

/// Counts what belongs to the repetitions that begin at `starts`, the last of which only ends the one before.
pub fn explained(occurrences: &Occurrences, starts: &[u32]) -> Explained {
    counted(occurrences, starts, 0).unwrap_or_default()
}

/// Whether at least so many occurrences belong to the repetitions; no more is counted than tells.
pub fn explains(occurrences: &Occurrences, starts: &[u32], least: usize) -> bool {
    counted(occurrences, starts, least).is_some()
}

/// What belongs to the repetitions; `None` if it is less than `enough` occurrences.
fn counted(occurrences: &Occurrences, starts: &[u32], enough: usize) -> Option<Explained> {
    let repetitions = starts.len().saturating_sub(1);
    let least = (STEADY * repetitions as f64).ceil() as usize;
    let (first, last) = (*starts.first()?, *starts.last()?);
    let recurring = || {
        let positions = occurrences.symbols().map(|symbol| occurrences.of_symbol(symbol));
        positions.filter(move |positions| positions.len() >= least)
    };
    let mut explained = Explained::default();
    let mut times: Vec<u32> = Vec::new();
    // What may belong to them still.
    let mut left: usize = if enough > 0 { recurring().map(<[u32]>::len).sum() } else { usize::MAX };
    for positions in recurring() {
        if explained.occurrences.saturating_add(left) < enough {
            return None;
        }
        left = left.saturating_sub(positions.len());
        let from = positions.partition_point(|position| *position < first);
        let to = positions.partition_point(|position| *position < last);
        let within = positions.get(from..to).unwrap_or_default();
        if within.len() < least {
            continue;
        }
        times_in_each(within, starts, &mut times);
        times.sort_unstable();
        let usual = times.chunk_by(|one, next| one == next).max_by_key(|run| run.len()).unwrap_or_default();
        if usual.len() >= least {
            explained.symbols += 1;
            explained.occurrences += usual.len() * usual.first().copied().unwrap_or(0) as usize;
        }
    }
    (explained.occurrences >= enough).then_some(explained)
}

/// How often a symbol occurs in each of the repetitions in which it does.
fn times_in_each(positions: &[u32], starts: &[u32], times: &mut Vec<u32>) {
    times.clear();
    let (mut at, mut after) = (0, 0);
    while let Some(position) = positions.get(at) {
        after = gallop(after, starts.len(), |place| starts.get(place).is_some_and(|start| start <= position));
        let end = starts.get(after).copied().unwrap_or(u32::MAX);
        let next = gallop(at, positions.len(), |place| positions.get(place).is_some_and(|position| *position < end));
        times.push((next - at) as u32);
        at = next;
    }
}

/// Where the repetitions begin by an anchor; where it is missing once, by the first of the others that is not.
pub fn starts(anchor: &Anchor, others: &[Anchor], occurrences: &Occurrences) -> Vec<u32> {
    let positions = occurrences.of_symbol(anchor.symbol).get(anchor.first..anchor.end).unwrap_or_default();
    let period = anchor.period;
    let mut starts: Vec<u32> = Vec::with_capacity(positions.len());
    let mut offsets: Option<Vec<(u32, u32)>> = None;
    for position in positions {
        if let Some(before) = starts.last().copied() {
            let distance = position - before;
            let times = (f64::from(distance) / f64::from(period)).round() as u32;
            if distance > period + tolerance(period) && times >= 2 {
                let offsets = offsets.get_or_insert_with(|| usual_offsets(anchor, others, occurrences));
                let mut from = before;
                for _ in 1..times {
                    let Some(start) = guessed(from.saturating_add(period), period, offsets, occurrences) else { break };
                    if start <= from || start >= *position {
                        break;
                    }
                    starts.push(start);
                    from = start;
                }
            } else if distance + tolerance(period) < period {
                // One occurrence too many: the regular one is that which came first.
                continue;
            }
        }
        starts.push(*position);
    }
    starts
}

/// How far behind the anchor the others usually are, nearest first.
fn usual_offsets(anchor: &Anchor, others: &[Anchor], occurrences: &Occurrences) -> Vec<(u32, u32)> {
    let of_anchor = occurrences.of_symbol(anchor.symbol);
    let step = of_anchor.len().div_ceil(MOST_MEASURED).max(1);
    let measured = of_anchor.len().div_ceil(step);
    let mut offsets: Vec<(u32, u32)> = Vec::new();
    let mut others: Vec<&Anchor> = others.iter().filter(|other| other.symbol != anchor.symbol).collect();
    others.sort_by_key(|other| (other.start.wrapping_sub(anchor.start) % anchor.period.max(1), other.symbol));
    for other in others.into_iter().take(MOST_LOOKED_AT) {
        let positions = occurrences.of_symbol(other.symbol);
        let mut found: Vec<u32> = of_anchor
            .iter()
            .step_by(step)
            .filter_map(|at| {
                let next = positions.get(positions.partition_point(|position| position < at))?;
                Some(next - at).filter(|offset| *offset < anchor.period)
            })
            .collect();
        if found.len() * 2 > measured {
            let middle = found.len() / 2;
            offsets.push((*found.select_nth_unstable(middle).1, other.symbol));
        }
    }
    offsets.sort_unstable();
    offsets.truncate(8);
    offsets
}

/// Where a repetition begins whose anchor is missing, about where it is expected.
fn guessed(expected: u32, period: u32, offsets: &[(u32, u32)], occurrences: &Occurrences) -> Option<u32> {
    offsets.iter().find_map(|(offset, symbol)| {
        let expected = expected.saturating_add(*offset);
        let positions = occurrences.of_symbol(*symbol);
        let at = positions.partition_point(|position| *position < expected);
        let near = [at.checked_sub(1), Some(at)].into_iter().flatten().filter_map(|at| positions.get(at));
        let found = near.min_by_key(|position| position.abs_diff(expected))?;
        // Without the anchor everything is one place nearer.
        let start = found.checked_sub(offset.saturating_sub(1))?;
        (found.abs_diff(expected) <= tolerance(period)).then_some(start)
    })
}
