//! Groups files into workloads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::counter_file::CounterFile;
use super::native::{self, Incomplete};
use crate::common::csv::CsvFile;
use wavesieve_model::text::bytes::text_of_name;

/// The file in which all passes are joined.
const JOINED: &str = "pmc_perf";
/// The file that describes the machine.
pub const SYSTEM: &str = "sysinfo.csv";

/// The files of a folder.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    /// Files of counters, the joined one first.
    pub files: Vec<CounterFile>,
    /// The description of the machine, if there is one.
    pub system: Option<CsvFile>,
    /// Path of the only file of counters, otherwise a pattern that matches all.
    pub shown: String,
    /// The last two parts of that path, because the files of all workloads have the same names.
    pub source: String,
    /// Files that are not read because other files hold the same passes.
    pub repeated: Vec<String>,
    /// Processes with missing files.
    pub incomplete: Vec<Incomplete>,
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, text_of_name)
}

/// Whether a file belongs to a pass that is always joined: `pmc_perf_3`, `results_pmc_perf_3`. A file named after a level may hold counters
/// that the joined file lacks.
fn is_joined_pass(stem: &str) -> bool {
    let number = pass_name(stem).strip_prefix(JOINED).and_then(|rest| rest.strip_prefix('_'));
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit())) || stem == "results_pmc_perf"
}

/// Groups files by directory.
pub fn grouped(files: Vec<CsvFile>) -> Vec<Workload> {
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

/// The name of a pass: a file with the prefix `results_` has the rows of the database or of the native tool with the rest of its name.
pub(crate) fn pass_name(stem: &str) -> &str {
    stem.strip_prefix("results_").unwrap_or(stem)
}

/// Removes files of passes that other files hold too, and returns their paths. The joined file comes first, then files of the native tool,
/// databases, and CSV that was made from them.
fn without_repeated(files: &mut Vec<CounterFile>) -> Vec<String> {
    let rank = |file: &CounterFile| match file {
        file if file.stem() == JOINED => 0,
        CounterFile::Native(_) => 1,
        CounterFile::Csv(_) => 3,
        CounterFile::Database(_) => 2,
    };
    // The joined file may also be present in compressed form. Other files stay in the order of their passes.
    files.sort_by_key(|file| (rank(file), rank(file) == 0 && name_of(&file.file().path).ends_with(".gz")));
    let is_joined = files.first().is_some_and(|file| file.stem() == JOINED);
    let mut known: BTreeMap<String, bool> = BTreeMap::new();
    let mut repeated = Vec::new();
    files.retain(|file| {
        let stem = file.stem();
        // Files with the same name hold the same pass only if they are of different kinds.
        let is_csv = matches!(file, CounterFile::Csv(_));
        let is_known = known.get(pass_name(&stem)).is_some_and(|from_csv| !from_csv || stem == JOINED);
        let is_repeated = is_known || (is_joined && is_joined_pass(&stem));
        if !is_repeated {
            known.entry(pass_name(&stem).to_owned()).or_insert(is_csv);
        } else {
            repeated.push(file.file().shown.clone());
        }
        !is_repeated
    });
    repeated
}

/// The files of counters of a folder.
fn counter_files(mut files: Vec<CsvFile>) -> (Vec<CounterFile>, Vec<Incomplete>) {
    let (passes, incomplete) = native::passes(&mut files);
    let native = passes.into_iter().map(CounterFile::Native);
    (native.chain(files.into_iter().map(CounterFile::of_content)).collect(), incomplete)
}

fn workload(files: Vec<CsvFile>, directory: &Path) -> Workload {
    let (mut files, incomplete) = counter_files(files);
    let repeated = without_repeated(&mut files);
    let (name, shown) = match files.as_slice() {
        [only] => (name_of(&only.file().path), only.file().shown.clone()),
        several => {
            let is_csv = several.iter().all(|file| matches!(file, CounterFile::Csv(_)));
            let pattern = if is_csv { "*.csv" } else { "*" };
            (pattern.to_owned(), text_of_name(directory.join(pattern)))
        }
    };
    let source = match directory.file_name() {
        Some(folder) => format!("{}/{name}", text_of_name(folder)),
        None => name,
    };
    let system = directory.join(SYSTEM);
    let system = system.is_file().then(|| CsvFile { shown: text_of_name(&system), path: system });
    Workload { files, system, shown, source, repeated, incomplete }
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
        let more = [
            "b/pmc_perf_1.csv",
            "a/pmc_perf_SQ_IFETCH_LEVEL.csv",
            "a/results_pmc_perf_SQ_INST_LEVEL_LDS.csv",
            "a/results_pmc_perf.csv",
        ];
        let file = |name: &&str| CsvFile { path: PathBuf::from(name), shown: (*name).to_owned() };
        let workloads = grouped(names.iter().chain(&more).map(file).collect());
        let files =
            |workload: &Workload| workload.files.iter().map(|file| file.file().shown.clone()).collect::<Vec<String>>();
        assert_eq!(
            workloads.iter().map(files).collect::<Vec<_>>(),
            [
                vec![
                    "a/pmc_perf.csv",
                    "a/SQ_LEVEL_WAVES.csv",
                    "a/pmc_perf_SQ_IFETCH_LEVEL.csv",
                    "a/results_pmc_perf_SQ_INST_LEVEL_LDS.csv"
                ],
                vec!["b/pmc_perf_0.csv", "b/pmc_perf_1.csv"]
            ]
        );
        assert_eq!(workloads.iter().map(|workload| workload.repeated.len()).collect::<Vec<usize>>(), [3, 0]);
        assert_eq!(workloads.first().map(|workload| workload.shown.as_str()), Some("a/*.csv"));
    }
}
