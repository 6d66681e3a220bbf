//! The critical path: the work that the end of the program's GPU work waits for.

use std::collections::BTreeMap;

use serde::Serialize;

use super::evidence::{AnswerRow, Evidence, timeline};

/// Kinds of parts that are work; the others are gaps between work.
const WORK: [&str; 2] = ["kernel", "copy"];
/// Kinds of parts in which GPUs wait for the host or for a launch to arrive.
const LAUNCHING: [&str; 3] = ["api", "host", "launch_latency"];

/// The critical path of the process with the longest GPU work.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CriticalPath {
    /// From the first start to the last end: the sum of all parts of the path.
    pub critical_path_ns: i64,
    pub dominant_symbol: Option<String>,
    /// Its share of the path.
    pub fraction: Option<f64>,
    /// Kernels and copies on it; the rest is gaps.
    pub work_ns: i64,
    pub gaps_ns: i64,
    /// API calls, the host outside of calls, and launches under way.
    pub launching_ns: i64,
    /// Shares of the path by kernel.
    pub symbol_fractions: BTreeMap<String, f64>,
    pub rank: i64,
    #[serde(skip)]
    pub process: i64,
    /// Time by which the end would be earlier if the profiled kernel took no time. Another path may take over, so it
    /// can be less than the kernel's time.
    pub saved_if_free_ns: Option<i64>,
    /// Share of the path that this time is.
    pub saved_if_free_fraction: Option<f64>,
    /// Processes that have a path.
    pub processes: usize,
}

/// A part of a path, summed by the query.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Summed {
    pub process: i64,
    pub rank: i64,
    pub kind: String,
    pub name: String,
    pub path_ns: i64,
}

/// The longest path of any process, from sums by process, kind and name.
pub(super) fn longest(parts: &[Summed]) -> Option<CriticalPath> {
    let mut lengths: BTreeMap<(i64, i64), i64> = BTreeMap::new();
    for part in parts {
        *lengths.entry((part.process, part.rank)).or_default() += part.path_ns;
    }
    let processes = lengths.len();
    let longest = lengths.into_iter().max_by(|one, other| one.1.cmp(&other.1).then(other.0.cmp(&one.0)));
    let ((process, rank), critical_path_ns) = longest?;
    let own = || parts.iter().filter(|part| part.process == process);
    let sum = |kinds: &[&str]| own().filter(|part| kinds.contains(&part.kind.as_str())).map(|part| part.path_ns).sum();
    let mut symbols: BTreeMap<&str, i64> = BTreeMap::new();
    for part in own().filter(|part| part.kind == "kernel") {
        *symbols.entry(&part.name).or_default() += part.path_ns;
    }
    let share = |ns: i64| if critical_path_ns > 0 { ns as f64 / critical_path_ns as f64 } else { 0.0 };
    let on_path = symbols.iter().filter(|(_, ns)| **ns > 0);
    let dominant = on_path.clone().max_by(|one, other| one.1.cmp(other.1).then(other.0.cmp(one.0)));
    let work_ns = sum(&WORK);
    Some(CriticalPath {
        critical_path_ns,
        dominant_symbol: dominant.map(|(name, _)| (*name).to_owned()),
        fraction: dominant.map(|(_, ns)| share(*ns)),
        work_ns,
        gaps_ns: critical_path_ns - work_ns,
        launching_ns: sum(&LAUNCHING),
        symbol_fractions: on_path.map(|(name, ns)| ((*name).to_owned(), share(*ns))).collect(),
        rank,
        process,
        saved_if_free_ns: None,
        saved_if_free_fraction: None,
        processes,
    })
}

/// The path with the saving of a kernel, or the reason why it is missing.
pub fn critical_path(evidence: &Evidence, kernel: &str) -> Result<CriticalPath, String> {
    let question = timeline::path_summary();
    let rows = evidence.rows(&question);
    let part = |row: usize| {
        Some(Summed {
            process: rows.integer(row, "process")?,
            rank: rows.integer(row, "rank")?,
            kind: rows.text(row, "kind")?.to_owned(),
            name: rows.text(row, "name").unwrap_or_default().to_owned(),
            path_ns: rows.integer(row, "path_ns")?,
        })
    };
    let parts: Vec<Summed> = rows.places().filter_map(part).collect();
    let mut path = longest(&parts).ok_or_else(|| evidence.why_not(&question))?;
    let rows = evidence.rows(&timeline::savings());
    let row = rows.places().find(|row| {
        rows.integer(*row, "process") == Some(path.process) && rows.text(*row, "kernel_name") == Some(kernel)
    });
    let saved = row.and_then(|row| rows.integer(row, "saved_ns").or_else(|| rows.integer(row, "at_most_ns")));
    path.saved_if_free_ns = saved;
    path.saved_if_free_fraction =
        saved.filter(|_| path.critical_path_ns > 0).map(|ns| ns as f64 / path.critical_path_ns as f64);
    Ok(path)
}

/// The parts of the path in order of time, and the number of omitted parts.
pub fn nodes(evidence: &Evidence, path: &CriticalPath) -> (Vec<AnswerRow>, i64) {
    let of_process = |column: &'static str| {
        move |rows: &wavesieve_engine::findings::Rows<'_>, row: usize| rows.integer(row, column) == Some(path.process)
    };
    let nodes = evidence.records(&timeline::path(), of_process("process"));
    let rows = evidence.rows(&timeline::path_summary());
    let all = rows.sum(rows.matching(of_process("process")), "parts");
    let left_out = (all - i64::try_from(nodes.len()).unwrap_or(i64::MAX)).max(0);
    (nodes, left_out)
}

/// Slack and savings of each kernel of the process.
pub fn kernels(evidence: &Evidence, path: &CriticalPath) -> (Vec<AnswerRow>, Vec<AnswerRow>) {
    let is_own =
        |rows: &wavesieve_engine::findings::Rows<'_>, row: usize| rows.integer(row, "process") == Some(path.process);
    (evidence.records(&timeline::slack(), is_own), evidence.records(&timeline::savings(), is_own))
}
