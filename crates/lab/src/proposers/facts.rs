//! Facts about a kernel to change.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use wavesieve_files::regular::{self, LARGE_BYTES};

/// The file of `lab profile` about a kernel.
const FILE: &str = "analysis.json";

/// Facts from measurements and metadata; `None` if unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelFacts {
    /// The largest workgroup that the kernel was launched with, in work-items.
    pub work_items: Option<u32>,
    /// Share of its cycles in which it waits, from 0 to 1.
    pub stall: Option<f64>,
    /// Ids of the kernel's limits, as `lab profile` ranks them: they suggest changes. `None` if nothing is known.
    pub bottlenecks: Option<Vec<String>>,
}

impl KernelFacts {
    /// Reads facts from `analysis.json` of `lab profile` in a folder; also returns the name of its kernel.
    ///
    /// # Errors
    /// When it cannot be read, or is another file.
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

    /// Returns whether one of these limits the kernel, or nothing is known about its limits.
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
