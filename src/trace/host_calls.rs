//! What the names of host calls tell: which of them wait, and which stop and start the recording.
//!
//! The facts are data: `share/host_calls.toml`.

use serde::Deserialize;

const BUILTIN_FACTS: &str = include_str!("../../share/host_calls.toml");

/// Facts about host calls by their names.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostCalls {
    synchronise: Vec<String>,
    pause: Vec<String>,
    resume: Vec<String>,
    annotations: Vec<String>,
}

impl HostCalls {
    /// The facts that come with the program.
    #[must_use]
    pub fn builtin() -> Self {
        // That the embedded file is valid is tested; there is no sensible way to report it to a user.
        toml::from_str(BUILTIN_FACTS).unwrap_or_default()
    }

    /// Whether a call returns only when something on the GPU is done.
    #[must_use]
    pub fn synchronises(&self, name: &str) -> bool {
        is_listed(&self.synchronise, name)
    }

    /// Whether a call stops the recording.
    #[must_use]
    pub fn pauses(&self, name: &str) -> bool {
        is_listed(&self.pause, name)
    }

    /// Whether a call starts the recording again.
    #[must_use]
    pub fn resumes(&self, name: &str) -> bool {
        is_listed(&self.resume, name)
    }

    /// Whether the regions of a domain are annotations or functions of the program, and no calls of an interface.
    #[must_use]
    pub fn annotates(&self, domain: &str) -> bool {
        is_listed(&self.annotations, domain)
    }
}

fn is_listed(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => pattern == name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_facts() {
        let facts = HostCalls::builtin();
        for waits in ["hipDeviceSynchronize", "hipMemcpy", "hipMemcpyWithStream", "hsa_signal_wait_scacquire"] {
            assert!(facts.synchronises(waits), "{waits}");
        }
        for goes_on in ["hipMemcpyAsync", "hipMemcpyDtoHAsync", "hipLaunchKernel", "hipStreamWaitEvent", ""] {
            assert!(!facts.synchronises(goes_on), "{goes_on}");
        }
        assert!(facts.pauses("roctxProfilerPause") && !facts.pauses("roctxProfilerResume"));
        assert!(facts.resumes("roctxProfilerResume") && !facts.resumes("roctxProfilerPause"));
        assert!(facts.annotates("marker") && !facts.annotates("hip"));
    }
}
