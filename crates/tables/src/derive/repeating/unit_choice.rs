//! The unit of work that a user chooses in place of the one with the strongest evidence.

use std::fmt;
use std::str::FromStr;

/// The choice of the unit of work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum UnitChoice {
    /// The one with the strongest evidence.
    #[default]
    Auto,
    /// Recorded steps, or steps of an LLM server.
    Step,
    /// Launches of graphs.
    Replay,
    /// Repetitions of the sequence of kernels, whatever encloses them.
    Iteration,
    /// Repetitions within the unit with the strongest evidence.
    Layer,
    /// Ranges with this text; `*` at its end stands for a number.
    Range(String),
    /// No unit is claimed.
    None,
}

impl UnitChoice {
    /// Whether nothing was chosen.
    pub fn is_auto(&self) -> bool {
        *self == Self::Auto
    }

    /// Whether a certain unit was chosen, which a trace may lack.
    pub fn is_certain(&self) -> bool {
        !matches!(self, Self::Auto | Self::None)
    }
}

impl FromStr for UnitChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text.trim() {
            "auto" => Self::Auto,
            "step" => Self::Step,
            "replay" => Self::Replay,
            "iteration" => Self::Iteration,
            "layer" => Self::Layer,
            "none" => Self::None,
            other => match other.strip_prefix("range:").filter(|name| !name.is_empty()) {
                Some(name) => Self::Range(name.to_owned()),
                None => {
                    return Err("choose from auto, step, iteration, replay, layer, range:NAME, none".to_owned());
                }
            },
        })
    }
}

impl fmt::Display for UnitChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => formatter.write_str("auto"),
            Self::Step => formatter.write_str("step"),
            Self::Replay => formatter.write_str("replay"),
            Self::Iteration => formatter.write_str("iteration"),
            Self::Layer => formatter.write_str("layer"),
            Self::Range(name) => write!(formatter, "range:{name}"),
            Self::None => formatter.write_str("none"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_as_they_are_written() {
        for text in ["auto", "step", "iteration", "replay", "layer", "range:forward pass *", "none"] {
            assert_eq!(text.parse::<UnitChoice>().unwrap().to_string(), text);
        }
        for text in ["", "steps", "range:", "us"] {
            assert!(text.parse::<UnitChoice>().unwrap_err().contains("range:NAME"), "{text}");
        }
    }
}
