//! Puts a dataset together: parts, manifest, and the files beside them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rayon::prelude::*;

pub(crate) use super::companions::companions;
use super::groups::{Group, Origin};
use super::pack::{PACK_BYTES, pack};
use crate::export::convert::selection;
use crate::export::convert_process::kept_tables;
use crate::export::parquet::file::ROW_GROUP_ROWS;
use crate::input::{
    DATASET_FORMAT, LAYOUT_VERSION, ListedProcess, MANIFEST, Manifest, PROCESSES, SharedFiles, StoredFile,
    StoredProcess, StoredTable, part_path,
};
use crate::schema::Table;
use crate::trace::Trace;

/// Where the rows of a process are now.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// In files of its own below the folder of processes that were just written.
    Own,
    /// In the earlier dataset, at this place among its processes.
    Kept(usize),
}

/// A process that the dataset will hold.
#[derive(Clone, Copy)]
pub(crate) struct Kept<'a> {
    pub stored: &'a StoredProcess,
    pub place: Place,
}

/// How a dataset is laid out.
pub(crate) struct Layout<'a> {
    /// Folder of the processes that were just written.
    pub processes: &'a Path,
    /// The dataset whose rows are reused.
    pub earlier: Option<&'a SharedFiles>,
    /// Bytes of a part.
    pub pack_bytes: u64,
}

/// Writes the parts of all tables below `directory`: every table that a process has, with or without rows.
///
/// # Errors
/// When a row group cannot be read, or a file cannot be written.
pub(crate) fn write(
    directory: &Path,
    layout: &Layout<'_>,
    tables: &[&'static Table],
    processes: &[Kept<'_>],
) -> Result<BTreeMap<String, StoredTable>> {
    let write = |table: &&'static Table| -> Result<(String, StoredTable)> {
        let rows = processes.iter().map(|kept| kept.stored.rows.get(table.name).copied().unwrap_or(0)).collect();
        let parts = pack(directory, table, &groups(layout, table, processes)?, layout.pack_bytes)?;
        Ok((table.name.to_owned(), StoredTable { rows, parts }))
    };
    tables.par_iter().map(write).collect()
}

fn groups<'a>(layout: &Layout<'a>, table: &'static Table, processes: &[Kept<'_>]) -> Result<Vec<Group<'a>>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for kept in processes.iter().filter(|kept| kept.stored.rows.get(table.name).is_some_and(|rows| *rows > 0)) {
        match kept.place {
            Place::Own => {
                let path = part_path(table.name, kept.stored.rank, kept.stored.process);
                groups.extend(Group::of(Origin::of_process(&layout.processes.join(path))?, None));
            }
            Place::Kept(place) => {
                for (part, numbers) in layout.earlier.into_iter().flat_map(|files| files.groups_of(table, place)) {
                    groups.extend(Group::of(Origin::of_part(part)?, Some(numbers)));
                }
            }
        }
    }
    Ok(groups)
}

/// The manifest and the file with the facts about processes, by their paths below the dataset; `companions` are the other files
/// beside the tables.
///
/// # Errors
/// When the facts cannot be compressed.
pub(crate) fn manifest(
    trace: &Trace,
    pack_bytes: u64,
    tables: BTreeMap<String, StoredTable>,
    processes: &[StoredProcess],
    companions: &[(PathBuf, Vec<u8>)],
) -> Result<[(PathBuf, Vec<u8>); 2]> {
    let (facts, facts_hash) = Manifest::facts_of(processes)?;
    let listed = processes.iter().map(|stored| ListedProcess {
        process: stored.process,
        rank: stored.rank,
        role: stored.role,
        pass: stored.pass,
    });
    let manifest = Manifest {
        format: DATASET_FORMAT.to_owned(),
        layout_version: LAYOUT_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        categories_hash: trace.categories().hash(),
        damage: trace.damage(),
        selection: selection(trace),
        row_group_rows: ROW_GROUP_ROWS as u64,
        pack_bytes,
        facts: facts_hash,
        companions: companions
            .iter()
            .map(|(path, content)| (path.display().to_string(), StoredFile::of(content)))
            .collect(),
        sum: String::new(),
        tables,
        processes: listed.collect(),
    };
    Ok([(PathBuf::from(PROCESSES), facts), (PathBuf::from(MANIFEST), manifest.text()?.into_bytes())])
}

/// Writes files below a directory.
///
/// # Errors
/// When one cannot be written.
pub(crate) fn write_files(directory: &Path, files: &[(PathBuf, Vec<u8>)]) -> Result<()> {
    for (path, content) in files {
        let path = directory.join(path);
        let folder = path.parent().unwrap_or(directory);
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Writes a dataset of processes whose tables were just written below `processes`.
///
/// # Errors
/// When a file cannot be written.
pub fn write_dataset(trace: &Trace, processes: &Path, directory: &Path, stored: &[StoredProcess]) -> Result<()> {
    let kept: Vec<Kept<'_>> = stored.iter().map(|stored| Kept { stored, place: Place::Own }).collect();
    let layout = Layout { processes, earlier: None, pack_bytes: PACK_BYTES };
    let tables = write(directory, &layout, &kept_tables(&[]).collect::<Vec<_>>(), &kept)?;
    let companions = companions(&tables)?;
    write_files(directory, &companions)?;
    write_files(directory, &manifest(trace, PACK_BYTES, tables, stored, &companions)?)
}
