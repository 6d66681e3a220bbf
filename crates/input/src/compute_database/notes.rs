//! Notes about an analysis database: unknown, missing and unread content.

use super::reading::Capture;
use super::rooflines::has_unread_ceilings;
use super::version::Version;
use wavesieve_model::schema::anomaly::{Anomaly, Severity};

/// Tables without which little can be read.
const NEEDED: [&str; 3] = ["compute_workload", "compute_kernel", "compute_dispatch"];

/// Notes about a file.
pub fn notes(capture: &Capture, version: &Version, shown: &str) -> Vec<Anomaly> {
    let mut notes: Vec<Anomaly> = capture.file.note(shown).into_iter().collect();
    notes.extend(capture.catalog.anomalies.iter().cloned());
    let mut note = |check_id, severity, count: usize, detail: String| {
        if count > 0 {
            notes.push(Anomaly::of_file(check_id, severity, count, shown, detail));
        }
    };
    let container = &capture.container;
    let unknown = &container.unknown_tables;
    note(
        "unknown_table",
        Severity::Info,
        unknown.len(),
        format!("unknown tables were ignored: {}", unknown.join(", ")),
    );
    let unknown = &container.unknown_columns;
    note(
        "unknown_column",
        Severity::Info,
        unknown.len(),
        format!("unknown columns were ignored: {}", unknown.join(", ")),
    );
    let missing = &container.missing_tables;
    let is_needed = missing.iter().any(|name| NEEDED.contains(&name.as_str()));
    let severity = if is_needed { Severity::Warning } else { Severity::Info };
    let detail = format!("the database lacks tables: {}", missing.join(", "));
    note("missing_table", severity, missing.len(), detail);
    if let Some(detail) = version.warning() {
        note("unknown_version", Severity::Warning, 1, detail);
    }
    let workloads = &capture.catalog.workloads;
    let configured = workloads.iter().filter(|workload| workload.has_config).count();
    let detail = "how the workload was profiled (profiling_config_extdata) is not read".to_owned();
    note("unread_content", Severity::Info, configured, detail);
    let ceilings = workloads.iter().filter(|workload| has_unread_ceilings(workload.ceilings.as_deref())).count();
    let detail = "roofline_bench_extdata is not a JSON object, or has members that are not numbers; they were not read";
    note("unread_content", Severity::Warning, ceilings, detail.to_owned());
    let detail = "an analysis keeps no counters: metrics are as recorded, dispatches may have been serialized when counters \
                  were collected, and their sizes are 0; name the workload folder for counters";
    note("analysis_only", Severity::Info, workloads.len(), detail.to_owned());
    notes
}
