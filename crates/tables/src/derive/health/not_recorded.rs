//! Records that a trace lacks, and how to record them, by `share/not_recorded.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::Deserialize;

use wavesieve_model::schema::facts::{AgentFacts, ProcessFacts};

const KINDS: &str = data!("share/not_recorded.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordKind {
    table: String,
    #[serde(default)]
    domains: Vec<String>,
    what: String,
    how: String,
    #[serde(default)]
    pytorch: Option<String>,
    #[serde(default)]
    other: Option<String>,
    #[serde(default)]
    elsewhere: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordKindsFile {
    kind: Vec<RecordKind>,
}

/// Records that other processes of the same inputs have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Others {
    pub counters: bool,
    pub thread_traces: bool,
}

impl Others {
    fn have(self, table: &str) -> bool {
        match table {
            "counters" => self.counters,
            "att_instructions" => self.thread_traces,
            _ => false,
        }
    }
}

/// The profiler of a process and the vendor of its GPUs, which decide how more can be recorded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recorder {
    pub is_pytorch: bool,
    /// Whether they are not known to be AMD's.
    pub is_other: bool,
}

impl Recorder {
    pub fn new(facts: &ProcessFacts) -> Self {
        let mut gpus = facts.agents.iter().filter(|agent| agent.is_gpu());
        let is_pytorch = facts.is_of_pytorch();
        // Other profilers are AMD's, unless they state the GPU of another vendor.
        let is_other = match is_pytorch {
            true => gpus.all(|gpu| !gpu.name.starts_with("gfx")),
            false => gpus.any(AgentFacts::is_of_nvidia),
        };
        Self { is_pytorch, is_other }
    }

    /// The name of a kind, and how to record it, if anything can.
    fn naming(self, kind: &RecordKind) -> Option<(&str, Option<&str>)> {
        let pytorch = kind.pytorch.as_deref().filter(|_| self.is_pytorch);
        match self.is_other {
            true => Some((kind.other.as_deref()?, pytorch)),
            false => Some((&kind.what, pytorch.or(Some(&kind.how)))),
        }
    }
}

/// The built-in kinds; a test ensures that the file can be read.
fn kinds() -> &'static [RecordKind] {
    static FILE: OnceLock<RecordKindsFile> = OnceLock::new();
    &FILE.get_or_init(|| toml::from_str(KINDS).unwrap_or_default()).kind
}

/// A kind of records that a trace lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Canonical table that would hold them.
    pub table: &'static str,
    /// Its name in the file.
    pub kind: &'static str,
    /// The missing kind, as the vendor calls it.
    pub what: &'static str,
    /// How to record it, if that is known.
    pub how: Option<&'static str>,
}

impl Missing {
    /// `memory copies (rocprofv3 --memory-copy-trace)`.
    pub fn text(&self) -> String {
        self.how.map_or_else(|| self.what.to_owned(), |how| format!("{} ({how})", self.what))
    }
}

/// The kinds that are missing, in the order of the file.
pub fn missing(
    has_rows: &dyn Fn(&str) -> bool,
    domains: &BTreeSet<String>,
    others: Others,
    recorder: Recorder,
) -> Vec<Missing> {
    let is_recorded = |kind: &RecordKind| {
        let of_domains = || kind.domains.iter().any(|domain| domains.contains(domain));
        let here = if kind.domains.is_empty() { has_rows(&kind.table) } else { of_domains() };
        here || (kind.elsewhere && others.have(&kind.table))
    };
    let lacking = kinds().iter().filter(|kind| !is_recorded(kind));
    let named = |kind: &'static RecordKind| {
        let (what, how) = recorder.naming(kind)?;
        Some(Missing { table: &kind.table, kind: &kind.what, what, how })
    };
    lacking.filter_map(named).collect()
}

/// Whether a kind of records has this name.
pub fn is_kind(what: &str) -> bool {
    kinds().iter().any(|kind| kind.what == what)
}

/// Tables that lack records, each with what is missing and how to record it.
pub fn advice(
    rows: &BTreeMap<&'static str, usize>,
    domains: &BTreeSet<String>,
    others: Others,
    recorder: Recorder,
) -> Vec<(&'static str, String)> {
    let has_rows = |table: &str| rows.get(table).is_some_and(|rows| *rows > 0);
    let mut of_tables: Vec<(&'static str, Vec<String>)> = Vec::new();
    for one in missing(&has_rows, domains, others, recorder) {
        let (table, missing) = (one.table, one.text());
        match of_tables.iter_mut().find(|(known, _)| *known == table) {
            Some((_, all)) => all.push(missing),
            None => of_tables.push((table, vec![missing])),
        }
    }
    of_tables.into_iter().map(|(table, missing)| (table, format!("not recorded: {}", missing.join(", ")))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavesieve_model::analysis::counter_plan::check;
    use wavesieve_model::schema;

    #[test]
    fn every_kind_is_of_a_table_and_is_recorded_by_flags_that_exist() {
        assert!(kinds().len() >= 8);
        for kind in kinds() {
            assert!(schema::table(&kind.table).is_some(), "{}", kind.table);
            let Some(flags) = kind.how.strip_prefix("rocprofv3 ") else { continue };
            let flags = flags.split(';').next().unwrap_or_default();
            let value = if flags == "--pmc" { Some("SQ_WAVES") } else { None };
            let words = ["rocprofv3", flags].into_iter().chain(value).chain(["--", "./app"]);
            let command: Vec<String> = words.map(str::to_owned).collect();
            let problems: Vec<String> = check(&command).into_iter().map(|problem| problem.to_string()).collect();
            assert!(problems.is_empty(), "{}: {problems:?}", kind.what);
        }
    }

    #[test]
    fn what_is_there_is_not_named() {
        let rows = BTreeMap::from([("kernels", 5), ("memory_copies", 0), ("regions", 3)]);
        let domains = BTreeSet::from(["hip".to_owned()]);
        let of = |is_pytorch, is_other| advice(&rows, &domains, Others::default(), Recorder { is_pytorch, is_other });
        assert_eq!(of(true, false)[0].1, "not recorded: memory copies (torch.profiler with ProfilerActivity.CUDA)");
        let of_others = [of(true, true), of(false, true)].concat();
        assert!(of_others.iter().all(|(_, text)| !text.contains("rocprof") && !text.contains("RO")), "{of_others:?}");
        assert_eq!(of(false, true)[0].1, "not recorded: memory copies");
        assert_eq!(of(true, true)[2].1, "not recorded: ranges (torch.profiler.record_function in the program)");
        let advice = |others| advice(&rows, &domains, others, Recorder::default());
        let all = advice(Others::default());
        let tables: Vec<&str> = all.iter().map(|(table, _)| *table).collect();
        assert_eq!(
            tables,
            ["memory_copies", "memory_allocations", "regions", "counters", "samples", "pc_samples", "att_instructions"]
        );
        assert_eq!(all[0].1, "not recorded: memory copies (rocprofv3 --memory-copy-trace)");
        assert!(all[2].1.contains("ROCTx ranges (rocprofv3 --marker-trace), RCCL calls"), "{}", all[2].1);
        assert!(!all[2].1.contains("API calls"), "{}", all[2].1);
        let beside = advice(Others { counters: true, thread_traces: true });
        assert!(beside.iter().all(|(table, _)| !["counters", "att_instructions"].contains(table)));
    }
}
