//! Errors of the runtime.

use std::path::PathBuf;

use thiserror::Error;

#[derive(Debug, Error)]
pub(in super::super) enum RuntimeError {
    #[error("no HSA runtime: {}; install ROCm or name it with --runtime", tried.join("; "))]
    NoRuntime { tried: Vec<String> },
    #[error("the HSA runtime {} has no {function}; ROCm 6.0 or newer is needed", path.display())]
    TooOld { path: PathBuf, function: &'static str },
    #[error("the HSA runtime does not start ({status}): {hint}")]
    NotStarted { status: String, hint: &'static str },
    #[error("there is no GPU {wanted}: the HSA runtime has {found}; see ROCR_VISIBLE_DEVICES and --gpu")]
    NoGpu { wanted: usize, found: usize },
    #[error("{call} failed: {status}")]
    Call { call: &'static str, status: String },
    #[error("the GPU has no {0}")]
    Lacking(&'static str),
    #[error("`{0}` is not a name of a symbol")]
    NoName(String),
    #[error("the GPU stopped the queue: {0}; the kernel may have used memory that is not in the capture")]
    Queue(String),
}

impl RuntimeError {
    /// Returns whether another machine could support it.
    pub(in super::super) fn is_lack(&self) -> bool {
        matches!(self, Self::NoRuntime { .. } | Self::TooOld { .. } | Self::NotStarted { .. } | Self::NoGpu { .. })
    }
}
