//! Checks whether a candidate is faster: both programs run in turn under the profiler, and are compared as in
//! `compare`.

use std::path::Path;

use serde_json::{Value, json};

use super::commands::Commands;
use super::correctness::Checks;
use super::error::OptimizeError;
use super::gates::{Gate, GateResult, Verdict};
use crate::interactive::programs::Application;
use crate::measuring::{RunTimes, answer, digest_of, open_traces, run_once};
use wavesieve_engine::findings::Rows;
use wavesieve_model::analysis::statistics::medians::median_of_floats;
use wavesieve_report::compare::{CompareOptions, Comparison, Digest, Side, compare};

pub(super) struct Race<'a> {
    pub commands: &'a Commands<'a>,
    pub application: &'a Application,
    /// Returns whether a name in a trace belongs to the kernel.
    pub is_kernel: &'a dyn Fn(&str) -> bool,
    pub runs: u32,
    pub min_gain_pct: f64,
    /// Checks for the results of measured runs of the candidate.
    pub checks: &'a Checks,
    pub expected: &'a [Vec<u8>],
}

pub(super) struct Times {
    /// Time of one dispatch of the kernel in each run, in ns, before the change; the next field has the times after it.
    pub base_ns: Vec<f64>,
    pub new_ns: Vec<f64>,
    /// Dispatches of the kernel in a run.
    dispatches: [Vec<f64>; 2],
    comparison: Comparison,
}

impl Race<'_> {
    /// Runs a copy once, and reads its times.
    pub(super) fn run(&self, copy: &Path, traces: &Path) -> Result<(RunTimes, Digest), OptimizeError> {
        let application = self.commands.mapped(self.application, copy);
        let directory = self.commands.directory(copy);
        std::fs::create_dir_all(traces).map_err(anyhow::Error::from)?;
        let limits = self.commands.limits();
        let times = run_once(&application, traces, &directory, &limits, self.commands.is_interrupted, &mut |_| {})?;
        let digest = digest_of(&times.traces)?;
        Ok((times, digest))
    }

    /// Runs both programs in turn, and alternates the first of each pair, so that drift affects both.
    pub(super) fn times(
        &self,
        base: &Path,
        new: &Path,
        traces: &Path,
    ) -> Result<Result<Times, GateResult>, OptimizeError> {
        let (mut base_runs, mut new_runs) = (Vec::new(), Vec::new());
        for pair in 0..self.runs {
            let new_first = pair % 2 == 1;
            for is_new in [new_first, !new_first] {
                let (copy, name) = if is_new { (new, "candidate") } else { (base, "base") };
                let directory = traces.join(format!("{name}-{}", pair + 1));
                if is_new {
                    self.checks.clear(self.commands, copy)?;
                }
                match (self.run(copy, &directory), is_new) {
                    (Ok(run), true) => {
                        if let Some(text) = self.checks.differs(self.commands, copy, self.expected)? {
                            let reason = format!("in measured run {}: {text}", pair + 1);
                            return Ok(Err(GateResult::new(Gate::Correct, Verdict::Fail, reason, Value::Null)));
                        }
                        new_runs.push(run);
                    }
                    (Ok(run), false) => base_runs.push(run),
                    (Err(OptimizeError::Interrupted), _) => return Err(OptimizeError::Interrupted),
                    (Err(error), true) => {
                        let reason = format!("its run failed: {error}");
                        return Ok(Err(GateResult::new(Gate::Faster, Verdict::Fail, reason, Value::Null)));
                    }
                    (Err(error), false) => return Err(error),
                }
            }
        }
        let per_dispatch = |runs: &[(RunTimes, Digest)]| -> Vec<f64> {
            runs.iter().filter_map(|(times, _)| per_dispatch_ns(times, self.is_kernel)).collect()
        };
        let (base_ns, new_ns) = (per_dispatch(&base_runs), per_dispatch(&new_runs));
        let dispatches = [&base_runs, &new_runs]
            .map(|runs| runs.iter().map(|(times, _)| dispatches(times, self.is_kernel)).collect::<Vec<f64>>());
        let side =
            |runs: Vec<(RunTimes, Digest)>| Side::of_distinct(runs.into_iter().map(|(_, digest)| digest).collect()).0;
        let comparison = compare(&side(base_runs), &side(new_runs), &CompareOptions::default());
        Ok(Ok(Times { base_ns, new_ns, dispatches, comparison }))
    }

    /// Checks whether the kernel is certainly faster, and by enough.
    pub(super) fn faster(&self, times: &Times) -> GateResult {
        let result = |verdict, reason: String, facts| GateResult::new(Gate::Faster, verdict, reason, facts);
        let medians = median_of_floats(&mut times.base_ns.clone()).zip(median_of_floats(&mut times.new_ns.clone()));
        let rows = times.comparison.kernels.iter();
        let row =
            rows.filter(|row| row.new_name.as_deref().is_some_and(self.is_kernel)).max_by_key(|row| row.base_total_ns);
        let (Some((base, new)), Some(row)) = (medians, row) else {
            let reason = "the kernel is not in the traces of both".to_owned();
            return result(Verdict::Fail, reason, Value::Null);
        };
        let [launched, launches] = times.dispatches.clone().map(|mut counts| median_of_floats(&mut counts));
        if launched != launches {
            let count = |value: Option<f64>| value.unwrap_or_default();
            let reason = format!(
                "the kernel is launched {} times in place of {}, so that times of a dispatch do not compare",
                count(launches),
                count(launched)
            );
            return result(Verdict::Fail, reason, Value::Null);
        }
        let gain_pct = if base > 0.0 { 100.0 * (1.0 - new / base) } else { 0.0 };
        let facts = json!({
            "base_median_ns": base, "candidate_median_ns": new, "gain_pct": gain_pct, "min_gain_pct": self.min_gain_pct,
            "base_ns": times.base_ns, "candidate_ns": times.new_ns, "runs": self.runs,
            "ratio": row.ratio, "ratio_low": row.ci_low, "ratio_high": row.ci_high, "verdict": row.verdict,
        });
        let interval = match (row.ci_low, row.ci_high) {
            (Some(low), Some(high)) => format!("ratio {low:.3} to {high:.3}"),
            _ => "no interval: too few values".to_owned(),
        };
        let shown = |ns: f64| wavesieve_engine::findings::duration(ns);
        let taken = format!("{} in place of {} a dispatch ({interval})", shown(new), shown(base));
        let is_sure = row.ci_high.is_some_and(|high| high < 1.0);
        if is_sure && gain_pct >= self.min_gain_pct {
            return result(Verdict::Pass, format!("{gain_pct:.1}% less time: {taken}"), facts);
        }
        let reason = if row.ci_low.is_some_and(|low| low > 1.0) {
            format!("{:.1}% more time: {taken}", -gain_pct)
        } else if !is_sure {
            format!("not surely faster: {taken}")
        } else {
            format!("{gain_pct:.1}% less time is below --min-gain {}%: {taken}", self.min_gain_pct)
        };
        result(Verdict::Fail, reason, facts)
    }

    /// Checks that no other kernel, and not the whole program, is slower.
    pub(super) fn others(&self, times: &Times) -> GateResult {
        // Other instances of the same template count as other kernels.
        let slower: Vec<String> = times
            .comparison
            .kernels
            .iter()
            .filter(|row| row.verdict == "slower")
            .map(|row| format!("{} ({:+.1}%)", row.family, 100.0 * (row.ratio.unwrap_or(1.0) - 1.0)))
            .collect();
        let added: Vec<&str> = times.comparison.added.iter().map(|one| one.kernel.as_str()).collect();
        let span = times.comparison.totals.iter().find(|total| total.metric == "span");
        let is_span_slower = span.is_some_and(|span| span.verdict == Some("slower"));
        let facts = json!({ "slower": slower, "new_kernels": added, "span_pct": span.and_then(|span| span.pct) });
        let (verdict, reason) = if !slower.is_empty() {
            (Verdict::Fail, format!("other kernels are slower: {}", slower.join(", ")))
        } else if is_span_slower {
            (Verdict::Fail, "the span of the GPU's work is longer".to_owned())
        } else {
            (Verdict::Pass, "no other kernel is surely slower".to_owned())
        };
        GateResult::new(Gate::Others, verdict, reason, facts)
    }
}

