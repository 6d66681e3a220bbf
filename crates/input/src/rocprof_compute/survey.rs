//! The content of the files of a workload, except counter values: dispatches, kernels, GPUs.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};

use super::columns::Col;
use super::counter_file::CounterFile;
use super::header::{Header, Layout};
use super::pass_database::PassDatabase;
use super::passes::passes;
use super::rows::{UnderstoodRow, scan};
use super::workload::Workload;
use crate::common::csv::Flaws;

/// A dispatch as it ran in one pass.
#[derive(Clone, Debug)]
pub struct Run {
    pub dispatch: i64,
    /// Process of the operating system, in files that have it.
    pub pid: Option<i64>,
    pub gpu: Option<i64>,
    /// Position in [`Survey::kernels`].
    pub kernel: usize,
    /// Work-items of the grid and of a workgroup, LDS, scratch memory.
    pub sizes: [Option<i64>; 4],
    pub start_ns: Option<i64>,
    pub end_ns: Option<i64>,
    /// The pass among the passes of the workload.
    pub pass: i64,
}

/// A kernel, as the first of its rows describes it.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Recorded id, otherwise a number in the order of appearance.
    pub id: i64,
    /// Name, if a row has one.
    pub name: Option<String>,
    /// Vector, accumulation and scalar registers, LDS, scratch memory.
    pub numbers: [Option<i64>; 5],
}

/// Identifies runs of the long layout: process, dispatch, GPU, start, end.
type RunKey = (Option<i64>, i64, Option<i64>, Option<i64>, Option<i64>);
/// Identifies kernels: id and name.
type KernelKey = (Option<i64>, Option<String>);

/// A file after it was surveyed.
#[derive(Debug)]
pub(crate) struct Surveyed {
    pub file: CounterFile,
    /// The meaning of its columns.
    pub header: Header,
    /// Problems in its rows.
    pub flaws: Flaws,
    /// Position of its first run in [`Survey::runs`].
    first: usize,
    runs: BTreeMap<RunKey, usize>,
}

/// The content of the files, except counter values.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub files: Vec<Surveyed>,
    /// Dispatches in every pass, in recorded order.
    pub runs: Vec<Run>,
    /// Kernels in the order of their first row.
    pub kernels: Vec<Kernel>,
    pub gpus: BTreeSet<i64>,
    /// Number of passes.
    pub passes: i64,
    /// Number of dispatches that were renumbered because processes of one file share dispatch ids.
    pub renumbered: usize,
}

impl Survey {
    /// Reads all files once.
    pub fn new(workload: &Workload) -> Result<Self> {
        let mut survey = Self::default();
        let mut kernels: BTreeMap<KernelKey, usize> = BTreeMap::new();
        for file in &workload.files {
            survey.add(file, &mut kernels)?;
        }
        survey.number_kernels();
        Ok(survey)
    }

    fn add(&mut self, file: &CounterFile, kernels: &mut BTreeMap<KernelKey, usize>) -> Result<()> {
        let header = Header::new(&file.header()?, &file.stem());
        let layout = header
            .layout
            .context("the header changed while the file was read; wait until the profiler has finished")?;
        let first = self.runs.len();
        let mut runs: BTreeMap<RunKey, usize> = BTreeMap::new();
        let mut last: Option<RunKey> = None;
        let flaws = scan(file, &header, &mut |row| {
            let key = run_key(row);
            let is_new = layout == Layout::Wide || (last != Some(key) && !runs.contains_key(&key));
            if is_new {
                if layout == Layout::Long {
                    runs.insert(key, self.runs.len());
                }
                let kernel = self.kernel(row, kernels);
                self.runs.push(run(row, kernel));
                self.gpus.extend(row.number(Col::Gpu));
            }
            last = Some(key);
        })?;
        self.renumber(first);
        let own: Vec<(i64, Option<i64>)> =
            self.runs.iter().skip(first).map(|run| (run.dispatch, run.start_ns)).collect();
        let (found, count) = passes(&own);
        for (run, pass) in self.runs.iter_mut().skip(first).zip(found) {
            run.pass = self.passes.saturating_add(pass);
        }
        self.passes = self.passes.saturating_add(count);
        self.files.push(Surveyed { file: file.clone(), header, flaws, first, runs });
        Ok(())
    }

