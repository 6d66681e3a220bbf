//! What is known about a kernel when it is changed.

/// What measurements and metadata show; nothing where that is not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct KernelFacts {
    /// The most work-items of a workgroup that it was launched with.
    pub work_items: Option<u32>,
    /// Share of its cycles in which it waits, of 1.
    pub stall: Option<f64>,
    /// Findings that ask for a change: what limits the kernel, as `lab profile` ranks it. None if nothing was profiled.
    pub bottlenecks: Option<Vec<String>>,
}

impl KernelFacts {
    /// Whether one of these limits the kernel, or nothing is known about that.
    pub(super) fn may_be_limited_by(&self, labels: &[&str]) -> bool {
        let is_one = |found: &String| {
            let found = found.to_lowercase();
            labels.iter().any(|label| found.contains(label))
        };
        self.bottlenecks.as_ref().is_none_or(|found| found.iter().any(is_one))
    }
}
