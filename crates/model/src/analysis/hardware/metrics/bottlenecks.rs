//! The rules of `share/bottlenecks.toml`, which infer from metrics what limits a kernel.

use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    bottleneck: Vec<Bottleneck>,
}

/// Something that limits a kernel, and the evidence for it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bottleneck {
    /// Unique name.
    pub id: String,
    /// Name for people.
    pub verdict: String,
    /// Its effect.
    #[serde(rename = "about")]
    _about: String,
    /// Whether it follows from the absence of others. It is then reported only if none of the rules before it is
    /// unknown.
    #[serde(default)]
    pub follows: bool,
    /// Conditions that must all hold.
    pub evidence: Vec<Evidence>,
}

/// A bound on a metric.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    pub metric: String,
    /// Whether the bound is for its percent of the peak, not for its value.
    #[serde(default)]
    pub of_peak: bool,
    /// Minimum value.
    pub at_least: Option<f64>,
    /// Maximum value.
    pub at_most: Option<f64>,
}

impl Evidence {
    /// Whether a value is within the bound.
    pub fn holds(&self, value: f64) -> bool {
        self.at_least.is_none_or(|least| value >= least) && self.at_most.is_none_or(|greatest| value <= greatest)
    }

    /// The bound in words.
    pub fn bound(&self) -> String {
        let least = self.at_least.map(|least| format!("at least {least}"));
        let greatest = self.at_most.map(|greatest| format!("at most {greatest}"));
        least.into_iter().chain(greatest).collect::<Vec<_>>().join(", ")
    }
}

/// The rules in evaluation order.
pub fn bottlenecks() -> &'static [Bottleneck] {
    &shared!(RuleFile, "share/bottlenecks.toml").bottleneck
}
