//! What figures are counted per.

use std::str::FromStr;

use super::side::Side;

/// Steady iterations that both sides need before iterations are the basis by themselves.
const MIN_ITERATIONS: usize = 3;

/// The unit of all figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// A steady iteration.
    Iteration,
    Run,
}

impl Basis {
    /// Its name in machine-readable output.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Iteration => "iteration",
            Self::Run => "run",
        }
    }
}

/// The basis that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BasisChoice {
    /// Iterations if both sides have at least three steady ones on every GPU, otherwise runs.
    #[default]
    Auto,
    Fixed(Basis),
}

impl BasisChoice {
    /// The basis for two sides.
    pub(crate) fn resolve(self, base: &Side, new: &Side) -> Basis {
        let has_iterations = |side: &Side| side.steady_iterations() >= MIN_ITERATIONS;
        match self {
            Self::Fixed(basis) => basis,
            Self::Auto if has_iterations(base) && has_iterations(new) => Basis::Iteration,
            Self::Auto => Basis::Run,
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
            _ => Err("choose from auto, iteration, run".to_owned()),
        }
    }
}
