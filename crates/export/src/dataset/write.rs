//! Puts a dataset together: parts, manifest, and the files next to them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use rayon::prelude::*;

pub use super::companions::companions;
use super::groups::{Group, Origin};
use super::pack::{PACK_BYTES, Packer};
use crate::convert::selection;
use crate::convert_process::kept_tables;
use crate::parquet::file::ROW_GROUP_ROWS;
use wavesieve_input::{
    DATASET_FORMAT, FilePart, LAYOUT_VERSION, ListedProcess, MANIFEST, Manifest, PROCESSES, SharedFiles, StoredFile,
    StoredProcess, StoredTable, part_path,
};
use wavesieve_model::schema::Table;
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_tables::trace::Trace;

/// Place of the rows of a process.
#[derive(Clone, Copy)]
pub enum RowsPlace {
    /// In files of its own below the folder of processes that were just written.
    Own,
    /// In one of the earlier datasets, at this place among its processes. Tables that the dataset does not list are in
    /// files of the process.
    Kept { dataset: usize, place: usize },
}

/// A process that the dataset will hold.
#[derive(Clone, Copy)]
pub struct Kept<'a> {
    pub stored: &'a StoredProcess,
    pub place: RowsPlace,
}

/// How a dataset is laid out.
pub struct Layout<'a> {
    /// Folder of the processes that were just written.
    pub processes: &'a Path,
    /// The datasets whose rows are reused.
    pub earlier: Vec<&'a SharedFiles>,
    /// Bytes of a part.
    pub pack_bytes: u64,
}

/// Writes the parts of all tables below `directory`: every table that a process has, with or without rows.
///
/// # Errors
/// When a row group cannot be read, or a file cannot be written.
pub fn write(
    directory: &Path,
    layout: &Layout<'_>,
    tables: &[&'static Table],
    processes: &[Kept<'_>],
) -> Result<BTreeMap<String, StoredTable>> {
    let write = |table: &&'static Table| -> Result<(String, StoredTable)> {
        let rows = processes.iter().map(|kept| kept.stored.rows.get(table.name).copied().unwrap_or(0)).collect();
        let mut packer = Packer::new(directory, table, layout.pack_bytes);
        let mut origins = Origins { layout, table, last: vec![None; layout.earlier.len()] };
        for kept in processes.iter().filter(|kept| kept.stored.rows.get(table.name).is_some_and(|rows| *rows > 0)) {
            origins.groups(kept)?.into_iter().try_for_each(|group| packer.push(group))?;
        }
        Ok((table.name.to_owned(), StoredTable { rows, parts: packer.finish()? }))
    };
    tables.par_iter().map(write).collect()
}

/// The part of a dataset that was used last.
type LastPart<'a> = Option<(&'a FilePart, Arc<Origin<'a>>)>;

/// Origins of the row groups of a table. One part of each earlier dataset is open, as processes that share a part
/// follow one another.
struct Origins<'l, 'a> {
    layout: &'l Layout<'a>,
    table: &'static Table,
    last: Vec<LastPart<'a>>,
}

impl<'a> Origins<'_, 'a> {
    /// The row groups of a process.
    fn groups(&mut self, kept: &Kept<'_>) -> Result<Vec<Group<'a>>> {
        let (dataset, place) = match kept.place {
            RowsPlace::Kept { dataset, place } => (dataset, place),
            RowsPlace::Own => return self.own(kept),
        };
        let files = self.layout.earlier.get(dataset).copied().context("internal: no such dataset")?;
        if !files.lists(self.table) {
            return self.own(kept);
        }
        let mut groups = Vec::new();
        for (part, numbers) in files.groups_of(self.table, place) {
            groups.extend(Group::of(self.origin(dataset, part)?, Some(numbers)));
        }
        Ok(groups)
    }

    fn own(&self, kept: &Kept<'_>) -> Result<Vec<Group<'a>>> {
        let path = part_path(self.table.name, kept.stored.rank, kept.stored.process);
        let origin = Origin::of_process(&self.layout.processes.join(path))?;
        Ok(Group::of(Arc::new(origin), None).collect())
    }

    fn origin(&mut self, dataset: usize, part: &'a FilePart) -> Result<Arc<Origin<'a>>> {
        let last = self.last.get_mut(dataset).context("internal: no such dataset")?;
        match last {
            Some((other, origin)) if std::ptr::eq(*other, part) => Ok(Arc::clone(origin)),
            _ => Ok(Arc::clone(&last.insert((part, Arc::new(Origin::of_part(part)?))).1)),
        }
    }
}

/// Facts in the manifest about the conversion as a whole.
pub struct About {
    /// Hash of the category rules.
    pub categories_hash: String,
    /// The effective filters, as options.
    pub selection: Vec<String>,
    /// Data that could not be read.
    pub damage: Vec<Damage>,
}

impl About {
    /// Facts about the conversion of a trace, with the damage found while reading it.
    pub fn trace(trace: &Trace) -> Self {
        let categories_hash = trace.categories().hash();
        Self { categories_hash, selection: selection(trace.choice()), damage: trace.damage() }
    }
}

/// The manifest and the file with the facts about processes, by their paths below the dataset; `companions` are the other files
/// next to the tables.
///
/// # Errors
/// When the facts cannot be compressed.
pub fn manifest(
    about: About,
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
        categories_hash: about.categories_hash,
        damage: about.damage,
        selection: about.selection,
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
pub fn write_files(directory: &Path, files: &[(PathBuf, Vec<u8>)]) -> Result<()> {
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
    let kept: Vec<Kept<'_>> = stored.iter().map(|stored| Kept { stored, place: RowsPlace::Own }).collect();
    let layout = Layout { processes, earlier: Vec::new(), pack_bytes: PACK_BYTES };
    let tables = write(directory, &layout, &kept_tables(&[]).collect::<Vec<_>>(), &kept)?;
    let companions = companions(&tables)?;
    write_files(directory, &companions)?;
    write_files(directory, &manifest(About::trace(trace), PACK_BYTES, tables, stored, &companions)?)
}
