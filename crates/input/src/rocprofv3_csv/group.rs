//! Groups files into captures.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::common::csv::CsvFile;
use wavesieve_model::schema::facts::ProcessFacts;
use wavesieve_model::text::bytes::text_of_name;

/// Ends of file names from rocprofv3 and `rocpd convert`. If an end is part of another, the longer one comes first.
const ENDINGS: &[&str] = &[
    "kernel_trace",
    "hip_api_trace",
    "hip_runtime_api_trace",
    "hip_compiler_api_trace",
    "hsa_api_trace",
    "marker_api_trace",
    "rccl_api_trace",
    "rocdecode_api_trace",
    "rocjpeg_api_trace",
    "hipfile_api_trace",
    "rocshmem_api_trace",
    "ompt_trace",
    "kfd_trace",
    "regions_trace",
    "memory_copy_trace",
    "memory_allocation_trace",
    "scratch_memory_trace",
    "graph_launch_trace",
    "hip_event_trace",
    "spm_counter_collection_trace",
    "spm_counter_collection",
    "counter_collection_trace",
    "counter_collection",
    "pc_sampling_host_trap",
    "pc_sampling_stochastic",
    "agent_info",
];

/// End of the names of call files. The name of the interface precedes it.
const CALLS: &str = "_api_trace";

/// The name without `.csv` and `.gz`.
fn stem(name: &str) -> &str {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    name.strip_suffix(".csv").unwrap_or(name)
}

/// The start of a name before one of the known endings; `None` if it has none.
fn prefix(name: &str) -> Option<&str> {
    let stem = stem(name);
    let before = |ending: &&str| {
        let before = stem.strip_suffix(*ending)?;
        if before.is_empty() { Some(before) } else { before.strip_suffix('_') }
    };
    ENDINGS.iter().filter_map(before).min_by_key(|prefix| prefix.len())
}

/// Possible prefixes of the name of a call file of an unknown interface, the longest first.
fn prefixes_of_unknown(name: &str) -> impl Iterator<Item = &str> {
    let before = stem(name).strip_suffix(CALLS).unwrap_or_default();
    before.rmatch_indices('_').filter_map(|(at, _)| before.get(..at)).filter(|prefix| !prefix.is_empty())
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, text_of_name)
}

/// Whether a file has a name of rocprofv3 CSV. If it has no content, it may be a lost rank.
pub(crate) fn is_named_like_capture(name: &str) -> bool {
    (name.ends_with(".csv") || name.ends_with(".csv.gz")) && prefix(name).is_some()
}

/// A capture: its files, and their common name.
#[derive(Clone, Debug)]
pub struct Group {
    /// The files in natural order.
    pub files: Vec<CsvFile>,
    /// Path of the only file, or a pattern that matches all files.
    pub shown: String,
    /// The last part of that path.
    pub source: String,
    /// The number at the start of the names, mostly the process id.
    pub pid: Option<i64>,
    /// Name of the directory. By default it is the host, if names start with the process id.
    pub directory: Option<String>,
    /// Compressed files that also exist uncompressed. Only the uncompressed files are read.
    pub repeated: Vec<String>,
    /// Call files of unknown interfaces that belong to it by their names.
    pub unknown: Vec<String>,
}

/// Directory, prefix, and the position of files with other names.
type Key = (PathBuf, Option<String>, usize);

/// Groups files by directory and prefix. A file with another name stands alone, unless it is a call file of an unknown interface, and its
/// prefix is the prefix of other files or a process id. Other prefixes may be names of interfaces.
pub fn grouped(files: Vec<CsvFile>) -> Vec<Group> {
    let folder = |file: &CsvFile| file.path.parent().map_or_else(PathBuf::new, Path::to_owned);
    let known: BTreeSet<(PathBuf, String)> =
        files.iter().filter_map(|file| Some((folder(file), prefix(&name_of(&file.path))?.to_owned()))).collect();
    let mut keys: Vec<Key> = Vec::new();
    let mut groups: BTreeMap<Key, Vec<CsvFile>> = BTreeMap::new();
    for (at, file) in files.into_iter().enumerate() {
        let directory = folder(&file);
        let name = name_of(&file.path);
        let is_known = |prefix: &&str| known.contains(&(directory.clone(), (*prefix).to_owned()));
        let is_number = |prefix: &&str| prefix.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
        let of_unknown =
            || prefixes_of_unknown(&name).find(is_known).or_else(|| prefixes_of_unknown(&name).find(is_number));
        let prefix = prefix(&name).or_else(of_unknown).map(str::to_owned);
        let alone = if prefix.is_some() { 0 } else { at };
        let key = (directory, prefix, alone);
        if !groups.contains_key(&key) {
            keys.push(key.clone());
        }
        groups.entry(key).or_default().push(file);
    }
    keys.iter().filter_map(|key| Some(group(groups.remove(key)?, &key.0, key.1.as_deref()))).collect()
}

