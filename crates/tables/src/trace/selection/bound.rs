//! One side of a time window.

use super::duration::{exact_product, parse_duration_ns};
use super::window::WindowSpan;

/// Billionths per percent: a percentage may have nine digits after the point.
const PERCENT_SCALE: i64 = 1_000_000_000;

/// Start or end of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Billionths of a percent of the process's span.
    Share(i64),
    /// Nanoseconds after the span's start.
    AfterStart(i64),
    /// Nanoseconds before the span's end.
    BeforeEnd(i64),
    /// Nanoseconds on the source's clock.
    Absolute(i64),
    /// A range or mark by its text, and its index among those with the text.
    Marker(MarkerName),
}

/// A ROCTx range or mark.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MarkerName {
    pub text: String,
    /// Index among those with this text, from 0 in the order of their starts; `None` for the first.
    pub index: Option<usize>,
}

impl Bound {
    /// Reads `10%`, `+500ms`, `-500ms`, `63855948165371` or `1.2s`; markers are handled before.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(percent) = text.strip_suffix('%') {
            let share = exact_product(percent.trim(), PERCENT_SCALE)
                .filter(|share| *share <= 100 * PERCENT_SCALE)
                .ok_or_else(|| format!("{text} is not a share of the span; write 0% to 100%"))?;
            return Ok(Self::Share(share));
        }
        if matches!(text, "+" | "-") {
            return Err(format!("{text} lacks a duration; write one such as {text}1.5ms"));
        }
        if let Some(rest) = text.strip_prefix('+') {
            return parse_duration_ns(rest).map(Self::AfterStart);
        }
        if let Some(rest) = text.strip_prefix('-') {
            return parse_duration_ns(rest).map(Self::BeforeEnd);
        }
        parse_duration_ns(text).map(Self::Absolute)
    }

    /// The time on the source's clock in a process with this span; `None` for a marker, or if a relative time has no span.
    pub fn time_ns(&self, span: Option<WindowSpan>) -> Option<i64> {
        match self {
            Self::Absolute(time_ns) => Some(*time_ns),
            Self::AfterStart(offset_ns) => Some(span?.start_ns.saturating_add(*offset_ns)),
            Self::BeforeEnd(offset_ns) => Some(span?.end_ns.saturating_sub(*offset_ns)),
            Self::Share(share) => {
                let span = span?;
                let length = i128::from(span.end_ns) - i128::from(span.start_ns);
                let offset = length * i128::from(*share) / (100 * i128::from(PERCENT_SCALE));
                i64::try_from(i128::from(span.start_ns) + offset).ok()
            }
            Self::Marker(_) => None,
        }
    }

    /// Whether the time depends on the span of the process.
    pub(crate) fn is_relative(&self) -> bool {
        matches!(self, Self::Share(_) | Self::AfterStart(_) | Self::BeforeEnd(_))
    }

    pub fn marker(&self) -> Option<&MarkerName> {
        match self {
            Self::Marker(name) => Some(name),
            _ => None,
        }
    }
}
