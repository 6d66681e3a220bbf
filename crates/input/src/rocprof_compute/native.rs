//! Files that the native tool of rocprofiler-compute writes for each process of a pass: `counters_<pass>_<pid>.csv.gz`,
//! `dispatch_<pass>_<pid>.csv.gz` and `kernel_symbols_<pass>_<pid>.csv.gz`. Ids of dispatches and kernels are unique only within a process
//! (its `src/utils/native_data.py`, and the headers in `src/lib/rocprofiler_compute_tool`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ::csv::ByteRecord;
use anyhow::{Context, Result};

use super::columns::trimmed;
use super::counter_file::stem;
use crate::common::csv::{self, CsvFile, Flaws, start};

/// One of the three files of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NativeFileKind {
    Counters,
    Dispatches,
    Symbols,
}

const KINDS: [(NativeFileKind, &str); 3] = [
    (NativeFileKind::Counters, "counters"),
    (NativeFileKind::Dispatches, "dispatch"),
    (NativeFileKind::Symbols, "kernel_symbols"),
];

/// Columns that identify a file of each kind.
const IDENTIFYING: [&[&str]; 3] = [
    &["dispatch_id", "counter_name", "counter_value"],
    &["dispatch_id", "kernel_id", "gpu_id", "start_timestamp", "end_timestamp", "correlation_id"],
    &["kernel_id", "kernel_name", "arch_vgpr", "accum_vgpr", "sgpr"],
];

/// Columns of the joined rows, and the kind of file that each comes from.
const COLUMNS: [(NativeFileKind, &str); 15] = [
    (NativeFileKind::Counters, "dispatch_id"),
    (NativeFileKind::Dispatches, "gpu_id"),
    (NativeFileKind::Dispatches, "kernel_id"),
    (NativeFileKind::Symbols, "kernel_name"),
    (NativeFileKind::Dispatches, "grid_size"),
    (NativeFileKind::Dispatches, "workgroup_size"),
    (NativeFileKind::Dispatches, "lds_per_workgroup"),
    (NativeFileKind::Dispatches, "scratch_per_workitem"),
    (NativeFileKind::Symbols, "arch_vgpr"),
    (NativeFileKind::Symbols, "accum_vgpr"),
    (NativeFileKind::Symbols, "sgpr"),
    (NativeFileKind::Dispatches, "start_timestamp"),
    (NativeFileKind::Dispatches, "end_timestamp"),
    (NativeFileKind::Counters, "counter_name"),
    (NativeFileKind::Counters, "counter_value"),
];

/// The processes of a pass.
#[derive(Clone, Debug)]
pub(crate) struct NativePass {
    /// The pass, such as `pmc_perf_0`.
    pub name: String,
    first: NativeProcess,
    others: Vec<NativeProcess>,
}

/// The three files of a process.
#[derive(Clone, Debug)]
struct NativeProcess {
    pid: i64,
    counters: CsvFile,
    dispatches: CsvFile,
    symbols: CsvFile,
}

/// A process that cannot be read because some of its files are missing.
#[derive(Clone, Debug)]
pub(crate) struct Incomplete {
    pub path: String,
    pub cause: String,
}

/// Whether a header belongs to one of the three files.
pub(crate) fn is_native(header: &ByteRecord) -> bool {
    let names: Vec<String> = header.iter().map(trimmed).collect();
    IDENTIFYING.iter().any(|columns| columns.iter().all(|column| names.iter().any(|name| name == column)))
}

/// The kind, the pass and the process in the name of a file.
fn parts_of(path: &Path) -> Option<(NativeFileKind, String, i64)> {
    let stem = stem(path);
    let (rest, pid) = stem.rsplit_once('_')?;
    let pid = pid.parse().ok()?;
    KINDS.iter().find_map(|(kind, prefix)| {
        let pass = rest.strip_prefix(prefix)?.strip_prefix('_').filter(|pass| !pass.is_empty())?;
        Some((*kind, pass.to_owned(), pid))
    })
}

/// Takes the files of the native tool out of the files of a folder. Returns passes by name, and processes with missing files.
pub fn passes(files: &mut Vec<CsvFile>) -> (Vec<NativePass>, Vec<Incomplete>) {
    let mut found: BTreeMap<(String, i64), BTreeMap<NativeFileKind, CsvFile>> = BTreeMap::new();
    files.retain(|file| {
        let of_native = start(file).is_ok_and(|(header, _)| is_native(&header));
        let Some((kind, pass, pid)) = parts_of(&file.path).filter(|_| of_native) else { return true };
        // If a file is also present in compressed form, one of the two is enough.
        found.entry((pass, pid)).or_default().entry(kind).or_insert_with(|| file.clone());
        false
    });
    let mut passes: Vec<NativePass> = Vec::new();
    let mut incomplete = Vec::new();
    for ((name, pid), mut kinds) in found {
        let missing: Vec<&str> =
            KINDS.iter().filter(|(kind, _)| !kinds.contains_key(kind)).map(|(_, prefix)| *prefix).collect();
        let files = [NativeFileKind::Counters, NativeFileKind::Dispatches, NativeFileKind::Symbols]
            .map(|kind| kinds.remove(&kind));
        match files {
            [Some(counters), Some(dispatches), Some(symbols)] => {
                let process = NativeProcess { pid, counters, dispatches, symbols };
                match passes.last_mut().filter(|pass| pass.name == name) {
                    Some(pass) => pass.others.push(process),
                    None => passes.push(NativePass { name, first: process, others: Vec::new() }),
                }
            }
            rest => {
                let path = rest.into_iter().flatten().next().map(|file| file.shown).unwrap_or_default();
                let missing: Vec<String> = missing.iter().map(|prefix| format!("{prefix}_{name}_{pid}.csv")).collect();
                let cause = format!("process {pid} is excluded without {}; copy it too", missing.join(" and "));
                incomplete.push(Incomplete { path, cause });
            }
        }
    }
    (passes, incomplete)
}

