//! The picture that the time line draws, as `docs/design/timeline.md` describes it.

use std::collections::BTreeMap;

use serde::Serialize;

/// Version of the format.
pub const VERSION: u32 = 1;

/// A run, or two that are compared, as the time line draws it. Times count from `origin_ns`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Picture {
    /// [`VERSION`].
    pub version: u32,
    /// Time 0 on the recorded clock, in decimal digits.
    pub origin_ns: String,
    /// Length of the run.
    pub span_ns: i64,
    /// Names of slices.
    pub names: Vec<String>,
    /// Color classes of slices and shares.
    pub kinds: Vec<SliceKind>,
    /// GPUs and processes.
    pub groups: Vec<LaneGroup>,
    /// The whole run.
    pub overview: Overview,
    /// Parts of the run in detail.
    pub windows: Vec<Window>,
    /// Places of findings.
    pub places: Vec<FindingPlace>,
    /// Sentences about what is missing or summed up.
    pub notes: Vec<String>,
}

/// A color class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SliceKind {
    /// Its id: `gemm`, `idle:sync` …
    pub id: String,
    /// Its name for people.
    pub label: String,
}

/// A GPU, or a process for lanes of its host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaneGroup {
    /// `r0g0`, `r0`; in comparisons after `base/` or `new/`.
    pub id: String,
    /// Its name for people.
    pub label: String,
    /// Rank of the process.
    pub rank: i64,
    /// Index of the GPU in its process; `None` for the host.
    pub gpu: Option<i64>,
    /// `base` or `new` in a comparison.
    pub side: Option<&'static str>,
}

/// Sums over the whole run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Overview {
    /// Number of bins.
    pub bins: usize,
    /// A lane per GPU, or per several of them.
    pub lanes: Vec<OverviewLane>,
    /// Starts of units of work.
    pub ticks: Vec<i64>,
    /// Name of the unit.
    pub unit: String,
    /// Marked parts of the run.
    pub marks: Vec<OverviewMark>,
}

/// The GPU time of a lane by bin.
#[derive(Clone, Debug, Serialize)]
pub struct OverviewLane {
    /// Id of its group.
    pub group: String,
    /// Its name for people.
    pub label: String,
    /// GPUs that it sums up.
    pub count: usize,
    /// By index of kind: a byte per bin in base64, the share in 255ths.
    pub shares: BTreeMap<usize, String>,
}

/// A marked part of the run.
#[derive(Clone, Debug, Serialize)]
pub struct OverviewMark {
    /// `prefill`, `decode`, `warmup`, `change_point` or `missing`.
    pub kind: &'static str,
    /// Its text for people.
    pub label: String,
    /// Start.
    pub start_ns: i64,
    /// End.
    pub end_ns: i64,
}

/// A part of the run with its events.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Window {
    /// `typical`, `worst`, `late`, `median`, `gap`, `place-1` …, `base`, `new`.
    pub id: String,
    /// Its name for people.
    pub label: String,
    /// Why this part is shown.
    pub reason: String,
    /// Id of the GPU that it is about.
    pub group: String,
    /// Start.
    pub start_ns: i64,
    /// End.
    pub end_ns: i64,
    /// Lanes in the order of display.
    pub lanes: Vec<Lane>,
    /// Lane and slice of a call, lane and slice of its work.
    pub flows: Vec<[usize; 4]>,
    /// The critical path.
    pub path: PathLine,
    /// In comparisons: lane and slice of the base, lane and slice of this window.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<[usize; 4]>,
}

/// Parts of the critical path, in order.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PathLine {
    /// Start, from the start of the previous part; of the first one from the start of the window.
    pub start_ns: Vec<i64>,
    /// Length.
    pub length_ns: Vec<i64>,
    /// Index of the lane where it runs, -1 for none.
    pub lane: Vec<i64>,
}

/// Events of one stream, thread or kind.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Lane {
    /// Stable id.
    pub id: String,
    /// Id of its group.
    pub group: String,
    /// `kernels`, `copies`, `gaps`, `calls`, `ranges`, `operators` or `counter`.
    pub kind: &'static str,
    /// Its name for people.
    pub label: String,
    /// Rows of nested slices.
    pub levels: usize,
    /// 0 if each event has its own slice.
    pub resolution_ns: i64,
    /// The events.
    pub slices: Slices,
}

/// Events in columns of one length; a column that says the same of all of them is left out.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Slices {
    /// Start, from the start of the previous slice; of the first one from the start of the window.
    pub start_ns: Vec<i64>,
    /// Length.
    pub length_ns: Vec<i64>,
    /// Index of the name.
    pub name: Vec<usize>,
    /// Index of the kind.
    pub kind: Vec<usize>,
    /// Row within the lane; empty if all are 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub level: Vec<usize>,
    /// Id in its table, -1 for several events.
    pub id: Vec<i64>,
    /// Events; empty if all are 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub count: Vec<i64>,
    /// Covered time; empty if all are the length.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub busy_ns: Vec<i64>,
    /// 1 gone, 2 new; empty if all are 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mark: Vec<u8>,
    /// Index of a name with more about it, -1 for none; empty if all are -1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<i64>,
}

/// Where a finding shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingPlace {
    /// Id of the finding.
    pub id: String,
    /// Its title.
    pub label: String,
    /// Id of the GPU or process.
    pub group: String,
    /// Start.
    pub start_ns: i64,
    /// End.
    pub end_ns: i64,
}
