//! Writes the records straight as a wavesieve dataset, without a database between.
//!
//! The content is what `convert` makes of the rocpd databases of the same arguments. What describes a process is written
//! as a database without activities and read back, so that there is one definition of it; activities go from the
//! workload into columns, and these through the writer of `convert`. What cannot be the same: the manifest has the path of
//! a database below the output directory, whether it exists or not. Counters are not written.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use wavesieve::internal::columns::Request;
use wavesieve::internal::convert::{Observer, StoredProcess, TableFormat, Written, write_dataset, write_process};
use wavesieve::internal::schema::Table;
use wavesieve::internal::trace::{Categories, Jobs, LoadOptions, Reader, Trace, TraceProcess, load};

use crate::arguments::{Arguments, Flavour};
use crate::model::Setup;
use crate::platform::{self, Pass};
use crate::recorded::Recorded;
use crate::recorder::Recorder;
use crate::rocpd::RocpdFile;
use crate::workload::Workload;

/// Name of the dataset in the output directory.
const DIRECTORY: &str = "dataset";

/// Writes all ranks, as many at a time as there are cores; returns the rows of all tables.
pub fn write(arguments: &Arguments) -> Result<u64> {
    let target = arguments.output.join(DIRECTORY);
    ensure!(!target.exists(), "{} exists; remove it or name another directory", target.display());
    fs::create_dir_all(&arguments.output).with_context(|| format!("cannot create {}", arguments.output.display()))?;
    let scratch = tempfile::Builder::new().prefix(".generating-").tempdir_in(&arguments.output)?;
    let setups: Vec<Setup> = (0..arguments.ranks).map(|rank| platform::setup(arguments, rank, Pass::Main)).collect();
    let described = describe(arguments, &setups, &scratch.path().join("described"))?;
    let by_guid: BTreeMap<&str, &Setup> = setups.iter().map(|setup| (setup.process.guid.as_str(), setup)).collect();
    let (own, whole) = (scratch.path().join("processes"), scratch.path().join(DIRECTORY));
    fs::create_dir(&own)?;
    fs::create_dir(&whole)?;
    let write = |member: &TraceProcess| {
        let guid = member.process.facts.guid.as_deref().unwrap_or_default();
        let setup = by_guid.get(guid).with_context(|| format!("no process has the guid {guid}"))?;
        write_one(arguments, setup, member, &described, &own)
    };
    // Not in a shared pool: what writes a process works in parallel itself, and a worker that waits would begin another
    // process on the same stack.
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let jobs = Jobs { count: cores, ..Jobs::default() };
    let parts: Vec<(StoredProcess, Written)> = jobs.run(described.members(), |_| 0, write)?;
    let rows = parts.iter().map(|(_, written)| written.rows).sum();
    let processes: Vec<StoredProcess> = parts.into_iter().map(|(process, _)| process).collect();
    write_dataset(&described, &own, &whole, &processes)?;
    fs::rename(&whole, &target).with_context(|| format!("cannot create {}", target.display()))?;
    Ok(rows)
}

/// The trace of databases in which nothing has happened yet, named as those of the same arguments.
fn describe(arguments: &Arguments, setups: &[Setup], directory: &Path) -> Result<Trace> {
    let create = |path: PathBuf| RocpdFile::create(&path, arguments.page_size);
    if arguments.flavour == Flavour::Merged {
        let mut file = create(directory.join("merged.db"))?;
        for setup in setups {
            file.add_process(setup)?.finish(0)?;
        }
        file.close(false)?;
    } else {
        for setup in setups {
            let name = format!("{}_results.db", setup.process.pid);
            let mut file = create(directory.join(&setup.node.hostname).join(name))?;
            file.add_process(setup)?.finish(0)?;
            file.close(false)?;
        }
    }
    let options = LoadOptions {
        rank_from: None,
        categories: Categories::builtin(),
        threads: 1,
        ahead: Request::new(),
        reader: Reader::default(),
        ignores_process_times: false,
        jobs: Jobs::default(),
        cache: None,
        exclude: None,
        observer: None,
    };
    Ok(load(&[directory.to_string_lossy().into_owned()], options)?)
}

/// Runs a process and writes what it did; returns what the manifest says of it.
fn write_one(
    arguments: &Arguments,
    setup: &Setup,
    described: &TraceProcess,
    trace: &Trace,
    directory: &Path,
) -> Result<(StoredProcess, Written)> {
    let mut recorder = Recorder::default();
    let end_ns = Workload::new(arguments, setup, Pass::Main).run(&mut recorder)?;
    let mut process = described.process.clone();
    process.facts.end_ns = Some(i64::try_from(end_ns)?);
    let path = if arguments.flavour == Flavour::Merged {
        arguments.output.join(&process.facts.source)
    } else {
        arguments.output.join(&setup.node.hostname).join(&process.facts.source)
    };
    process.facts.path = path.to_string_lossy().into_owned();
    let source = Recorded::new(described.source.clone(), setup, recorder);
    let member = TraceProcess { process, source: Arc::new(source), files: Arc::from([]), memory_bytes: 0 };
    let own = Trace::new(vec![member], Categories::builtin(), 1, Jobs::default(), trace.notes().to_vec());
    let Some(member) = own.members().first() else { bail!("a trace without its process") };
    write_process(&own, member, directory, TableFormat::Parquet, &[], &Silent)
}

struct Silent;

impl Observer for Silent {
    fn written(&self, _member: &TraceProcess, _table: &'static Table, _rows: usize) {}

    fn reused(&self, _member: &TraceProcess) {}
}
