//! Known facts about a kernel when it is changed.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use wavesieve_files::regular::{self, LARGE_BYTES};

/// The file that `lab profile` writes about a kernel.
const FILE: &str = "analysis.json";

/// Facts from measurements and metadata; nothing if they are not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelFacts {
    /// The most work-items of a workgroup that it was launched with.
    pub work_items: Option<u32>,
    /// Share of its cycles in which it waits, of 1.
    pub stall: Option<f64>,
    /// Findings that ask for a change: ids of what limits the kernel, as `lab profile` ranks it. None if nothing is known.
    pub bottlenecks: Option<Vec<String>>,
}

impl KernelFacts {
    /// From `analysis.json` of `lab profile` in a folder, with the name of its kernel.
    ///
    /// # Errors
    /// When it cannot be read, or is something else.
    pub fn of_profile(directory: &Path) -> Result<(Self, String)> {
        let path = directory.join(FILE);
        let text = regular::read_text(&path, LARGE_BYTES)
            .with_context(|| format!("cannot read {}; name a folder that `lab profile -o` wrote", path.display()))?;
        let profile: Profile = serde_json::from_str(&text)
            .with_context(|| format!("{} is not an analysis of `lab profile`", path.display()))?;
        let holds = profile.bottlenecks.into_iter().filter(|one| one.state == "yes").map(|one| one.bottleneck);
        let found: Vec<String> = holds.collect();
        let bottlenecks = (!found.is_empty()).then_some(found);
        let stall = profile.att.and_then(|att| att.stall_fraction).filter(|share| (0.0..=1.0).contains(share));
        Ok((Self { work_items: None, stall, bottlenecks }, profile.kernel))
    }

    /// Whether one of these limits the kernel, or nothing is known about that.
    pub(super) fn may_be_limited_by(&self, ids: &[&str]) -> bool {
        self.bottlenecks.as_ref().is_none_or(|found| found.iter().any(|id| ids.contains(&id.as_str())))
    }
}

#[derive(Deserialize)]
struct Profile {
    kernel: String,
    bottlenecks: Vec<Bottleneck>,
    att: Option<ThreadTrace>,
}

#[derive(Deserialize)]
struct Bottleneck {
    bottleneck: String,
    state: String,
}

#[derive(Deserialize)]
struct ThreadTrace {
    stall_fraction: Option<f64>,
}
