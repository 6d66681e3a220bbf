//! Files that are not read, and the consequences.

use super::captures::is_archive;
use super::discover::Candidate;
use super::naming::{ExpectedKind, promise};
use super::unread_content::{SkipReason, UnreadContent};
use wavesieve_model::schema::anomaly::{Anomaly, Severity};

/// The consequence of a file that is not read, in the order in which such files are listed if no trace is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A trace that is damaged.
    Damaged,
    /// The user named it, or it is a trace without a process: it counts as damage.
    Named,
    /// Statistics derived from a trace: a note.
    Summary,
    /// A report of another program: a note.
    Report,
    /// It has the name of a trace: it counts as damage.
    Lost,
    /// It may hold traces: a warning.
    Suspicious,
    /// A link to a document that is gone: a note.
    DeadLink,
    /// JSON that has nothing to do with traces: one note counts all of it.
    OtherJson,
}

/// The check that names links to documents that are gone.
pub const DEAD_LINK: &str = "dead_link";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Skipped {
    pub path: String,
    pub reason: String,
    pub class: Class,
}

impl Skipped {
    pub fn new(path: impl Into<String>, reason: impl Into<String>, class: Class) -> Self {
        Self { path: path.into(), reason: reason.into(), class }
    }

    /// The entry for a candidate whose content is not read; `None` if it is not worth a report.
    pub(crate) fn from_candidate(candidate: &Candidate, unread: UnreadContent) -> Option<Self> {
        let UnreadContent { why, reason } = unread;
        let promised = promise(&candidate.name());
        let (class, reason) = match why {
            SkipReason::Damaged => (Class::Damaged, reason),
            SkipReason::Summary => (Class::Summary, reason),
            SkipReason::Report => (Class::Report, reason),
            SkipReason::DeadLink => (Class::DeadLink, reason),
            SkipReason::Other | SkipReason::Lost | SkipReason::Foreign | SkipReason::OtherJson if candidate.named => {
                (Class::Named, reason)
            }
            SkipReason::Other => (Class::Suspicious, reason),
            SkipReason::Lost | SkipReason::Foreign | SkipReason::OtherJson if is_archive(candidate) => {
                (Class::Suspicious, "an archive; unpack it if it contains traces".to_owned())
            }
            SkipReason::OtherJson => (Class::OtherJson, reason),
            SkipReason::Foreign if promised == Some(ExpectedKind::Csv) => {
                let reason = "named like a trace, but its header is unknown; copy it again or rename it";
                (Class::Lost, reason.to_owned())
            }
            SkipReason::Lost | SkipReason::Foreign if promised.is_none() && is_named_like_json(&candidate.name()) => {
                (Class::OtherJson, reason)
            }
            SkipReason::Lost | SkipReason::Foreign => match promised? {
                ExpectedKind::Database | ExpectedKind::Json | ExpectedKind::Perfetto | ExpectedKind::Csv => {
                    (Class::Lost, reason)
                }
                // If the name has a dispatch and the file is empty, rocprofv3 did not finish it.
                ExpectedKind::Statistics if why == SkipReason::Lost && candidate.name().contains("dispatch_") => {
                    (Class::Lost, reason)
                }
                ExpectedKind::Statistics => {
                    let reason = "named like the statistics of `rocprofv3 --att`, but its header is unknown";
                    (Class::Suspicious, reason.to_owned())
                }
            },
        };
        Some(Self::new(candidate.shown(), reason, class))
    }

    /// Whether traces are missing without it.
    pub fn is_damage(&self) -> bool {
        matches!(self.class, Class::Damaged | Class::Named | Class::Lost)
    }

    /// The note that names it, if it has one of its own.
    pub fn note(&self) -> Option<Anomaly> {
        let (check_id, severity) = match self.class {
            Class::Summary => ("derived_summary", Severity::Info),
            Class::Report => ("derived_report", Severity::Info),
            Class::Suspicious => ("skipped_file", Severity::Warning),
            Class::DeadLink => (DEAD_LINK, Severity::Info),
            Class::Damaged | Class::Named | Class::Lost | Class::OtherJson => return None,
        };
        Some(Anomaly::of_file(check_id, severity, 1, &self.path, &self.reason))
    }
}

fn is_named_like_json(name: &str) -> bool {
    name.ends_with(".json") || name.ends_with(".json.gz")
}

/// A note that counts the JSON files that have nothing to do with traces. Other programs write many of them.
pub(crate) fn note_of_other_json(skipped: &[Skipped]) -> Option<Anomaly> {
    let mut others = skipped.iter().filter(|skipped| skipped.class == Class::OtherJson);
    let first = others.next()?;
    let detail = format!("JSON files that are not traces were left out; the first is {}", first.reason);
    Some(Anomaly::of_file("other_json", Severity::Info, 1 + others.count(), &first.path, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str, named: bool, why: SkipReason) -> Option<Class> {
        let candidate = Candidate { path: name.into(), named, problem: None, mirror: None };
        Skipped::from_candidate(&candidate, UnreadContent::new(why, "a reason")).map(|skipped| skipped.class)
    }

    #[test]
    fn the_name_and_who_named_it_decide_what_follows_from_a_file_that_is_not_read() {
        for (name, why, named, found) in [
            ("rank1.db", SkipReason::Lost, Class::Named, Some(Class::Lost)),
            ("rank1.db", SkipReason::Foreign, Class::Named, Some(Class::Lost)),
            ("rank1_results.json", SkipReason::OtherJson, Class::Named, Some(Class::OtherJson)),
            ("config.json", SkipReason::Foreign, Class::Named, Some(Class::OtherJson)),
            ("4100_kernel_trace.csv", SkipReason::Foreign, Class::Named, Some(Class::Lost)),
            ("stats_kernel.csv", SkipReason::Foreign, Class::Named, Some(Class::Suspicious)),
            ("stats_kernel.csv", SkipReason::Lost, Class::Named, Some(Class::Suspicious)),
            ("stats_ui_output_agent_4_dispatch_3.csv", SkipReason::Lost, Class::Named, Some(Class::Lost)),
            ("ranks.tar.gz", SkipReason::Foreign, Class::Named, Some(Class::Suspicious)),
            ("notes.txt", SkipReason::Foreign, Class::Named, None),
            ("notes.txt", SkipReason::Other, Class::Named, Some(Class::Suspicious)),
            ("notes.txt", SkipReason::Damaged, Class::Damaged, Some(Class::Damaged)),
            ("notes.txt", SkipReason::Summary, Class::Summary, Some(Class::Summary)),
            ("notes.txt", SkipReason::Report, Class::Report, Some(Class::Report)),
            ("notes.txt", SkipReason::DeadLink, Class::DeadLink, Some(Class::DeadLink)),
        ] {
            assert_eq!(class(name, true, why), Some(named), "{name} {why:?}");
            assert_eq!(class(name, false, why), found, "{name} {why:?}");
        }
    }
}
