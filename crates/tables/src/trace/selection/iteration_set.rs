//! Sets of iterations of a process, as users write them: `5..10`, `steady`.

use std::fmt;
use std::str::FromStr;

use wavesieve_model::analysis::iterations::Phase;

/// Iterations by their ordinals, or by their phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IterationSet {
    /// Iterations from the first to the last, both included; `None` if that side is open.
    Between(Option<i64>, Option<i64>),
    Of(Phase),
}

impl IterationSet {
    /// Whether an iteration with this ordinal and phase is in the set.
    pub fn contains(&self, iteration: i64, phase: &str) -> bool {
        match self {
            Self::Between(first, last) => {
                first.is_none_or(|first| first <= iteration) && last.is_none_or(|last| iteration <= last)
            }
            Self::Of(own) => own.word() == phase,
        }
    }
}

impl FromStr for IterationSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("{text} is not a set of iterations; write 5..10, 5, 5.. or ..10, or steady, warmup or cooldown");
        let text = text.trim();
        if let Some(phase) = Phase::ALL.into_iter().find(|phase| *phase != Phase::Prefill && phase.word() == text) {
            return Ok(Self::Of(phase));
        }
        let number = |word: &str| -> Result<Option<i64>, String> {
            let word = word.trim();
            let is_open = word.is_empty();
            let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
            if is_open { Ok(None) } else { word.parse().ok().filter(|_| is_number).map(Some).ok_or_else(wrong) }
        };
        let (first, last) = match text.split_once("..") {
            Some((first, last)) => (number(first)?, number(last.strip_prefix('=').unwrap_or(last))?),
            None => {
                let only = number(text)?;
                (only, only)
            }
        };
        match (first, last) {
            (None, None) => Err(wrong()),
            (Some(first), Some(last)) if last < first => {
                Err(format!("the iterations {text} end before they start; write {last}..{first}"))
            }
            sides => Ok(Self::Between(sides.0, sides.1)),
        }
    }
}

impl fmt::Display for IterationSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |side: &Option<i64>| side.map(|number| number.to_string()).unwrap_or_default();
        match self {
            Self::Between(Some(first), Some(last)) if first == last => write!(formatter, "{first}"),
            Self::Between(first, last) => write!(formatter, "{}..{}", side(first), side(last)),
            Self::Of(phase) => formatter.write_str(phase.word()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_and_phases() {
        for (text, shown, inside) in [
            ("5..7", "5..7", [5, 6, 7].as_slice()),
            ("5..=7", "5..7", &[5, 6, 7]),
            ("3", "3", &[3]),
            ("7..", "7..", &[7, 8]),
            ("..1", "..1", &[0, 1]),
        ] {
            let set: IterationSet = text.parse().unwrap();
            assert_eq!(set.to_string(), shown);
            let found: Vec<i64> = (0..9).filter(|iteration| set.contains(*iteration, "steady")).collect();
            assert_eq!(found, inside, "{text}");
        }
        let steady: IterationSet = "steady".parse().unwrap();
        assert!(steady.contains(4, "steady") && !steady.contains(0, "warmup"));
        assert_eq!(steady.to_string(), "steady");
    }

    #[test]
    fn what_names_none() {
        for text in ["", "..", "a", "5-7", "7..5", "-1", "+1", "1..2..3", "stead", "99999999999999999999"] {
            assert!(text.parse::<IterationSet>().is_err(), "{text}");
        }
    }
}
