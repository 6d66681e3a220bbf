//! A workload of an analysis database as a source of canonical tables.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result};

use super::catalog::{Catalog, Workload};
use super::census::{Named, named, owners};
use super::container::Container;
use super::notes::notes;
use super::owner::Owner;
use super::reading::{Capture, Reading};
use super::version::Version;
use super::{dispatches, recorded};
use crate::common::sqlite::{DatabaseFile, Reader, Store, open};
use crate::common::{assembled, counted, hash_of_heads, kept};
use crate::recognition::format::{Opened, ProcessInput};
use crate::rocprof_compute::{self, System};
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_model::schema::facts::ProcessFacts;
use wavesieve_model::schema::{Column, Table};
use wavesieve_tables::trace::source::{ProcessReader, ReadContext, RowCount, Rows};

struct WorkloadSource {
    capture: Arc<Capture>,
    owner: Owner,
    workload: Workload,
    /// Path as given or found.
    shown: String,
    content: OnceLock<Vec<Damage>>,
}

/// The processes of an analysis database: one for every workload.
pub fn find(file: &Arc<DatabaseFile>, version: &Version, shown: &str, source: &str, reader: Reader) -> Result<Opened> {
    let store = Store::checked(file.path(), reader)?;
    let connection = open(file.path())?;
    let container = Container::read(&connection).with_context(|| format!("cannot read the tables of {shown}"))?;
    let catalog = Catalog::read(&store, &container)?;
    let owners = owners(&catalog);
    let named = named(&store, &container, &owners)?;
    let capture = Arc::new(Capture { file: Arc::clone(file), store, container, catalog });
    let notes = notes(&capture, version, shown);
    let mut damage: Vec<Damage> = file.damage(shown);
    damage.extend(capture.damage_of_tables(false, shown));
    let content_hash = hash_of_heads([file.path()]);
    let mut processes = Vec::new();
    for ((workload, owner), named) in capture.catalog.workloads.iter().zip(owners).zip(named) {
        let system =
            workload.system.as_deref().filter(|text| !matches!(text.trim(), "" | "null")).map(System::from_json);
        let system = system.unwrap_or_else(|| Ok(System::default())).unwrap_or_else(|cause| {
            let cause = format!("sys_info_extdata of workload {}: {cause}", workload.id);
            damage.push(Damage { path: shown.to_owned(), part: "agents".to_owned(), cause });
            System::default()
        });
        let facts = ProcessFacts {
            // The number sorts the processes of a file in the order of workloads.
            content_hash: format!("{content_hash}:{:016x}", workload.id.cast_unsigned() ^ (1 << 63)),
            path: shown.to_owned(),
            source: source_name(source, workload),
            schema_version: version.schema.clone(),
            stored_rank: stored_rank(version, workload),
            ..facts(&system, &named)
        };
        let (capture, workload, shown) = (Arc::clone(&capture), workload.clone(), shown.to_owned());
        let source = WorkloadSource { capture, owner, workload, shown, content: OnceLock::new() };
        processes.push(ProcessInput { facts, source: Arc::new(source) });
    }
    Ok(Opened { processes, notes, damage })
}

/// Process facts from the machine description and the rows of a workload.
fn facts(system: &System, named: &Named) -> ProcessFacts {
    let hostname = system.text("hostname");
    let mut agents: Vec<_> = named.gpus.iter().map(|gpu| system.gpu(*gpu)).collect();
    if agents.is_empty() {
        agents.push(system.gpu(0));
    }
    ProcessFacts {
        machine_key: hostname.clone().unwrap_or_default(),
        hostname,
        // Several processes of a workload are one here.
        pid: named.pids.first().copied().filter(|_| named.pids.len() == 1).unwrap_or(-1),
        command: system.text("command"),
        format: super::FORMAT.to_owned(),
        agents,
        ..ProcessFacts::default()
    }
}

/// The file with the folders that were analyzed.
fn source_name(source: &str, workload: &Workload) -> String {
    let names: Vec<&str> =
        workload.names.iter().flatten().map(String::as_str).filter(|name| !name.is_empty()).collect();
    if names.is_empty() { source.to_owned() } else { format!("{source}: {}", names.join("/")) }
}

/// The rank that `convert` wrote.
fn stored_rank(version: &Version, workload: &Workload) -> Option<i64> {
    let [_, sub_name] = &workload.names;
    let rank = sub_name.as_deref().filter(|_| version.is_own())?.strip_prefix("rank ")?;
    rank.parse().ok().filter(|rank| *rank >= 0)
}

/// Whether an analysis is of another input, with the same host and command: of a workload in the same folder, or of a capture that
/// `convert` names.
pub fn is_same_run(analysis: &ProcessFacts, other: &ProcessFacts) -> bool {
    let Some((_, names)) = analysis.source.split_once(": ") else { return false };
    if analysis.hostname != other.hostname || analysis.command != other.command {
        return false;
    }
    if names.strip_prefix(other.source.as_str()).is_some_and(|rank| rank.starts_with("/rank ")) {
        return true;
    }
    let is_workload = other.format == rocprof_compute::FORMAT && analysis.hostname.is_some();
    is_workload && analysis.command.is_some() && folder_of(&other.path).is_some_and(|folder| folder == names)
}

/// The last two parts of the folder of a file, with which rocprofiler-compute names workloads.
fn folder_of(path: &str) -> Option<String> {
    let path = Path::new(path).canonicalize().ok()?;
    let folder = if path.is_dir() { path.as_path() } else { path.parent()? };
    let names = [folder.parent()?.file_name()?, folder.file_name()?];
    Some(names.map(|name| name.to_string_lossy().into_owned()).join("/"))
}

impl ProcessReader for WorkloadSource {
    fn read(&self, context: &ReadContext<'_>, table: &'static Table, columns: &[&'static Column]) -> Result<Rows> {
        assembled(context, table, columns, |builder| {
            let mut reading = Reading::new(&self.capture, &self.owner, &self.workload, builder);
            match table.name {
                "kernels" => dispatches::read_kernels(&mut reading)?,
                "kernel_symbols" => dispatches::read_symbols(&mut reading)?,
                "code_objects" => dispatches::read_code_objects(&mut reading)?,
                "recorded_metrics" => recorded::read(&mut reading)?,
                // Tables that an analysis cannot fill.
                _ => return Ok(None),
            }
            reading.finish().map(Some)
        })
    }

    fn count_rows(&self, context: &ReadContext<'_>, table: &'static Table) -> Result<RowCount> {
        counted(self, context, table, || Ok(None))
    }

    fn damage_of_content(&self) -> &[Damage] {
        // All workloads of a file have the same tables.
        if !self.owner.is_main {
            return &[];
        }
        kept(&self.content, || Ok(self.capture.damage_of_tables(true, &self.shown))).map_or(&[], Vec::as_slice)
    }

    fn damage(&self) -> Vec<Damage> {
        self.content.get().cloned().unwrap_or_default()
    }
}