fn group(files: Vec<CsvFile>, directory: &Path, prefix: Option<&str>) -> Group {
    let unknown = files.iter().filter(|file| self::prefix(&name_of(&file.path)).is_none() && prefix.is_some());
    let unknown = unknown.map(|file| file.shown.clone()).collect();
    let stems: Vec<String> = files.iter().map(|file| stem(&name_of(&file.path)).to_owned()).collect();
    let names: Vec<String> = files.iter().map(|file| name_of(&file.path)).collect();
    let mut kept: Vec<CsvFile> = Vec::new();
    let mut repeated = Vec::new();
    for ((file, stem), name) in files.into_iter().zip(&stems).zip(&names) {
        let is_second =
            name.ends_with(".gz") && stems.iter().zip(&names).any(|(other, at)| other == stem && at != name);
        if is_second { repeated.push(file.shown) } else { kept.push(file) }
    }
    let source = match (kept.as_slice(), prefix) {
        ([only], _) => name_of(&only.path),
        (_, Some(prefix)) if !prefix.is_empty() => format!("{prefix}_*.csv"),
        _ => "*.csv".to_owned(),
    };
    let shown = match kept.as_slice() {
        [only] => only.shown.clone(),
        _ => text_of_name(directory.join(&source)),
    };
    let pid: Option<i64> = prefix.and_then(|prefix| prefix.parse().ok()).filter(|pid| *pid > 0);
    let directory = directory.file_name().map(text_of_name);
    Group { files: kept, shown, source, pid, directory, repeated, unknown }
}

/// Whether rocprofv3 wrote `other`, in another format, in the same run as the CSV of `facts`. They have the same capture id, or they are in
/// the same directory with the same prefix and process.
pub fn is_same_run(facts: &ProcessFacts, other: &ProcessFacts) -> bool {
    let guid = |facts: &ProcessFacts| facts.guid.as_ref().map(|guid| guid.replace('_', "-"));
    if facts.guid.is_some() && guid(facts) == guid(other) {
        return true;
    }
    let (path, other_path) = (Path::new(&facts.path), Path::new(&other.path));
    let source = facts.source.replace("_*.csv", "_agent_info.csv").replace("*.csv", "agent_info.csv");
    let Some(prefix) = prefix(&source) else { return false };
    let name = name_of(other_path);
    let own = if prefix.is_empty() { "results.".to_owned() } else { format!("{prefix}_results.") };
    path.parent() == other_path.parent() && name.starts_with(&own) && (facts.pid < 0 || facts.pid == other.pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes() {
        for (name, wanted) in [
            ("1234_kernel_trace.csv", Some("1234")),
            ("kernel_trace.csv", Some("")),
            ("run_1_counter_collection.csv.gz", Some("run_1")),
            ("out_spm_counter_collection_trace.csv", Some("out")),
            ("python_bindings.csv", None),
            ("mykernel_trace.csv", None),
            ("1234_hipfile_api_trace.csv", Some("1234")),
            ("rocshmem_api_trace.csv.gz", Some("")),
            ("1234_other_api_trace.csv", None),
        ] {
            assert_eq!(prefix(name), wanted, "{name}");
        }
    }

    /// Files of unknown interfaces join the known files next to them. They do not join each other by an arbitrary prefix.
    #[test]
    fn calls_of_unknown_interfaces_join_their_capture() {
        let names = [
            "a/1_kernel_trace.csv",
            "a/1_rocsolver_api_trace.csv",
            "a/1_new_thing_api_trace.csv",
            "b/run_kernel_trace.csv.gz",
            "b/run_new_api_trace.csv",
            "c/77_new_api_trace.csv",
            "c/77_new_thing_api_trace.csv",
            "c/77_1_new_api_trace.csv",
            "d/run_a_api_trace.csv",
            "d/run_b_api_trace.csv",
            "d/new_api_trace.csv",
        ];
        let file = |name: &&str| CsvFile { path: PathBuf::from(name), shown: (*name).to_owned() };
        let groups = grouped(names.iter().map(file).collect());
        let shown: Vec<(&str, usize, usize)> =
            groups.iter().map(|group| (group.shown.as_str(), group.files.len(), group.unknown.len())).collect();
        assert_eq!(
            shown,
            [
                ("a/1_*.csv", 3, 2),
                ("b/run_*.csv", 2, 1),
                ("c/77_*.csv", 2, 2),
                ("c/77_1_new_api_trace.csv", 1, 1),
                ("d/run_a_api_trace.csv", 1, 0),
                ("d/run_b_api_trace.csv", 1, 0),
                ("d/new_api_trace.csv", 1, 0),
            ]
        );
    }

    #[test]
    fn groups_are_told_apart_by_directory_and_prefix() {
        let names = ["a/1_kernel_trace.csv", "a/1_hip_api_trace.csv", "a/2_kernel_trace.csv", "b/1_kernel_trace.csv"];
        let more = ["a/other.csv", "a/another.csv", "a/1_kernel_trace.csv.gz"];
        let file = |name: &&str| CsvFile { path: PathBuf::from(name), shown: (*name).to_owned() };
        let groups = grouped(names.iter().chain(&more).map(file).collect());
        let shown: Vec<(&str, usize)> = groups.iter().map(|group| (group.shown.as_str(), group.files.len())).collect();
        assert_eq!(
            shown,
            [
                ("a/1_*.csv", 2),
                ("a/2_kernel_trace.csv", 1),
                ("b/1_kernel_trace.csv", 1),
                ("a/other.csv", 1),
                ("a/another.csv", 1)
            ]
        );
        assert_eq!(groups.first().map(|group| (group.pid, group.repeated.len())), Some((Some(1), 1)));
    }
}
