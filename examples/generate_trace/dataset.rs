//! Writes the records straight as a wavesieve dataset, without a database between.
//!
//! The content is what `convert` makes of the rocpd databases of the same arguments. What describes a process is written
//! as a database without activities and read back, so that there is one definition of it; activities go from the
//! workload into columns, and these through the writer of `convert`. What cannot be the same: the manifest has the path of
//! a database below the output directory, whether it exists or not. Counters are not written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use rayon::prelude::*;
use wavesieve::export::convert::{Observer, TableFormat, write_dataset};
use wavesieve::input::{LoadOptions, MANIFEST, Manifest, StoredProcess, load};
use wavesieve::trace::categories::Categories;
use wavesieve::trace::schema::Table;
use wavesieve::trace::{Member, Trace};

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
    let parts: Vec<(PathBuf, StoredProcess, u64)> = described
        .members()
        .par_iter()
        .map(|member| {
            let guid = member.process.facts.guid.as_deref().unwrap_or_default();
            let setup = by_guid.get(guid).with_context(|| format!("no process has the guid {guid}"))?;
            let directory = scratch.path().join(format!("part-{}", member.process.process));
            write_process(arguments, setup, member, &described, &directory)
        })
        .collect::<Result<_>>()?;

    let whole = scratch.path().join(DIRECTORY);
    fs::create_dir(&whole)?;
    let mut processes = Vec::with_capacity(parts.len());
    let mut rows = 0;
    for (directory, process, written) in parts {
        fs::remove_file(directory.join(MANIFEST))?;
        move_files(&directory, &whole)?;
        processes.push(process);
        rows += written;
    }
    let manifest = Manifest::new(described.categories(), Vec::new(), Vec::new(), processes);
    fs::write(whole.join(MANIFEST), serde_json::to_string_pretty(&manifest)? + "\n")?;
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
    let options = LoadOptions { rank_from: None, categories: Categories::builtin(), threads: 1 };
    Ok(load(&[directory.to_string_lossy().into_owned()], options)?)
}

/// Runs a process and writes what it did; returns the directory, what the manifest says of it, and the rows.
fn write_process(
    arguments: &Arguments,
    setup: &Setup,
    described: &Member,
    trace: &Trace,
    directory: &Path,
) -> Result<(PathBuf, StoredProcess, u64)> {
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
    let member = Member { process, source: Arc::new(source) };
    let own = Trace::new(vec![member], Categories::builtin(), 1, trace.notes().to_vec());
    fs::create_dir(directory)?;
    let written = write_dataset(&own, directory, TableFormat::Parquet, &Silent)?;
    let manifest: Manifest = serde_json::from_str(&fs::read_to_string(directory.join(MANIFEST))?)?;
    let Some(stored) = manifest.processes.into_iter().next() else { bail!("a manifest without its process") };
    Ok((directory.to_owned(), stored, written.rows))
}

/// Moves all files below a directory into another one of the same layout.
fn move_files(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir_all(&target)?;
            move_files(&entry.path(), &target)?;
        } else {
            fs::rename(entry.path(), target)?;
        }
    }
    Ok(())
}

struct Silent;

impl Observer for Silent {
    fn written(&self, _member: &Member, _table: &'static Table, _rows: usize) {}
}
