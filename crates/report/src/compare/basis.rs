//! Bases that figures are counted per.

use std::collections::BTreeSet;
use std::str::FromStr;

use super::side::Side;

/// Minimum number of steady iterations of both sides for iterations as the default basis.
const MIN_ITERATIONS: usize = 3;

/// The unit of all figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A steady iteration.
    Iteration,
    Run,
}

impl Basis {
    /// Its name in machine-readable output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Iteration => "iteration",
            Self::Run => "run",
        }
    }
}

/// The requested basis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BasisChoice {
    /// Iterations if both sides have at least three steady ones on every GPU, otherwise runs.
    #[default]
    Auto,
    Fixed(Basis),
    /// The work of each ROCTx range with this name or path, in place of iterations; `*` at its end stands for a number.
    Range(String),
}

impl BasisChoice {
    /// The basis for two sides.
    pub fn resolve(&self, base: &Side, new: &Side) -> Basis {
        let has_iterations = |side: &Side| side.steady_iterations() >= MIN_ITERATIONS;
        match self {
            Self::Fixed(basis) => *basis,
            Self::Range(_) => Basis::Iteration,
            Self::Auto if has_iterations(base) && has_iterations(new) => Basis::Iteration,
            Self::Auto => Basis::Run,
        }
    }
}

impl BasisChoice {
    /// Name of the ranges that stand in place of iterations.
    pub fn range(&self) -> Option<&str> {
        match self {
            Self::Range(name) => Some(name),
            Self::Auto | Self::Fixed(_) => None,
        }
    }

    /// The kind of the resolved basis, in machine-readable output.
    pub fn kind(&self, basis: Basis) -> &'static str {
        if self.range().is_some() { "range" } else { basis.word() }
    }

    /// The unit of the resolved basis, as texts name it: the word for the units of work that all sides have in common.
    pub fn unit<'a>(&self, basis: Basis, sides: impl IntoIterator<Item = &'a Side>) -> String {
        let words: BTreeSet<Option<&str>> = sides.into_iter().map(Side::unit).collect();
        match (self.range(), basis, words.first()) {
            (Some(name), ..) => format!("range {name}"),
            (None, Basis::Iteration, Some(Some(word))) if words.len() == 1 => (*word).to_owned(),
            _ => basis.word().to_owned(),
        }
    }
}

impl FromStr for BasisChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "iteration" => Ok(Self::Fixed(Basis::Iteration)),
            "run" => Ok(Self::Fixed(Basis::Run)),
            _ => match text.strip_prefix("range:").filter(|name| !name.is_empty()) {
                Some(name) => Ok(Self::Range(name.to_owned())),
                None => Err("choose from auto, iteration, run, range:NAME".to_owned()),
            },
        }
    }
}
