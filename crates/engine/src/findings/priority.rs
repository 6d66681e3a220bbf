//! Priorities of findings.

use serde::{Deserialize, Serialize};

/// How much a finding matters; the first matters most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// Costs much; look at it first.
    High,
    /// Costs something.
    Medium,
    /// Costs little, or may be intended.
    Low,
    /// Good to know.
    Info,
}

impl Priority {
    /// All of them, the first matters most.
    pub const ALL: [Self; 4] = [Self::High, Self::Medium, Self::Low, Self::Info];

    /// Its name in machine-readable output.
    pub fn word(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
            Self::Info => "info",
        }
    }
}
