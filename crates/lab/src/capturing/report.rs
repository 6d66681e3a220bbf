//! The report of a run with captures.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::missing::{Missing, Reached};
use wavesieve_captures::recording::{EVENTS, Event, Indices, Line};
use wavesieve_files::regular::{self, LARGE_BYTES};
use wavesieve_model::text::hidden::escape_hidden;
use wavesieve_model::text::natural_order::natural_key;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Captured {
    pub kernel: String,
    /// Relative to the folder of the captures.
    pub directory: String,
    pub dispatch_index: u64,
    pub pid: u32,
    pub regions: u64,
    pub failed_regions: u64,
    pub bytes: u64,
    pub stored_bytes: u64,
    pub seconds: f64,
    /// Whether the GPU was idle during the capture.
    pub quiescent: bool,
    /// Why the first of the failed regions has no bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A requested dispatch that was not written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NotCaptured {
    pub kernel: String,
    pub dispatch_index: u64,
    pub pid: u32,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Seen {
    pub kernel: String,
    /// Dispatches in all processes; `None` if the runtime was not shut down.
    pub dispatches: Option<u64>,
    pub wanted: bool,
}

/// The captures of a program.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    pub captures: Vec<Captured>,
    pub failures: Vec<NotCaptured>,
    /// Requested dispatches that did not occur, or occurred too late.
    pub missing: Vec<Missing>,
    pub kernels: Vec<Seen>,
    pub notes: Vec<String>,
    /// Processes with recorded dispatches.
    pub processes: u64,
}

impl Report {
    /// Reads the events of a folder; ignores an incomplete last line.
    pub fn read(output: &Path, wanted: &Indices) -> Self {
        Self::of_text(&regular::read_text(&output.join(EVENTS), LARGE_BYTES).unwrap_or_default(), wanted)
    }

    pub fn of_text(text: &str, wanted: &Indices) -> Self {
        let mut report = Self::default();
        let mut kernels: BTreeMap<String, (Option<u64>, bool)> = BTreeMap::new();
        let mut reached: BTreeMap<(String, u32), Reached> = BTreeMap::new();
        for Line { pid, event } in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            match event {
                Event::Loaded => report.processes += 1,
                Event::Refused { reason } | Event::Note { reason } => {
                    if !report.notes.contains(&reason) {
                        report.notes.push(reason);
                    }
                }
                Event::Kernel { name, is_wanted, .. } => {
                    if is_wanted {
                        reached.entry((name.clone(), pid)).or_default();
                    }
                    kernels.entry(name).or_default().1 |= is_wanted;
                }
                Event::LimitReached { name, dispatch_index, limit } => {
                    reached.entry((name, pid)).or_default().limit = Some((dispatch_index, limit));
                }
                Event::Dispatches { name, dispatches } => {
                    if let Some(reached) = reached.get_mut(&(name.clone(), pid)) {
                        reached.dispatches = Some(dispatches);
                    }
                    let total = &mut kernels.entry(name).or_default().0;
                    *total = Some(total.unwrap_or(0) + dispatches);
                }
                Event::Captured {
                    name,
                    directory,
                    dispatch_index,
                    regions,
                    failed_regions,
                    bytes,
                    stored_bytes,
                    seconds,
                    is_quiescent,
                    reason,
                } => {
                    reached.entry((name.clone(), pid)).or_default().known.push(dispatch_index);
                    report.captures.push(Captured {
                        kernel: name,
                        directory,
                        dispatch_index,
                        pid,
                        regions,
                        failed_regions,
                        bytes,
                        stored_bytes,
                        seconds,
                        quiescent: is_quiescent,
                        reason,
                    });
                }
                Event::Failed { name, dispatch_index, reason } => {
                    reached.entry((name.clone(), pid)).or_default().known.push(dispatch_index);
                    report.failures.push(NotCaptured { kernel: name, dispatch_index, pid, reason });
                }
            }
        }
        report.captures.sort_by_cached_key(|capture| natural_key(&capture.directory));
        let missing = |((kernel, pid), reached): ((String, u32), Reached)| reached.missing(&kernel, pid, wanted);
        report.missing = reached.into_iter().flat_map(missing).collect();
        report.kernels =
            kernels.into_iter().map(|(kernel, (dispatches, wanted))| Seen { kernel, dispatches, wanted }).collect();
        report
    }

    /// Returns whether all requested dispatches were written completely.
    pub fn is_whole(&self) -> bool {
        let is_whole = |capture: &Captured| capture.failed_regions == 0 && capture.quiescent;
        self.failures.is_empty() && self.missing.is_empty() && self.captures.iter().all(is_whole)
    }

    /// Lines for the terminal.
    pub fn text(&self, output: &Path) -> String {
        let mut text = String::new();
        for capture in &self.captures {
            text.push_str(&format!(
                "{}: dispatch {} of {}, {} regions, {} bytes ({} kept) in {:.2} s\n",
                escape_hidden(&output.join(&capture.directory).display().to_string()),
                capture.dispatch_index,
                escape_hidden(&capture.kernel),
                capture.regions,
                capture.bytes,
                capture.stored_bytes,
                capture.seconds
            ));
            if capture.failed_regions > 0 {
                let reason = capture.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
                let count = capture.failed_regions;
                text.push_str(&format!("  {count} regions were not captured{}\n", escape_hidden(&reason)));
            }
            if !capture.quiescent {
                text.push_str(
                    "  other work was still running: memory may be inconsistent; try again with a longer --wait\n",
                );
            }
        }
        for failure in &self.failures {
            let line =
                format!("not captured: dispatch {} of {}: {}", failure.dispatch_index, failure.kernel, failure.reason);
            text.push_str(&format!("{}\n", escape_hidden(&line)));
        }
        // Only if something was captured: otherwise the reason is reported once for all.
        for missing in self.missing.iter().filter(|_| !self.captures.is_empty()) {
            text.push_str(&format!("{}\n", escape_hidden(&missing.line())));
        }
        text
    }

    /// The reason why the library captured nothing.
    pub fn why_nothing(&self, kernel: &str, library: &Path) -> String {
        let wanted: Vec<&Seen> = self.kernels.iter().filter(|seen| seen.wanted).collect();
        let named = |seen: &Seen| match seen.dispatches {
            Some(count) => format!("{} ({count} dispatches)", seen.kernel),
            None => seen.kernel.clone(),
        };
        if let Some(failure) = self.failures.first() {
            return failure.reason.clone();
        }
        if self.processes == 0 {
            return match self.notes.first() {
                Some(reason) => format!("nothing was captured: {reason}"),
                None => format!(
                    "nothing was captured: {} did not report: either the program did not start the HSA runtime, or the runtime \
                     did not take the library; check what the program prints, and --library",
                    library.display()
                ),
            };
        }
        if let Some(first) = wanted.first() {
            return format!("nothing was captured: {} has no such dispatch; change --dispatch", named(first));
        }
        let seen: Vec<String> = self.kernels.iter().take(10).map(named).collect();
        if seen.is_empty() {
            return "nothing was captured: the program dispatched no kernel".to_owned();
        }
        format!("nothing was captured: no kernel matches `{kernel}`; there were {}", seen.join(", "))
    }
}
