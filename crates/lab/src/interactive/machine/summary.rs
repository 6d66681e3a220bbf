//! The summary of a session.

use serde_json::json;

use super::driver::Machine;
use super::records::{EditStatus, shorter_pct};
use crate::interactive::face::Level;
use wavesieve_engine::findings::duration;

impl Machine<'_> {
    pub fn summarize(&mut self) {
        if self.state.measurements.is_empty() && self.state.edits.is_empty() {
            return;
        }
        self.say(Level::Heading, "Summary");
        let measurements = self.state.undone_measurements.iter().chain(&self.state.measurements);
        let mut rows: Vec<(u64, Vec<String>)> = measurements
            .map(|one| {
                let judged = one.judged.as_ref();
                let edit = one.edit.and_then(|id| self.state.edits.iter().find(|edit| edit.id == id));
                let row = vec![
                    one.number.to_string(),
                    one.runs.len().to_string(),
                    one.span_ns.map(|ns| duration(ns as f64)).unwrap_or_default(),
                    judged.map(|judged| judged.verdict.clone()).unwrap_or_default(),
                    judged.and_then(|judged| judged.span_pct).map(|pct| format!("{pct:+.1}%")).unwrap_or_default(),
                    edit.map(|edit| edit.summary.clone()).unwrap_or_default(),
                    edit.map(|edit| crate::word_of(&edit.status)).unwrap_or_default(),
                ];
                (one.number, row)
            })
            .collect();
        rows.sort();
        let rows: Vec<Vec<String>> = rows.into_iter().map(|(_, row)| row).collect();
        self.face.table(&["measurement", "runs", "span of the run", "verdict", "change", "edit", "status"], &rows);
        let unmeasured: Vec<String> = self
            .state
            .edits
            .iter()
            .filter(|edit| edit.problem.is_some())
            .map(|edit| format!("{}: {}", edit.summary, edit.problem.clone().unwrap_or_default()))
            .collect();
        for line in unmeasured {
            self.say(Level::Note, line);
        }
        let timed: Vec<_> = self
            .state
            .measurements
            .iter()
            .filter(|one| one.span_ns.is_some() && !self.state.is_taken_back(one))
            .collect();
        let (first, last) = (timed.first().and_then(|one| one.span_ns), timed.last().and_then(|one| one.span_ns));
        let gained = first.zip(last).filter(|_| timed.len() > 1);
        let kept: std::collections::BTreeSet<String> = self
            .state
            .edits
            .iter()
            .filter(|edit| edit.status == EditStatus::Kept && edit.origin != "outside")
            .flat_map(|edit| edit.edit.files.iter().map(|file| file.path.display().to_string()))
            .collect();
        let fields = json!({
            "measurements": self.state.next_measurement,
            "edits_kept": self.state.edits.iter().filter(|edit| edit.status == EditStatus::Kept).count(),
            "edits_taken_back": self.state.edits.iter().filter(|edit| edit.status.is_gone()).count(),
            "first_span_ns": first,
            "last_span_ns": last,
            "files": kept,
        });
        // If no edit stays, differences are noise.
        if let Some((first, last)) = gained.filter(|_| !kept.is_empty()) {
            let pct = shorter_pct(first, last).unwrap_or(0.0);
            let text = format!(
                "span of the run {} → {} ({pct:+}% of the time saved)",
                duration(first as f64),
                duration(last as f64)
            );
            self.say(Level::Text, text);
        }
        if !kept.is_empty() {
            self.say(
                Level::Text,
                format!("changed files: {}", kept.iter().map(String::as_str).collect::<Vec<_>>().join(", ")),
            );
        }
        self.event("summary", fields);
    }
}
