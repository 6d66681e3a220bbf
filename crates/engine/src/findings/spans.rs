//! The spans of GPUs, without intervals that are not part of the run: pauses of the recording, and gaps so long that only a pause, a clock
//! change or another run explains them.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::Answers;
use super::questions::{gaps, idle, time_question};
use super::rule_book::RuleText;
use super::rule_context::Rows;
use wavesieve_tables::trace::views::View;

/// Id of the rule whose thresholds decide which gaps are not idle time.
pub const BROKEN_SPAN: &str = "broken_span";

/// Rank and index of a GPU.
pub type GpuKey = (i64, i64);

/// Spans of GPUs, and their intervals that are not part of the run.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    recorded_ns: BTreeMap<GpuKey, i64>,
    paused_ns: BTreeMap<GpuKey, i64>,
    /// Total length of the gaps that are not idle time.
    broken_ns: BTreeMap<GpuKey, i64>,
    /// The same by cause, with their number.
    broken_by_cause: BTreeMap<(GpuKey, String), (i64, i64)>,
    /// Rows of the result about gaps that are not idle time.
    breaks: BTreeSet<usize>,
}

/// The GPU that a row is about.
pub fn gpu_of(rows: &Rows<'_>, row: usize) -> GpuKey {
    let number = |column: &str| rows.integer(row, column).unwrap_or_default();
    (number("rank"), number("gpu"))
}

impl Spans {
    /// Computes the spans from the answers about a view of the run; `rule` has the thresholds of gaps.
    pub fn new(answers: &Answers, view: View, rule: Option<&RuleText>) -> Self {
        let mut spans = Self::default();
        let rows = answers.rows(time_question().of_view(view));
        for row in rows.places() {
            if let Some(span_ns) = rows.integer(row, "span_ns") {
                spans.recorded_ns.insert(gpu_of(&rows, row), span_ns);
            }
        }
        let rows = answers.rows(idle().of_view(view));
        for row in rows.matching(|rows, row| rows.text(row, "cause") == Some("paused")) {
            spans.paused_ns.insert(gpu_of(&rows, row), rows.integer(row, "total_ns").unwrap_or_default());
        }
        spans.find_breaks(answers, view, rule);
        spans
    }

    fn find_breaks(&mut self, answers: &Answers, view: View, rule: Option<&RuleText>) {
        let threshold = |name: &str| rule.and_then(|rule| rule.thresholds.get(name)).copied().unwrap_or(f64::NAN);
        let rows = answers.rows(gaps().of_view(view));
        let least_ns = threshold("min_s") * 1e9;
        let mut long: BTreeMap<GpuKey, (i64, Vec<usize>)> = BTreeMap::new();
        for row in rows.places().filter(|row| rows.text(*row, "cause") != Some("paused")) {
            let Some(duration_ns) = rows.integer(row, "duration_ns").filter(|ns| *ns as f64 >= least_ns) else {
                continue;
            };
            let (sum_ns, places) = long.entry(gpu_of(&rows, row)).or_default();
            *sum_ns = sum_ns.saturating_add(duration_ns);
            places.push(row);
        }
        for (gpu, (broken_ns, places)) in long {
            let whole_ns = self.recorded_ns.get(&gpu).copied().unwrap_or_default();
            let dominates = broken_ns as f64 * 100.0 >= threshold("min_pct") * whole_ns as f64;
            let duration_ns = |row: usize| rows.integer(row, "duration_ns").unwrap_or_default();
            // Gaps above the threshold `sure_s` count, whatever share they have.
            let places: Vec<usize> = places
                .into_iter()
                .filter(|row| dominates || duration_ns(*row) as f64 >= threshold("sure_s") * 1e9)
                .collect();
            if places.is_empty() {
                continue;
            }
            let broken_ns = places.iter().fold(0_i64, |sum, row| sum.saturating_add(duration_ns(*row)));
            self.broken_ns.insert(gpu, broken_ns);
            for row in &places {
                let mut rest_ns = rows.integer(*row, "duration_ns").unwrap_or_default();
                for cause in ["host_bound", "sync", "launch_delay"] {
                    let part_ns = rows.integer(*row, &format!("{cause}_ns")).unwrap_or_default();
                    rest_ns = rest_ns.saturating_sub(part_ns);
                    self.add_broken(gpu, cause, part_ns);
                }
                self.add_broken(gpu, "no_record", rest_ns);
            }
            self.breaks.extend(places);
        }
    }

    fn add_broken(&mut self, gpu: GpuKey, cause: &str, part_ns: i64) {
        if part_ns > 0 {
            let (sum_ns, gaps) = self.broken_by_cause.entry((gpu, cause.to_owned())).or_default();
            *sum_ns = sum_ns.saturating_add(part_ns);
            *gaps += 1;
        }
    }

    /// Part of a GPU's span that does not belong to the run.
    pub fn left_out_ns(&self, gpu: GpuKey) -> i64 {
        let of = |times: &BTreeMap<GpuKey, i64>| times.get(&gpu).copied().unwrap_or_default();
        of(&self.paused_ns).saturating_add(of(&self.broken_ns)).clamp(0, of(&self.recorded_ns).max(0))
    }

    /// The span of a GPU that is part of the run.
    pub fn span_ns(&self, gpu: GpuKey) -> i64 {
        self.recorded_ns.get(&gpu).copied().unwrap_or_default().saturating_sub(self.left_out_ns(gpu))
    }

    /// The spans of all GPUs added up.
    pub fn total_ns(&self) -> i64 {
        self.recorded_ns.keys().fold(0, |sum, gpu| sum.saturating_add(self.span_ns(*gpu)))
    }

    pub fn all_left_out_ns(&self) -> i64 {
        self.recorded_ns.keys().fold(0, |sum, gpu| sum.saturating_add(self.left_out_ns(*gpu)))
    }

    pub fn longest_ns(&self) -> Option<i64> {
        self.recorded_ns.keys().map(|gpu| self.span_ns(*gpu)).max()
    }

    /// Number of used GPUs.
    pub fn gpus(&self) -> usize {
        self.recorded_ns.len()
    }

    /// Part of the idle time with a cause that is not idle, and its number of intervals.
    pub(crate) fn broken_of(&self, gpu: GpuKey, cause: &str) -> (i64, i64) {
        self.broken_by_cause.get(&(gpu, cause.to_owned())).copied().unwrap_or_default()
    }

    /// Rows of the result about gaps that are not idle time.
    pub fn breaks(&self) -> &BTreeSet<usize> {
        &self.breaks
    }

    /// GPUs that have such gaps.
    pub(crate) fn broken_gpus(&self) -> impl Iterator<Item = GpuKey> {
        self.broken_ns.keys().copied()
    }
}
