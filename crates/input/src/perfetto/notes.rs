//! Notes about a file: its anomalies, and its content that is not read.

use std::collections::BTreeMap;

use thiserror::Error;

use super::document::{Census, Document};
use super::kinds::Writer;
use super::processes::Assembled;
use wavesieve_model::schema::anomaly::{Anomaly, Damage, Severity};

/// Kinds of packets of other recorders, by their fields.
const OTHERS: [(u64, &str); 12] = [
    (1, "ftrace events"),
    (2, "process trees"),
    (5, "Chrome events"),
    (7, "system statistics"),
    (9, "process statistics"),
    (37, "memory profiles"),
    (38, "battery counters"),
    (39, "Android logs"),
    (53, "GPU render stages"),
    (56, "heap graphs"),
    (66, "call stack samples"),
    (94, "frame timelines"),
];
/// Packets of these fields are read in part: scheduler events, and processes of threads.
const READ_IN_PART: [u64; 2] = [1, 2];
const MAX_LISTED: usize = 6;

/// A Perfetto trace that no profiler of ROCm wrote.
#[derive(Debug, Error)]
#[error(
    "a Perfetto trace of another program ({found}), not of rocprofv3, rocpd or rocprofiler-systems; name the rocprofv3 output of the run"
)]
pub(crate) struct OtherProgram {
    found: String,
}

/// The error about a document that no profiler of ROCm wrote.
pub(crate) fn other_program(document: &Document) -> Option<OtherProgram> {
    let census = &document.census;
    if census.is_of_rocm || document.writer == Writer::Wavesieve {
        return None;
    }
    let mut found = packets(census, |_| true);
    let named = |category: &Option<u32>| category.map_or("none", |category| document.names.text(category)).to_owned();
    let categories: Vec<String> = census.categories.keys().take(MAX_LISTED).map(named).collect();
    if !categories.is_empty() {
        found.push(format!("track events of the categories {}", categories.join(", ")));
    }
    if found.is_empty() {
        found.push("no events".to_owned());
    }
    Some(OtherProgram { found: found.join("; ") })
}

fn packets(census: &Census, is_listed: impl Fn(u64) -> bool) -> Vec<String> {
    let of = |(field, name): &(u64, &str)| census.others.get(field).map(|count| format!("{count} {name}"));
    OTHERS.iter().filter(|(field, _)| is_listed(*field)).filter_map(of).take(MAX_LISTED).collect()
}

pub fn damage(census: &Census, writer: Writer, shown: &str) -> Vec<Damage> {
    let of = |cause: String| Damage { path: shown.to_owned(), part: String::new(), cause };
    let inside = census.first_damage.as_ref().map(|(place, what)| {
        let (places, lost) = (census.damaged, census.lost);
        format!("{what} in the packet at byte {place}; damaged packets: {places}, events that lack what they refer to: {lost}")
    });
    let halves = halves(census, writer).filter(|_| inside.is_none() && census.end.is_none());
    inside.into_iter().chain(census.end.clone()).chain(halves).map(of).collect()
}

/// Starts without ends and ends without starts, if the recorder dropped nothing: writers that know both write both. A profiler that was
/// stopped leaves only starts.
fn halves(census: &Census, writer: Writer) -> Option<String> {
    let (starts, ends) = (census.unfinished, census.unmatched_ends);
    let is_odd = match writer {
        Writer::Wavesieve => starts > 0 || ends > 0,
        Writer::Rocprofv3 => starts > 0 && ends > 0,
        _ => false,
    };
    let is_odd = is_odd && census.dropped == 0 && census.lost == 0;
    is_odd.then(|| {
        format!("{starts} slices without an end and {ends} ends without a start: a part of the file is missing")
    })
}

pub fn notes(census: &Census, assembled: &Assembled, shown: &str) -> Vec<Anomaly> {
    let mut notes = Vec::new();
    let mut note = |check_id, severity, count: u64, detail: String| {
        if count > 0 {
            notes.push(Anomaly::of_file(check_id, severity, count, shown, detail));
        }
    };
    let counters = &census.counter_arguments;
    let names = listed(counters.iter().map(|name| assembled.names.text(*name)));
    let detail = format!(
        "counters of kernels are sums over the whole run in Perfetto traces, not of each dispatch; not read: {names}"
    );
    note("run_totals", Severity::Warning, counters.len() as u64, detail);
    let detail = "values of counter tracks that are derived or sums over the run; not read".to_owned();
    note("unread_values", Severity::Info, assembled.values_left_out, detail);
    let detail = "slices and marks that an analysis derived; not read".to_owned();
    note("derived_slices", Severity::Info, census.derived, detail);
    let detail = "buffers of the recorder were full: it dropped so many chunks and packets of events; collect again with a larger buffer";
    note("dropped_events", Severity::Warning, census.dropped, detail.to_owned());
    if census.damaged == 0 {
        let detail = "events refer to packets that the recorder dropped; not read".to_owned();
        note("lost_events", Severity::Warning, census.lost, detail);
    }
    let detail = "events name texts that no packet has; these texts are missing".to_owned();
    note("missing_texts", Severity::Warning, census.without_text, detail);
    let detail = "events are on a clock that nothing ties to the boot time; not read".to_owned();
    note("unknown_clock", Severity::Warning, census.without_time + assembled.scheduler.without_time, detail);
    let detail = "ends of slices whose start is missing; not read".to_owned();
    note("unmatched_ends", Severity::Warning, census.unmatched_ends, detail);
    let detail = "slices have no end; they are not valid".to_owned();
    note("unfinished_slices", Severity::Warning, census.unfinished, detail);
    let detail = "kernels name no GPU while there are several; excluded from GPU time".to_owned();
    note("missing_agent", Severity::Warning, assembled.without_gpu, detail);
    let is_unread = |field: u64| !READ_IN_PART.contains(&field);
    let unread = packets(census, is_unread);
    let unread_fields = OTHERS.iter().filter(|(field, _)| is_unread(*field));
    let count: u64 = unread_fields.filter_map(|(field, _)| census.others.get(field)).sum();
    note("unread_events", Severity::Info, count, format!("packets of these kinds are not read: {}", unread.join(", ")));
    let detail = "ftrace events other than sched_switch, sched_waking and sched_wakeup; not read".to_owned();
    note("unread_ftrace", Severity::Info, assembled.scheduler.others, detail);
    let detail = "ftrace lost scheduler events; the states of threads are unknown for a while after each loss; collect again with a larger buffer";
    note("lost_scheduler_events", Severity::Warning, assembled.scheduler.losses, detail.to_owned());
    notes
}

/// Some names, each once.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: BTreeMap<&str, ()> = names.map(|name| (name, ())).collect();
    let shown: Vec<&str> = names.keys().copied().take(MAX_LISTED).collect();
    let more = names.len().saturating_sub(shown.len());
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}