    fn kernel(&mut self, row: &UnderstoodRow<'_>, kernels: &mut BTreeMap<KernelKey, usize>) -> usize {
        let key = (row.number(Col::KernelId), row.text(Col::KernelName).map(|name| without_clone(&name).to_owned()));
        if let Some(known) = kernels.get(&key) {
            return *known;
        }
        let numbers = [Col::Vgpr, Col::AccumVgpr, Col::Sgpr, Col::Lds, Col::Scratch].map(|column| row.number(column));
        // Missing ids are assigned after all files are read; until then they are negative.
        self.kernels.push(Kernel { id: key.0.unwrap_or(-1), name: key.1.clone(), numbers });
        kernels.insert(key, self.kernels.len() - 1);
        self.kernels.len() - 1
    }

    /// Numbers the dispatches of a file in the order of processes, if several processes have the same ids. rocprofiler-compute also numbers
    /// the dispatches of all processes of a pass together.
    fn renumber(&mut self, first: usize) {
        let mut of_dispatches: BTreeMap<i64, Option<i64>> = BTreeMap::new();
        let is_shared =
            self.runs.iter().skip(first).any(|run| *of_dispatches.entry(run.dispatch).or_insert(run.pid) != run.pid);
        if !is_shared {
            return;
        }
        let key = |run: &Run| (run.pid, run.dispatch);
        let keys: BTreeSet<(Option<i64>, i64)> = self.runs.iter().skip(first).map(key).collect();
        let numbers: BTreeMap<(Option<i64>, i64), i64> = keys.into_iter().zip(1..).collect();
        for run in self.runs.iter_mut().skip(first) {
            if let Some(number) = numbers.get(&key(run)) {
                run.dispatch = *number;
            }
        }
        self.renumbered += numbers.len();
    }

    /// Numbers the kernels by appearance, unless each has its own id: the ids of several passes may differ.
    fn number_kernels(&mut self) {
        let ids: BTreeSet<i64> = self.kernels.iter().map(|kernel| kernel.id).collect();
        let has_ids = ids.len() == self.kernels.len() && ids.first().is_none_or(|least| *least >= 0);
        if has_ids {
            return;
        }
        let mut by_name: BTreeMap<Option<String>, usize> = BTreeMap::new();
        let mut kept: Vec<Kernel> = Vec::new();
        let places: Vec<usize> = std::mem::take(&mut self.kernels)
            .into_iter()
            .map(|kernel| {
                *by_name.entry(kernel.name.clone()).or_insert_with(|| {
                    kept.push(Kernel { id: kept.len() as i64 + 1, ..kernel });
                    kept.len() - 1
                })
            })
            .collect();
        self.kernels = kept;
        for run in &mut self.runs {
            run.kernel = places.get(run.kernel).copied().unwrap_or_default();
        }
    }
}

/// The databases among the files.
pub fn databases(survey: &Survey) -> impl Iterator<Item = &PassDatabase> {
    survey.files.iter().filter_map(|surveyed| match &surveyed.file {
        CounterFile::Database(database) => Some(&**database),
        _ => None,
    })
}

impl Surveyed {
    /// Position of the run of a row in [`Survey::runs`], if it is the `ordinal`th of the file.
    pub fn run_of(&self, row: &UnderstoodRow<'_>, ordinal: usize) -> Option<usize> {
        match self.header.layout {
            Some(Layout::Wide) => Some(self.first.saturating_add(ordinal)),
            _ => self.runs.get(&run_key(row)).copied(),
        }
    }
}

fn run_key(row: &UnderstoodRow<'_>) -> RunKey {
    (row.number(Col::Process), row.dispatch, row.number(Col::Gpu), row.number(Col::Start), row.number(Col::End))
}

fn run(row: &UnderstoodRow<'_>, kernel: usize) -> Run {
    Run {
        dispatch: row.dispatch,
        pid: row.number(Col::Process),
        gpu: row.number(Col::Gpu),
        kernel,
        sizes: [Col::Grid, Col::Workgroup, Col::Lds, Col::Scratch].map(|column| row.number(column)),
        start_ns: row.number(Col::Start),
        end_ns: row.number(Col::End),
        pass: 0,
    }
}

/// A demangled name without the suffix of the kernel descriptor.
fn without_clone(name: &str) -> &str {
    name.strip_suffix(" [clone .kd]").unwrap_or(name)
}