impl NativePass {
    pub fn file(&self) -> &CsvFile {
        &self.first.counters
    }

    fn processes(&self) -> impl Iterator<Item = &NativeProcess> {
        std::iter::once(&self.first).chain(&self.others)
    }

    pub fn paths(&self) -> Vec<PathBuf> {
        let files = |process: &NativeProcess| {
            [&process.counters, &process.dispatches, &process.symbols].map(|file| file.path.clone())
        };
        self.processes().flat_map(files).collect()
    }

    /// The names of the columns of joined rows.
    pub fn header() -> ByteRecord {
        std::iter::once("pid").chain(COLUMNS.iter().map(|(_, name)| *name)).collect::<Vec<&str>>().into()
    }

    /// Passes every value with its dispatch and kernel to `read`, which returns an error if it cannot parse them.
    pub fn scan(&self, read: &mut dyn FnMut(&ByteRecord) -> Result<(), String>) -> Result<Flaws> {
        let mut flaws = Flaws::default();
        for process in self.processes() {
            process.scan(read, &mut flaws)?;
        }
        Ok(flaws)
    }
}

/// Rows of a file by the id in one of its columns.
struct Keyed {
    header: ByteRecord,
    rows: BTreeMap<Vec<u8>, ByteRecord>,
    positions: Vec<Option<usize>>,
}

impl Keyed {
    fn read(file: &CsvFile, kind: NativeFileKind, key: &str, flaws: &mut Flaws) -> Result<Self> {
        let (header, _) = start(file)?;
        let at =
            position(&header, key).with_context(|| format!("{} has no column {key}; copy it again", file.shown))?;
        let mut rows = BTreeMap::new();
        flaws.add(csv::scan(file, header.len(), &mut |record| {
            let id = record.get(at).filter(|id| !id.is_empty()).ok_or_else(|| format!("it has no {key}"))?;
            rows.insert(id.to_vec(), record.clone());
            Ok(())
        })?);
        Ok(Self { positions: positions(&header, kind), header, rows })
    }
}

fn position(header: &ByteRecord, name: &str) -> Option<usize> {
    header.iter().position(|field| trimmed(field) == name)
}

/// Positions of the columns of a kind, in the order of [`COLUMNS`].
fn positions(header: &ByteRecord, kind: NativeFileKind) -> Vec<Option<usize>> {
    COLUMNS.iter().map(|(of, name)| position(header, name).filter(|_| *of == kind)).collect()
}

impl NativeProcess {
    fn scan(&self, read: &mut dyn FnMut(&ByteRecord) -> Result<(), String>, flaws: &mut Flaws) -> Result<()> {
        let dispatches = Keyed::read(&self.dispatches, NativeFileKind::Dispatches, "dispatch_id", flaws)?;
        let symbols = Keyed::read(&self.symbols, NativeFileKind::Symbols, "kernel_id", flaws)?;
        let (header, _) = start(&self.counters)?;
        let own = positions(&header, NativeFileKind::Counters);
        let dispatch_at = position(&header, "dispatch_id");
        let kernel_at = position(&dispatches.header, "kernel_id");
        let pid = self.pid.to_string();
        let mut joined = ByteRecord::new();
        flaws.add(csv::scan(&self.counters, header.len(), &mut |record| {
            let field = |record: &ByteRecord, at: Option<usize>| at.and_then(|at| record.get(at)).map(<[u8]>::to_vec);
            let id = field(record, dispatch_at).unwrap_or_default();
            let dispatch = dispatches.rows.get(&id).ok_or_else(|| unknown("dispatch", &id, &self.dispatches))?;
            let kernel = field(dispatch, kernel_at).unwrap_or_default();
            let symbol = symbols.rows.get(&kernel).ok_or_else(|| unknown("kernel", &kernel, &self.symbols))?;
            joined.clear();
            joined.push_field(pid.as_bytes());
            let places = own.iter().zip(&dispatches.positions).zip(&symbols.positions);
            for ((of_counter, of_dispatch), of_symbol) in places {
                let value = of_counter.and_then(|at| record.get(at));
                let value = value.or_else(|| of_dispatch.and_then(|at| dispatch.get(at)));
                joined.push_field(value.or_else(|| of_symbol.and_then(|at| symbol.get(at))).unwrap_or_default());
            }
            read(&joined)
        })?);
        Ok(())
    }
}

fn unknown(what: &str, id: &[u8], file: &CsvFile) -> String {
    let id: String = String::from_utf8_lossy(id).chars().take(40).collect();
    format!("{what} {id:?} is not in {}", file.shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_pass_and_process() {
        let parts = |name: &str| parts_of(Path::new(name));
        assert_eq!(
            parts("d/counters_pmc_perf_0_41.csv.gz"),
            Some((NativeFileKind::Counters, "pmc_perf_0".to_owned(), 41))
        );
        assert_eq!(parts("kernel_symbols_x_7.csv"), Some((NativeFileKind::Symbols, "x".to_owned(), 7)));
        for name in ["counters_7.csv", "dispatch_a_b.csv", "counter_a_7.csv", "pmc_perf_0.csv"] {
            assert_eq!(parts(name), None, "{name}");
        }
    }
}
