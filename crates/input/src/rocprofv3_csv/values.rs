//! Parses labels of agents.

use crate::common::csv::{plain_integer, trimmed};

/// Bits of the number in a code; the class of the label is above them.
const CLASS_BITS: u32 = 58;
const LARGEST_LABEL: i64 = (1 << CLASS_BITS) - 1;

/// An agent label in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AgentLabel {
    /// `4`, in early versions: the number of the kernel driver.
    Number(i64),
    /// `Agent 4`: the number among the agents that the process sees, or the number of the kernel driver.
    Agent(i64),
    /// `CPU 0`: the number among the CPUs.
    Cpu(i64),
    /// `GPU 0`: the number among the GPUs.
    Gpu(i64),
    /// `NIC 0`: the number among the network cards.
    Nic(i64),
}

impl AgentLabel {
    /// The label as one number, for a column of integers.
    pub fn code(self) -> i64 {
        let (class, number) = match self {
            Self::Number(number) => (0, number),
            Self::Agent(number) => (1, number),
            Self::Cpu(number) => (2, number),
            Self::Gpu(number) => (3, number),
            Self::Nic(number) => (4, number),
        };
        (class << CLASS_BITS) | number
    }

    /// The label of a [`AgentLabel::code`].
    pub(crate) fn of_code(code: i64) -> Self {
        let number = code & LARGEST_LABEL;
        match code >> CLASS_BITS {
            1 => Self::Agent(number),
            2 => Self::Cpu(number),
            3 => Self::Gpu(number),
            4 => Self::Nic(number),
            _ => Self::Number(number),
        }
    }

    pub fn number(self) -> i64 {
        match self {
            Self::Number(number) | Self::Agent(number) | Self::Cpu(number) | Self::Gpu(number) | Self::Nic(number) => {
                number
            }
        }
    }
}

/// An agent: a number, or a word and a number. `None` for other texts.
pub fn agent(field: &[u8]) -> Option<AgentLabel> {
    if let Some(number) = plain_integer(field) {
        return (number <= LARGEST_LABEL).then_some(AgentLabel::Number(number));
    }
    let text = trimmed(field)?;
    let word = text.trim_end_matches(|character: char| character.is_ascii_digit());
    let number: i64 = text.get(word.len()..)?.parse().ok()?;
    if number > LARGEST_LABEL {
        return None;
    }
    match word.trim_end_matches([' ', '-', '_', ':']).to_ascii_lowercase().as_str() {
        "" => Some(AgentLabel::Number(number)),
        "agent" => Some(AgentLabel::Agent(number)),
        "cpu" => Some(AgentLabel::Cpu(number)),
        "gpu" => Some(AgentLabel::Gpu(number)),
        "nic" => Some(AgentLabel::Nic(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn agents() {
        for (field, label) in [
            ("4", Some(AgentLabel::Number(4))),
            ("Agent 4", Some(AgentLabel::Agent(4))),
            ("Agent-4", Some(AgentLabel::Agent(4))),
            ("GPU 0", Some(AgentLabel::Gpu(0))),
            ("CPU 1", Some(AgentLabel::Cpu(1))),
            ("\"", None),
            ("", None),
            ("Device 2", None),
        ] {
            assert_eq!(agent(field.as_bytes()), label, "{field}");
            assert_eq!(label, label.map(|label| AgentLabel::of_code(label.code())), "{field}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_something(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
            let _ = agent(&bytes);
        }
    }
}
