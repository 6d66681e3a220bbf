//! Transforms of a kernel's source.

use thiserror::Error;

use super::facts::KernelFacts;
use super::{launch_bounds, restrict, unroll, vector_loads};
use wavesieve_source::kernels::{SourceKernel, kernels};

/// A transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {
    /// `#pragma unroll N` before the innermost loop.
    Unroll,
    /// `__launch_bounds__` with the workgroup size of the launches.
    LaunchBounds,
    /// `__restrict__` on pointers.
    Restrict,
    /// Four loads of neighbors as one load.
    VectorLoads,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transformed {
    pub text: String,
    /// The change in words, with the finding that suggests it.
    pub reason: String,
}

/// The reason why a transform does not fit a kernel.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct Refusal(pub String);

impl Refusal {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl Transform {
    /// All transforms, in the order of trials.
    pub const ALL: [Self; 4] = [Self::LaunchBounds, Self::Restrict, Self::Unroll, Self::VectorLoads];

    /// Its name on the command line and in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unroll => "unroll",
            Self::LaunchBounds => "launch_bounds",
            Self::Restrict => "restrict",
            Self::VectorLoads => "vector_loads",
        }
    }

    /// The transform of a name.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.word() == word)
    }

    /// The limits of a kernel that suggest this transform, by the ids of `share/bottlenecks.toml` and `share/lab.toml`.
    pub(super) fn asked_by(self) -> &'static [&'static str] {
        match self {
            Self::Unroll => &["latency", "instruction_waits", "vector_compute", "matrix_compute"],
            Self::LaunchBounds => &["under_occupied", "latency", "instruction_waits"],
            Self::Restrict | Self::VectorLoads => {
                &["latency", "instruction_waits", "memory_bandwidth", "l2_bandwidth", "uncoalesced_access"]
            }
        }
    }

    /// Changes a kernel in a text.
    ///
    /// # Errors
    /// The reason why it does not fit.
    pub fn apply(self, text: &str, kernel: &SourceKernel, facts: &KernelFacts) -> Result<Transformed, Refusal> {
        if kernel.is_torn {
            return Err(Refusal::new("alternatives of the preprocessor share the kernel with another"));
        }
        if !facts.may_be_limited_by(self.asked_by()) {
            let found = facts.bottlenecks.iter().flatten().cloned().collect::<Vec<_>>().join(", ");
            return Err(Refusal::new(format!("nothing asks for it: the kernel is limited by {found}")));
        }
        if let Some((plain, kernel)) = without_carriage_returns(text, kernel) {
            let changed = self.change(&plain, &kernel, facts)?;
            return Ok(Transformed { text: changed.text.replace('\n', "\r\n"), ..changed });
        }
        self.change(text, kernel, facts)
    }

    fn change(self, text: &str, kernel: &SourceKernel, facts: &KernelFacts) -> Result<Transformed, Refusal> {
        match self {
            Self::Unroll => unroll::apply(text, kernel, facts),
            Self::LaunchBounds => launch_bounds::apply(text, kernel, facts),
            Self::Restrict => restrict::apply(text, kernel),
            Self::VectorLoads => vector_loads::apply(text, kernel),
        }
    }
}

/// A text with Windows line ends on all lines, converted to line feeds, and the kernel in it.
fn without_carriage_returns(text: &str, kernel: &SourceKernel) -> Option<(String, SourceKernel)> {
    let plain = text.replace("\r\n", "\n");
    if plain.len() == text.len() || plain.contains('\r') || plain.replace('\n', "\r\n") != text {
        return None;
    }
    let is_it = |one: &SourceKernel| one.line == kernel.line && one.name == kernel.name && one.scopes == kernel.scopes;
    let found = kernels(&plain).into_iter().find(is_it)?;
    Some((plain, found))
}
