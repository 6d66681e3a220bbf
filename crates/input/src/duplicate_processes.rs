//! Processes that seem to be read twice, from files of different formats without a common id.

use std::collections::BTreeMap;

use super::load_options::LoadOptions;
use wavesieve_model::schema;
use wavesieve_model::schema::anomaly::{Anomaly, Severity};
use wavesieve_tables::trace::TraceProcess;
use wavesieve_tables::trace::source::ReadContext;

/// Tables whose numbers of rows are compared.
const COMPARED: &[&str] = &["kernels", "memory_copies"];

/// Returns a warning for every process that has the process id and the numbers of dispatches and copies of an earlier process in another
/// format. Both are kept: process ids of different nodes can be the same.
pub(crate) fn read_twice(members: &[TraceProcess], options: &LoadOptions) -> Vec<Anomaly> {
    let mut notes = Vec::new();
    let mut by_pid: BTreeMap<i64, Vec<&TraceProcess>> = BTreeMap::new();
    for member in members.iter().filter(|member| member.process.facts.pid >= 0) {
        let pid = member.process.facts.pid;
        let known = by_pid.entry(pid).or_default();
        let format = &member.process.facts.format;
        let others: Vec<&TraceProcess> =
            known.iter().copied().filter(|other| other.process.facts.format != *format).collect();
        known.push(member);
        if others.is_empty() {
            continue;
        }
        let Some(own) = rows(member, options) else { continue };
        if let Some(other) = others.into_iter().find(|other| rows(other, options).as_ref() == Some(&own)) {
            let path = &member.process.facts.path;
            let detail = format!(
                "rank {} seems to be read twice: {} and {path} both contain process {pid} with {} dispatches and copies; \
                 name one of them",
                other.process.rank,
                other.process.facts.path,
                own.iter().sum::<u64>(),
            );
            notes.push(Anomaly::of_file("read_twice", Severity::Warning, 1, path, detail));
        }
    }
    notes
}

/// Numbers of rows; `None` if all are zero, which proves nothing.
fn rows(member: &TraceProcess, options: &LoadOptions) -> Option<Vec<u64>> {
    let context = ReadContext::whole(&member.process, &options.categories, options.threads);
    let count = |name: &&str| Some(member.source.count_rows(&context, schema::table(name)?).ok()?.rows);
    let rows: Vec<u64> = COMPARED.iter().map(count).collect::<Option<_>>()?;
    rows.iter().any(|rows| *rows > 0).then_some(rows)
}
