//! What was captured.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::lab::recording::{EVENTS, Event, Line};

/// A dispatch that was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Captured {
    pub kernel: String,
    /// In the folder of the captures.
    pub directory: String,
    pub dispatch_index: u64,
    pub pid: u32,
    pub regions: u64,
    pub failed_regions: u64,
    pub bytes: u64,
    pub stored_bytes: u64,
    pub seconds: f64,
    /// Whether nothing ran on the GPU meanwhile.
    pub quiescent: bool,
}

/// A dispatch that was wanted and not written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct NotCaptured {
    pub kernel: String,
    pub dispatch_index: u64,
    pub pid: u32,
    pub reason: String,
}

/// A kernel that was dispatched.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Seen {
    pub kernel: String,
    /// Of all processes; nothing if the runtime was not shut down.
    pub dispatches: Option<u64>,
    pub wanted: bool,
}

/// What a program left behind.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Report {
    pub captures: Vec<Captured>,
    pub failures: Vec<NotCaptured>,
    pub kernels: Vec<Seen>,
    pub notes: Vec<String>,
    /// Processes whose dispatches were seen.
    pub processes: u64,
}

impl Report {
    /// Reads the events of a folder; a last line that was cut off is passed over.
    pub(crate) fn read(output: &Path) -> Self {
        Self::of_text(&std::fs::read_to_string(output.join(EVENTS)).unwrap_or_default())
    }

    pub(crate) fn of_text(text: &str) -> Self {
        let mut report = Self::default();
        let mut kernels: BTreeMap<String, (Option<u64>, bool)> = BTreeMap::new();
        for Line { pid, event } in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            match event {
                Event::Loaded => report.processes += 1,
                Event::Refused { reason } | Event::Note { reason } => {
                    if !report.notes.contains(&reason) {
                        report.notes.push(reason);
                    }
                }
                Event::Kernel { name, is_wanted, .. } => kernels.entry(name).or_default().1 |= is_wanted,
                Event::Dispatches { name, dispatches } => {
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
                } => report.captures.push(Captured {
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
                }),
                Event::Failed { name, dispatch_index, reason } => {
                    report.failures.push(NotCaptured { kernel: name, dispatch_index, pid, reason });
                }
            }
        }
        report.captures.sort_by(|one, other| one.directory.cmp(&other.directory));
        report.kernels =
            kernels.into_iter().map(|(kernel, (dispatches, wanted))| Seen { kernel, dispatches, wanted }).collect();
        report
    }

    /// Whether all that was wanted was written whole.
    pub(crate) fn is_whole(&self) -> bool {
        self.failures.is_empty() && self.captures.iter().all(|capture| capture.failed_regions == 0 && capture.quiescent)
    }

    /// Lines for people.
    pub(crate) fn text(&self, output: &Path) -> String {
        let mut text = String::new();
        for capture in &self.captures {
            text.push_str(&format!(
                "{}: dispatch {} of {}, {} regions, {} bytes ({} kept) in {:.2} s\n",
                output.join(&capture.directory).display(),
                capture.dispatch_index,
                capture.kernel,
                capture.regions,
                capture.bytes,
                capture.stored_bytes,
                capture.seconds
            ));
            if capture.failed_regions > 0 {
                text.push_str(&format!("  {} regions could not be read\n", capture.failed_regions));
            }
            if !capture.quiescent {
                text.push_str(
                    "  other work was still running: memory may be in between; try again with a longer --wait\n",
                );
            }
        }
        for failure in &self.failures {
            text.push_str(&format!(
                "not captured: dispatch {} of {}: {}\n",
                failure.dispatch_index, failure.kernel, failure.reason
            ));
        }
        text
    }

    /// Why nothing was captured.
    pub(crate) fn why_nothing(&self, kernel: &str) -> String {
        let wanted: Vec<&Seen> = self.kernels.iter().filter(|seen| seen.wanted).collect();
        let named = |seen: &Seen| match seen.dispatches {
            Some(count) => format!("{} ({count} dispatches)", seen.kernel),
            None => seen.kernel.clone(),
        };
        if let Some(failure) = self.failures.first() {
            return failure.reason.clone();
        }
        if self.processes == 0 {
            let reason = self.notes.first().map_or("the program did not start the HSA runtime", String::as_str);
            return format!("nothing was captured: {reason}");
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
