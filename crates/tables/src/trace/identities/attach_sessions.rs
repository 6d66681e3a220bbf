//! Sessions of a profiler that was attached to a process more than once: each session writes its own files.

use std::collections::BTreeMap;
use std::path::Path;

use wavesieve_model::schema::facts::ProcessFacts;

/// Suffixes of the names of files that hold a complete process.
const RESULTS: [&str; 2] = ["_results.json", "_results.json.gz"];

/// The key that the sessions of one process share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ProcessKey {
    /// The id that the profiler gives a process, with its process id and machine.
    Guid(String, i64, String),
    /// The format, folder and first part of the names of files without such an id.
    Files(String, String, String),
}

/// For each process, the process with an earlier session of it. Files without an id have the number of the session in their names:
/// `1010_results.json`, `1010_1_results.json`.
pub(super) fn earlier_sessions(order: &[&ProcessFacts]) -> Vec<Option<usize>> {
    let mut first: BTreeMap<ProcessKey, usize> = BTreeMap::new();
    for (at, facts) in order.iter().enumerate() {
        let of_files = || named(facts).filter(|(_, session)| session.is_none()).map(|(key, _)| key);
        if let Some(key) = of_guid(facts).or_else(of_files) {
            first.entry(key).or_insert(at);
        }
    }
    let earlier = |(at, facts): (usize, &&ProcessFacts)| {
        if let Some(key) = of_guid(facts) {
            return first.get(&key).copied().filter(|first| *first != at);
        }
        let (key, _) = named(facts).filter(|(_, session)| session.is_some())?;
        first.get(&key).copied().filter(|first| order.get(*first).is_some_and(|first| is_same_process(first, facts)))
    };
    order.iter().enumerate().map(earlier).collect()
}

/// The note about later sessions of processes.
pub(super) fn about_sessions(count: usize) -> Option<String> {
    (count > 0).then(|| {
        let sessions =
            if count == 1 { "1 trace is a later session" } else { &format!("{count} traces are later sessions") };
        format!("{sessions} with a process that the profiler was attached to before, and of the same rank")
    })
}

fn of_guid(facts: &ProcessFacts) -> Option<ProcessKey> {
    let guid = facts.guid.clone().filter(|guid| !guid.is_empty())?;
    Some(ProcessKey::Guid(guid, facts.pid, facts.machine_key.clone()))
}

/// The common name of the files of a process, and the number of the session.
fn named(facts: &ProcessFacts) -> Option<(ProcessKey, Option<u32>)> {
    if facts.guid.is_some() || facts.is_thread_trace {
        return None;
    }
    let folder = Path::new(&facts.path).parent()?.to_string_lossy().into_owned();
    let (name, session) = session_of(&facts.source)?;
    Some((ProcessKey::Files(facts.format.clone(), folder, name.to_owned()), session))
}

/// The first part of a name, and the number of the session after it.
fn session_of(source: &str) -> Option<(&str, Option<u32>)> {
    let whole = RESULTS.iter().find_map(|end| source.strip_suffix(end));
    if let Some(whole) = whole {
        let numbered = whole.rsplit_once('_').and_then(|(name, number)| Some((name, number.parse().ok()?)));
        // A process id alone is not a session.
        return Some(numbered.map_or((whole, None), |(name, session)| (name, Some(session))));
    }
    // Other names start with the process id.
    let (pid, rest) = source.split_once('_').filter(|(pid, _)| pid.bytes().all(|byte| byte.is_ascii_digit()))?;
    let session = rest.split_once('_').and_then(|(number, _)| number.parse().ok());
    if pid.is_empty() { None } else { Some((pid, session)) }
}

/// Whether no known fact shows that two processes differ.
fn is_same_process(first: &ProcessFacts, later: &ProcessFacts) -> bool {
    let is_same_pid = first.pid >= 0 && (later.pid == first.pid || later.pid < 0);
    let is_same_machine = later.machine_key == first.machine_key || later.machine_key.is_empty();
    let is_after = match (first.end_ns, later.start_ns) {
        (Some(end), Some(start)) => start >= end,
        _ => true,
    };
    is_same_pid && is_same_machine && is_after
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(path: &str, pid: i64, guid: Option<&str>) -> ProcessFacts {
        ProcessFacts {
            path: path.into(),
            source: path.rsplit('/').next().unwrap().into(),
            pid,
            guid: guid.map(str::to_owned),
            ..ProcessFacts::default()
        }
    }

    fn earlier(all: &[ProcessFacts]) -> Vec<Option<usize>> {
        earlier_sessions(&all.iter().collect::<Vec<_>>())
    }

    #[test]
    fn sessions_have_one_id_or_numbered_names() {
        for (first, second) in [
            (facts("d/7_results.db", 7, Some("g")), facts("d/7_1_results.db", 7, Some("g"))),
            (facts("d/7_results.json", 7, None), facts("d/7_1_results.json", 7, None)),
            (facts("d/run_results.json", 7, None), facts("d/run_1_results.json.gz", 7, None)),
            (facts("d/7_kernel_trace.csv", 7, None), facts("d/7_1_kernel_trace.csv", -1, None)),
            (facts("d/7_*.csv", 7, None), facts("d/7_2_*.csv", -1, None)),
        ] {
            assert_eq!(earlier(&[first.clone(), second.clone()]), [None, Some(0)], "{}", second.path);
            assert_eq!(earlier(&[second.clone(), first]).iter().flatten().count(), 1, "{}", second.path);
        }
    }

    #[test]
    fn other_processes_are_apart() {
        for (first, second) in [
            (facts("d/7_results.db", 7, Some("g")), facts("d/8_results.db", 8, Some("g"))),
            (facts("d/7_results.json", 7, None), facts("e/7_1_results.json", 7, None)),
            (facts("d/run_results.json", 7, None), facts("d/run_1_results.json", 8, None)),
            (facts("d/run_0_results.json", 7, None), facts("d/run_1_results.json", 7, None)),
            (facts("d/7_kernel_trace.csv", 7, None), facts("d/8_kernel_trace.csv", 8, None)),
            (facts("d/rank0.json", 7, None), facts("d/rank1.json", 7, None)),
        ] {
            assert_eq!(earlier(&[first, second.clone()]), [None, None], "{}", second.path);
        }
        let ended = ProcessFacts { end_ns: Some(90), ..facts("d/7_results.json", 7, None) };
        let at_once = ProcessFacts { start_ns: Some(10), ..facts("d/7_1_results.json", 7, None) };
        assert_eq!(earlier(&[ended, at_once]), [None, None]);
    }
}
