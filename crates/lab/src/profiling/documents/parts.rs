//! The common parts of the documents, the summary and the page.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::profiling::bottlenecks::{Ranked, Verdict, ranked};
use crate::profiling::collecting::Recorded;
use crate::profiling::evidence::Evidence;
use crate::profiling::headroom::{Range, Score};
use crate::profiling::kernel::{GpuFacts, Kernel, Occupancy, Resources, resources};
use crate::profiling::paths::{CriticalPath, critical_path};
use crate::profiling::request::ProfileRequest;
use crate::profiling::roof::{Roofline, roofline};
use crate::profiling::trace_of_kernel::{Att, thread_trace};

/// The findings about a kernel. A missing part has a reason instead.
pub struct Parts {
    pub kernel: Kernel,
    pub gpu: Option<GpuFacts>,
    pub resources: Result<Resources, String>,
    pub occupancy: Result<Occupancy, String>,
    pub roofline: Result<Roofline, String>,
    pub path: Result<CriticalPath, String>,
    pub att: Result<Att, String>,
    pub verdict: Verdict,
    pub bottlenecks: Vec<Ranked>,
    pub headroom: Result<Headroom, String>,
}

/// Shares of times that may be saved, with their evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Headroom {
    /// Share of the kernel's time.
    pub kernel: Option<Range>,
    pub kernel_speedup: Option<Range>,
    /// Share of the span of the program's GPU work.
    pub program: Option<Range>,
    pub program_speedup: Option<Range>,
    pub rests_on: Vec<RestsOn>,
}

/// A number that the headroom is based on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RestsOn {
    pub what: &'static str,
    pub value: f64,
    pub about: &'static str,
}

impl Parts {
    pub fn new(request: &ProfileRequest, recorded: &Recorded, evidence: &Evidence) -> Self {
        let name = recorded.dominant.as_str();
        let kernel = Kernel::new(evidence, name);
        let (resources, occupancy) = resources(evidence, &kernel);
        let no_counters = no_counters(request, recorded);
        let roofline = no_counters.clone().map_or_else(|| roofline(evidence, name), Err);
        let path = critical_path(evidence, name);
        let att = match &recorded.thread_trace {
            None => Err("no thread trace was asked for (--att)".to_owned()),
            Some(Err(reason)) => Err(reason.clone()),
            Some(Ok(_)) => thread_trace(evidence, name),
        };
        let (verdict, bottlenecks) = ranked(evidence, name, &path, &att, no_counters.as_deref());
        let headroom = headroom(roofline.as_ref().ok(), path.as_ref().ok());
        let gpu = GpuFacts::new(evidence);
        Self { kernel, gpu, resources, occupancy, roofline, path, att, verdict, bottlenecks, headroom }
    }

    /// The minimum and maximum score of a kernel.
    pub fn score(&self) -> Option<(Score, Score)> {
        let headroom = self.headroom.as_ref().ok()?.kernel?;
        let fraction = self.path.as_ref().ok()?.saved_if_free_fraction?;
        Some((Score::new(headroom.low, fraction), Score::new(headroom.high, fraction)))
    }

    /// The reasons for missing parts, by their keys in the documents.
    pub fn absent(&self, keys: &[&'static str]) -> BTreeMap<&'static str, String> {
        let gpu = if self.gpu.is_none() { Err("the traces name no GPU") } else { Ok(()) };
        let known: [(&'static str, Option<&str>); 7] = [
            ("gpu", gpu.err()),
            ("resources", self.resources.as_ref().err().map(String::as_str)),
            ("occupancy", self.occupancy.as_ref().err().map(String::as_str)),
            ("roofline", self.roofline.as_ref().err().map(String::as_str)),
            ("critical_path", self.path.as_ref().err().map(String::as_str)),
            ("att", self.att.as_ref().err().map(String::as_str)),
            ("headroom", self.headroom.as_ref().err().map(String::as_str)),
        ];
        let asked = known.into_iter().filter(|(key, _)| keys.contains(key));
        asked.filter_map(|(key, reason)| Some((key, reason?.to_owned()))).collect()
    }
}

fn no_counters(request: &ProfileRequest, recorded: &Recorded) -> Option<String> {
    if !request.counters {
        return Some("no counters were asked for (--counters)".to_owned());
    }
    if let Some(reason) = &recorded.no_passes {
        return Some(format!("no counters were collected: {reason}"));
    }
    let failed: Vec<&String> = recorded.passes.iter().filter_map(|pass| pass.failed.as_ref()).collect();
    let is_nothing = !failed.is_empty() && failed.len() == recorded.passes.len();
    is_nothing.then(|| {
        format!(
            "no counters were collected: {}",
            failed.first().map_or("", |reason| reason.lines().next().unwrap_or_default().trim_end_matches(':'))
        )
    })
}

pub fn headroom(roofline: Option<&Roofline>, path: Option<&CriticalPath>) -> Result<Headroom, String> {
    let efficiency = roofline.and_then(|roofline| roofline.efficiency);
    let fraction = path.and_then(|path| path.saved_if_free_fraction);
    let kernel = efficiency.map(Range::of_roof);
    let program = match (kernel, fraction) {
        (Some(kernel), Some(fraction)) => Some(kernel.of_part(fraction)),
        // Without a roof, the kernel may already be at its optimum, or far from it.
        (None, Some(fraction)) => Some(Range { low: 0.0, high: fraction.clamp(0.0, 1.0) }),
        _ => None,
    };
    if kernel.is_none() && program.is_none() {
        return Err("neither a roofline nor a critical path is known".to_owned());
    }
    let of_roof = efficiency.map(|value| RestsOn {
        what: "roofline_efficiency",
        value,
        about: "share of the time that the roof takes; at most all above it can be saved, at least what lies above 60% of the roof, where resources count as saturated",
    });
    let of_path = fraction.map(|value| RestsOn {
        what: "critical_path_fraction",
        value,
        about: "share of the span by which the GPU work would end earlier if the kernel took no time",
    });
    Ok(Headroom {
        kernel,
        kernel_speedup: kernel.map(Range::speedups),
        program,
        program_speedup: program.map(Range::speedups),
        rests_on: of_roof.into_iter().chain(of_path).collect(),
    })
}
