//! Which files make up a workload.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::input::common::csv::CsvFile;

/// The file that all passes are joined in.
const JOINED: &str = "pmc_perf";
/// The file that describes the machine.
const SYSTEM: &str = "sysinfo.csv";

/// The files of a folder.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    /// Files of counters, the joined one first.
    pub files: Vec<CsvFile>,
    /// The description of the machine, if there is one.
    pub system: Option<CsvFile>,
    /// Path of the only file of counters, otherwise a pattern that matches all.
    pub shown: String,
    /// The last two parts of that path, as the files of all workloads are called the same.
    pub source: String,
    /// Files of passes that the joined file holds too, so that they are not read.
    pub repeated: Vec<String>,
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The name of a file without `.csv` and `.gz`.
pub(crate) fn stem(file: &CsvFile) -> String {
    let name = name_of(&file.path);
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.strip_suffix(".csv").unwrap_or(name).to_owned()
}

/// Whether a file is that of a pass which is always joined: `pmc_perf_3`, `results_pmc_perf_3`. What is named after a level
/// may stand next to the joined file and hold what that has not.
fn is_joined_pass(stem: &str) -> bool {
    let number =
        |prefix: &str| stem.strip_prefix(prefix).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    number("pmc_perf_") || stem.starts_with("results_")
}

/// Puts files together: those of the same directory.
pub(crate) fn grouped(files: Vec<CsvFile>) -> Vec<Workload> {
    let mut directories: Vec<PathBuf> = Vec::new();
    let mut groups: BTreeMap<PathBuf, Vec<CsvFile>> = BTreeMap::new();
    for file in files {
        let directory = file.path.parent().map_or_else(PathBuf::new, Path::to_owned);
        if !groups.contains_key(&directory) {
            directories.push(directory.clone());
        }
        groups.entry(directory).or_default().push(file);
    }
    directories.into_iter().filter_map(|directory| Some(workload(groups.remove(&directory)?, &directory))).collect()
}

fn workload(mut files: Vec<CsvFile>, directory: &Path) -> Workload {
    let mut repeated = Vec::new();
    // The joined file may be there compressed, too.
    files.sort_by_key(|file| (stem(file) != JOINED, name_of(&file.path).ends_with(".gz")));
    if files.first().is_some_and(|file| stem(file) == JOINED) {
        let mut is_first = true;
        files.retain(|file| {
            let stem = stem(file);
            let kept = std::mem::take(&mut is_first) || (stem != JOINED && !is_joined_pass(&stem));
            if !kept {
                repeated.push(file.shown.clone());
            }
            kept
        });
    }
    let (name, shown) = match files.as_slice() {
        [only] => (name_of(&only.path), only.shown.clone()),
        _ => ("*.csv".to_owned(), directory.join("*.csv").to_string_lossy().into_owned()),
    };
    let source = match directory.file_name() {
        Some(folder) => format!("{}/{name}", folder.to_string_lossy()),
        None => name,
    };
    let system = directory.join(SYSTEM);
    let system = system.is_file().then(|| CsvFile { shown: system.to_string_lossy().into_owned(), path: system });
    Workload { files, system, shown, source, repeated }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_joined_passes_are_not_read_twice() {
        let names = [
            "a/SQ_LEVEL_WAVES.csv",
            "a/pmc_perf.csv",
            "a/pmc_perf_0.csv",
            "a/results_pmc_perf_1.csv",
            "b/pmc_perf_0.csv",
        ];
        let more = ["b/pmc_perf_1.csv", "a/pmc_perf_SQ_IFETCH_LEVEL.csv"];
        let file = |name: &&str| CsvFile { path: PathBuf::from(name), shown: (*name).to_owned() };
        let workloads = grouped(names.iter().chain(&more).map(file).collect());
        let files = |workload: &Workload| workload.files.iter().map(|file| file.shown.clone()).collect::<Vec<String>>();
        assert_eq!(
            workloads.iter().map(files).collect::<Vec<_>>(),
            [
                vec!["a/pmc_perf.csv", "a/SQ_LEVEL_WAVES.csv", "a/pmc_perf_SQ_IFETCH_LEVEL.csv"],
                vec!["b/pmc_perf_0.csv", "b/pmc_perf_1.csv"]
            ]
        );
        assert_eq!(workloads.iter().map(|workload| workload.repeated.len()).collect::<Vec<usize>>(), [2, 0]);
        assert_eq!(workloads.first().map(|workload| workload.shown.as_str()), Some("a/*.csv"));
    }
}
