//! Analyzes a measurement, and compares it with the one before.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::json;

use super::driver::Machine;
use super::error::{Halt, MachineError};
use super::findings::{Analyzed, Item};
use super::records::{Judged, Measurement, Run, shorter_pct};
use super::session::is_there;
use super::state::Phase;
use crate::interactive::face::Level;
use crate::interactive::sessions::MenuItem;
use crate::measuring::digest_of;
use wavesieve_engine::findings::Priority;
use wavesieve_report::compare::{CompareOptions, Digest, Side, compare, read_digest, write_digest};

/// Extension of digests, the same as for `compare --save`.
const DIGEST: &str = "wsd";
/// Source of a finding in a session.
const FROM_TRACE: &str = "profiling_analysis";

impl Machine<'_> {
    /// Analyzes the measurement under way, and compares it with the last that was kept.
    pub fn analyze(&mut self) -> Result<Phase, Halt> {
        let Some(mut measurement) = self.state.measuring.clone() else { return Ok(Phase::Menu) };
        let analyzed = self.analyzed_of(&measurement.runs.first().map(|run| run.traces.clone()).unwrap_or_default())?;
        measurement.findings = analyzed.items.iter().map(|item| item.id.clone()).collect();
        self.show(&analyzed);
        self.merge_items(&analyzed.items);
        let mut digests = Vec::new();
        if measurement.is_times && analyzed.has_gpu_time {
            for place in 0..measurement.runs.len() {
                let Some(run) = measurement.runs.get_mut(place) else { continue };
                let path = self.store.work_directory(&self.session.session_id).join("digests").join(format!(
                    "measurement-{}-run-{}.{DIGEST}",
                    measurement.number,
                    place + 1
                ));
                digests.push(digest(run, &path)?);
                run.digest = Some(path);
            }
        }
        measurement.span_ns = span_ns(&digests);
        if let Some(reference) = self.state.reference(&measurement).cloned() {
            measurement.judged = self.judged(&reference, &measurement, digests)?;
        }
        let summary = self.conclude(&measurement, &analyzed);
        self.note_run(&measurement, summary);
        self.note_checkpoint(&measurement);
        self.analyzed = Some(analyzed);
        self.session.inputs = measurement.traces();
        self.state.measuring = None;
        self.state.measurements.push(measurement);
        let is_judged = self.state.open_edit().is_some();
        Ok(if is_judged { Phase::Judge } else { Phase::Menu })
    }

    /// Analyzes traces with the session's source, and shows progress.
    pub(crate) fn analyzed_of(&mut self, traces: &[PathBuf]) -> Result<Analyzed, Halt> {
        self.face.begin("analysing");
        let analyzed = Analyzed::new(traces, &self.session.source_paths, self.tools.registry);
        self.face.end();
        let analyzed = analyzed.map_err(MachineError::Other)?;
        for damage in &analyzed.damage {
            self.say(Level::Warning, damage.line());
        }
        if !analyzed.damage.is_empty() {
            self.say(Level::Warning, "the result is partial");
        }
        Ok(analyzed)
    }

    /// Ensures that there is an analysis, also in a resumed session.
    pub(crate) fn refresh(&mut self) -> Result<bool, Halt> {
        if self.analyzed.is_none() {
            let inputs: Vec<PathBuf> = match self.state.latest_kept() {
                Some(latest) => latest.runs.first().map(|run| run.traces.clone()).unwrap_or_default(),
                None => self.session.inputs.clone(),
            };
            let lost: Vec<PathBuf> = inputs.iter().filter(|path| !is_there(path)).cloned().collect();
            for path in &lost {
                self.say(Level::Warning, format!("{} is no longer there", path.display()));
            }
            let inputs: Vec<PathBuf> = inputs.into_iter().filter(|path| is_there(path)).collect();
            if inputs.is_empty() && !self.session.source_paths.iter().any(|path| path.exists()) {
                return Ok(false);
            }
            self.analyzed = Some(self.analyzed_of(&inputs)?);
        }
        Ok(true)
    }

    pub fn show(&mut self, analyzed: &Analyzed) {
        self.say(Level::Heading, analyzed.analysis.document.title.clone());
        self.say(Level::Text, analyzed.analysis.document.summary.clone());
        self.face.table(&["figure", "value"], &analyzed.figures());
    }

    /// Adds findings to the menu, each once.
    pub(crate) fn merge_items(&mut self, items: &[Item]) {
        let added_at = self.timestamp();
        let is_found = |one: &MenuItem| items.iter().any(|item| item.id == one.id);
        self.session.persistent_menu_items.retain(|one| one.source != FROM_TRACE || is_found(one));
        for item in items.iter().filter(|item| item.priority < Priority::Info) {
            let Ok(detail) = serde_json::to_value(item) else { continue };
            let known = self.session.persistent_menu_items.iter_mut().find(|one| one.id == item.id);
            match known {
                Some(known) => {
                    (known.title, known.detail) = (item.title.clone(), detail);
                    item.priority.word().clone_into(&mut known.priority);
                }
                None => self.session.persistent_menu_items.push(MenuItem {
                    id: item.id.clone(),
                    title: item.title.clone(),
                    priority: item.priority.word().to_owned(),
                    source: FROM_TRACE.to_owned(),
                    added_at: added_at.clone(),
                    detail,
                    ..MenuItem::default()
                }),
            }
        }
        let rank =
            |one: &MenuItem| Priority::ALL.iter().position(|priority| priority.word() == one.priority.to_lowercase());
        // In the order of this analysis, whatever was in the menu before.
        let place = |one: &MenuItem| items.iter().position(|item| item.id == one.id).unwrap_or(usize::MAX);
        let order = |one: &MenuItem| (rank(one).unwrap_or(usize::MAX), place(one));
        self.session.persistent_menu_items.sort_by_key(order);
    }

    /// Compares with the measurement before, by the noise bands of `compare`.
    fn judged(&mut self, base: &Measurement, new: &Measurement, digests: Vec<Digest>) -> Result<Option<Judged>, Halt> {
        let paths: Vec<&PathBuf> = base.runs.iter().filter_map(|run| run.digest.as_ref()).collect();
        if digests.is_empty() || paths.is_empty() {
            return Ok(None);
        }
        let mut base_runs = Vec::new();
        for path in paths {
            match read_digest(path) {
                Ok(digest) => base_runs.push(digest),
                Err(error) => self.say(Level::Warning, format!("cannot compare with {}: {error:#}", path.display())),
            }
        }
        if base_runs.is_empty() {
            return Ok(None);
        }
        let (base_side, mut notes) = Side::of_distinct(base_runs);
        let (new_side, more) = Side::of_distinct(digests);
        notes.extend(more);
        for note in notes {
            self.say(Level::Warning, note);
        }
        let comparison = compare(&base_side, &new_side, &CompareOptions::default());
        let rows: Vec<Vec<String>> = comparison
            .totals
            .iter()
            .map(|total| {
                let shown = |ns: i64| wavesieve_engine::findings::duration(ns as f64);
                let pct = |value: Option<f64>| value.map(|pct| format!("{pct:+.1}%")).unwrap_or_default();
                let band = match (total.ci_low_pct, total.ci_high_pct) {
                    (Some(low), Some(high)) => format!("{low:+.1}% … {high:+.1}%"),
                    _ => String::new(),
                };
                vec![
                    total.metric.clone(),
                    shown(total.base_ns),
                    shown(total.new_ns),
                    pct(total.pct),
                    band,
                    total.verdict.unwrap_or("not tested").to_owned(),
                ]
            })
            .collect();
        self.say(Level::Heading, format!("Measurement {} against {}", new.number, base.number));
        self.face.table(&["time", "before", "now", "change", "interval", "verdict"], &rows);
        let span = comparison.totals.iter().find(|total| total.metric == "span");
        let judged = Judged {
            with: base.number,
            verdict: comparison.verdict.to_owned(),
            reason: comparison.reason.clone(),
            span_pct: span.and_then(|span| span.pct),
            delta_pct: span.and_then(|span| shorter_pct(span.base_ns, span.new_ns)),
        };
        let level = match judged.verdict.as_str() {
            "faster" => Level::Good,
            "slower" | "not_comparable" => Level::Warning,
            _ => Level::Text,
        };
        self.say(level, format!("{}: {}", judged.verdict, judged.reason));
        Ok(Some(judged))
    }

    /// Reports a measurement as an event; returns a line for the history.
    fn conclude(&mut self, measurement: &Measurement, analyzed: &Analyzed) -> String {
        let first = analyzed.items.first().map(|item| item.title.clone());
        let judged = measurement.judged.as_ref();
        self.event(
            "analyzed",
            json!({
                "measurement": measurement.number,
                "edit": measurement.edit,
                "runs": measurement.runs.len(),
                "span_ns": measurement.span_ns,
                "findings": measurement.findings,
                "compared_with": judged.map(|judged| judged.with),
                "verdict": judged.map(|judged| judged.verdict.clone()),
                "reason": judged.map(|judged| judged.reason.clone()),
                "span_pct": judged.and_then(|judged| judged.span_pct),
            }),
        );
        if !analyzed.has_gpu_time && !measurement.traces().is_empty() {
            self.say(
                Level::Warning,
                "no GPU time was recorded: if the application starts its work in other processes, check that each of them wrote a trace; processes that are killed write none",
            );
        }
        let first = first.unwrap_or_else(|| "no finding".to_owned());
        match judged {
            Some(judged) => format!("{} against measurement {}: {first}", judged.verdict, judged.with),
            None => first,
        }
    }
}

/// Computes the digest of a run, or reads a saved one.
fn digest(run: &Run, path: &Path) -> Result<Digest> {
    if path.exists()
        && let Ok(digest) = read_digest(path)
    {
        return Ok(digest);
    }
    let digest = digest_of(&run.traces)?;
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    }
    let temporary = path.with_extension("tmp");
    let mut out =
        BufWriter::new(File::create(&temporary).with_context(|| format!("cannot write {}", temporary.display()))?);
    write_digest(&digest, &mut out)?;
    drop(out);
    fs::rename(&temporary, path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(digest)
}

fn span_ns(digests: &[Digest]) -> Option<i64> {
    let spans: Vec<i64> = digests.iter().flat_map(|run| &run.gpus).map(|gpu| gpu.run.span_ns).collect();
    let count = i64::try_from(spans.len()).ok().filter(|count| *count > 0)?;
    Some(spans.iter().fold(0_i64, |sum, ns| sum.saturating_add(*ns)) / count)
}