fn dispatches(times: &RunTimes, is_kernel: &dyn Fn(&str) -> bool) -> f64 {
    times.kernels.iter().filter(|kernel| is_kernel(&kernel.name)).map(|kernel| kernel.dispatches as f64).sum()
}

fn per_dispatch_ns(times: &RunTimes, is_kernel: &dyn Fn(&str) -> bool) -> Option<f64> {
    let of_it = times.kernels.iter().filter(|kernel| is_kernel(&kernel.name));
    let (total, count) =
        of_it.fold((0_i64, 0_u64), |(total, count), kernel| (total + kernel.total_ns, count + kernel.dispatches));
    (count > 0).then(|| total as f64 / count as f64)
}

/// The largest workgroup that the kernel was launched with, in work-items.
pub(super) fn largest_workgroup(
    times: &RunTimes,
    is_kernel: &dyn Fn(&str) -> bool,
) -> Result<Option<u32>, OptimizeError> {
    let trace = open_traces(&times.traces)?;
    let answered = answer(&trace, "kernel_by_shape", &["kernel_name", "workgroup_x", "workgroup_y", "workgroup_z"])?;
    let rows = Rows::over(Some(&answered));
    let size = |row: usize| {
        let part = |name: &str| rows.integer(row, name).map(|count| count.max(1));
        let of_kernel = rows.text(row, "kernel_name").is_some_and(is_kernel);
        let size = part("workgroup_x")?.checked_mul(part("workgroup_y")?)?.checked_mul(part("workgroup_z")?)?;
        u32::try_from(size).ok().filter(|_| of_kernel)
    };
    Ok(rows.places().filter_map(size).max())
}
