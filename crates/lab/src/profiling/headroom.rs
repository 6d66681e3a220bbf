//! Potential speedup of a kernel, and of the program with it.

use serde::Serialize;

/// Share of a roof that kernels reach in practice, from `share/bottlenecks.toml`: resources count as saturated from
/// there on.
const REACHED: f64 = 0.6;
/// Minimum share of its time that is left of a kernel, so that no speedup is infinite.
const LEAST_LEFT: f64 = 1e-6;

/// Potential saving as a share of a time, from the likely to the maximum one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Range {
    pub low: f64,
    pub high: f64,
}

impl Range {
    /// The saving of a kernel that takes longer than its roof: the maximum at the roof, less at the usual share of the
    /// roof.
    pub(crate) fn of_roof(share_of_roof: f64) -> Self {
        let saved = |left: f64| (1.0 - left).clamp(0.0, 1.0);
        Self { low: saved(share_of_roof / REACHED), high: saved(share_of_roof) }
    }

    pub(crate) fn speedups(self) -> Self {
        Self { low: speedup(self.low), high: speedup(self.high) }
    }

    /// The savings of a whole, if this saving affects only a part of it.
    pub fn of_part(self, part: f64) -> Self {
        let part = part.clamp(0.0, 1.0);
        Self { low: self.low * part, high: self.high * part }
    }
}

/// The speedup from a saved share: the time before over the time that is left.
fn speedup(saved: f64) -> f64 {
    1.0 / (1.0 - saved).max(LEAST_LEFT)
}

/// How much effort a kernel is worth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Score {
    /// Share of its time that may be saved, from 0 to 1.
    pub headroom: f64,
    pub speedup: f64,
    /// Headroom times its share of the critical path.
    pub priority: f64,
}

impl Score {
    pub fn new(headroom: f64, critical_fraction: f64) -> Self {
        let headroom = headroom.clamp(0.0, 1.0);
        Self { headroom, speedup: speedup(headroom), priority: headroom * critical_fraction }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores() {
        let of = |headroom, fraction| {
            let score = Score::new(headroom, fraction);
            (score.headroom, score.speedup, score.priority)
        };
        assert_eq!(of(0.5, 0.8), (0.5, 2.0, 0.4));
        let (headroom, speedup, priority) = of(1.5, 0.5);
        assert!(headroom == 1.0 && (speedup - 1e6).abs() < 1.0 && priority == 0.5);
        assert_eq!(of(-1.0, 0.5), (0.0, 1.0, 0.0));
    }

    #[test]
    fn a_roof_is_a_range() {
        // At a quarter of its roof a kernel can be four times as fast; at 60 % of the roof it is 2.4 times as fast.
        let range = Range::of_roof(0.25);
        assert!((range.high - 0.75).abs() < 1e-12 && (range.low - (1.0 - 0.25 / 0.6)).abs() < 1e-12);
        let speedups = range.speedups();
        assert!((speedups.high - 4.0).abs() < 1e-12 && (speedups.low - 2.4).abs() < 1e-12);
        assert_eq!(Range::of_roof(0.8), Range { low: 0.0, high: 1.0 - 0.8 });
        assert_eq!(Range::of_roof(1.1), Range { low: 0.0, high: 0.0 });
        let whole = range.of_part(0.5);
        assert!((whole.high - 0.375).abs() < 1e-12);
    }
}
