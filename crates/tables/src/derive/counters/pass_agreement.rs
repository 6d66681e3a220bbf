//! Checks that counter passes ran the same work: values that both counted must agree, otherwise no metric may mix their counters.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use crate::derive::counters::joined_passes::Counted;
use wavesieve_model::analysis::hardware::implausible::factor_between_passes;

/// Factor by which the mean durations of a kernel may differ between passes: the clock and the first touch of memory change them.
const FACTOR_OF_DURATIONS: f64 = 3.0;

/// Shorter dispatches vary by more than this factor anyway.
const LEAST_DURATION_NS: f64 = 50_000.0;

/// Name of the column with the reason why passes of a dispatch disagree.
pub(crate) const DISAGREEMENT: &str = "why passes disagree";

/// Name of the column with the group of agreeing passes that a value of a counter comes from, for each dispatch.
pub fn group_of(counter: &str) -> PlSmallStr {
    format!("group of {counter}").into()
}

/// Values of every frame that show whether passes ran the same work.
pub(crate) struct PassEvidence {
    by_frame: Vec<BTreeMap<String, Evidence>>,
}

struct Evidence {
    factor: f64,
    least: f64,
    values: Vec<Option<f64>>,
}

/// Passes of matching dispatches that do not all agree.
pub(crate) struct Disagreement {
    /// For each pass the first pass with which it agrees.
    pub groups: Vec<u32>,
    pub reason: String,
}

impl PassEvidence {
    /// # Errors
    /// When a frame lacks a column, which is a defect.
    pub fn new(frames: &[&DataFrame]) -> Result<Self> {
        let of_frame = |frame: &&DataFrame| -> Result<BTreeMap<String, Evidence>> {
            let durations = frame.column("duration_ns")?.i64()?.iter().zip(frame.column("valid")?.bool()?.iter());
            let values = durations.map(|(ns, valid)| ns.filter(|_| valid == Some(true)).map(|ns| ns as f64)).collect();
            let durations = Evidence { factor: FACTOR_OF_DURATIONS, least: LEAST_DURATION_NS, values };
            let mut found = BTreeMap::from([("their duration in ns".to_owned(), durations)]);
            for column in frame.columns().iter().filter(|column| *column.dtype() == DataType::Float64) {
                if let Some(factor) = factor_between_passes(column.name()) {
                    let values = column.f64()?.iter().collect();
                    found.insert(column.name().to_string(), Evidence { factor, least: 0.0, values });
                }
            }
            Ok(found)
        };
        Ok(Self { by_frame: frames.iter().map(of_frame).collect::<Result<_>>()? })
    }

    /// The disagreement between passes of matching dispatches, if any. `keys` identify the same dispatches.
    pub(crate) fn disagreement(&self, passes: &[Vec<Counted>], keys: &[Vec<(usize, i64)>]) -> Option<Disagreement> {
        let mut groups: Vec<u32> = Vec::with_capacity(passes.len());
        let mut reason = None;
        for (at, (rows, own)) in passes.iter().zip(keys).enumerate() {
            let mut group = at as u32;
            let leaders: BTreeSet<u32> = groups.iter().copied().collect();
            for leader in leaders {
                let Some((others, of_others)) = passes.get(leader as usize).zip(keys.get(leader as usize)) else {
                    continue;
                };
                match self.difference((others, of_others), (rows, own)) {
                    None => {
                        group = leader;
                        break;
                    }
                    Some(why) => reason = reason.or(Some(why)),
                }
            }
            groups.push(group);
        }
        let differs = groups.iter().any(|group| *group != 0);
        reason.filter(|_| differs).map(|reason| Disagreement { groups, reason })
    }

    /// The difference between two passes over the dispatches that both have.
    fn difference(
        &self,
        (left, left_keys): (&[Counted], &[(usize, i64)]),
        (right, right_keys): (&[Counted], &[(usize, i64)]),
    ) -> Option<String> {
        let of_frame = |rows: &[Counted]| self.by_frame.get(rows.first()?.frame);
        let (of_left, of_right) = (of_frame(left)?, of_frame(right)?);
        let row_of: BTreeMap<(usize, i64), usize> =
            left_keys.iter().zip(left).map(|(key, counted)| (*key, counted.row)).collect();
        of_left.iter().find_map(|(name, evidence)| {
            let others = of_right.get(name)?;
            let (mut a, mut b, mut count) = (0.0, 0.0, 0.0);
            for (key, counted) in right_keys.iter().zip(right) {
                let own = row_of.get(key).and_then(|row| evidence.values.get(*row).copied().flatten());
                if let (Some(own), Some(Some(other))) = (own, others.values.get(counted.row)) {
                    a += own;
                    b += other;
                    count += 1.0;
                }
            }
            let differs = count > 0.0 && a.max(b) > evidence.factor * a.min(b) && a.max(b) / count >= evidence.least;
            differs.then(|| format!("counters come from passes that disagree about {name}"))
        })
    }
}
