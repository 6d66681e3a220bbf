//! Notes about a dataset as a whole: whether it holds only a part of a trace, and files in its folder that do not belong to it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::manifest::{AnyManifest, NUMBERS_FILE, PROCESSES, SCHEMAS, part_name};
use super::own_files::part_path;
use super::stored::StoredProcess;
use crate::recognition::discover::is_unfinished;
use crate::recognition::naming::{is_archive, promise};
use wavesieve_model::schema::anomaly::{Anomaly, Severity};

/// Notes about a dataset that are known before its rows are read.
pub fn notes(directory: &Path, shown: &str, selection: &[String], listed: &BTreeSet<PathBuf>) -> Vec<Anomaly> {
    let selection = Some(selection).filter(|selection| !selection.is_empty()).map(|selection| {
        let detail = format!("the dataset is filtered by {} and not the whole trace", selection.join(" "));
        Anomaly::of_file("selected_dataset", Severity::Warning, 1, shown, detail)
    });
    let foreign = foreign_files(directory, listed).into_iter().map(|path| {
        let detail = "not in the manifest of its dataset, so it is ignored; move it elsewhere";
        Anomaly::of_file("unlisted_file", Severity::Warning, 1, &path.display().to_string(), detail)
    });
    selection.into_iter().chain(foreign).collect()
}

/// The files with rows that the manifest lists, and the files that every dataset has.
pub(crate) fn listed_parts(directory: &Path, manifest: &AnyManifest) -> BTreeSet<PathBuf> {
    match manifest {
        AnyManifest::OwnFiles(manifest) => {
            let of = |process: &StoredProcess| {
                let part = |table: &String| directory.join(part_path(table, process.rank, process.process));
                process.rows.keys().map(part).collect::<Vec<_>>()
            };
            manifest.processes.iter().flat_map(of).collect()
        }
        AnyManifest::SharedFiles(manifest, _) => {
            let parts = manifest.tables.iter().flat_map(|(name, table)| {
                let folder = directory.join(name);
                (0..table.parts.len()).map(move |number| folder.join(part_name(number)))
            });
            let schema = |name: &String| directory.join(SCHEMAS).join(format!("{name}.parquet"));
            let schemas = manifest.tables.keys().map(schema);
            parts.chain(schemas).chain([NUMBERS_FILE, PROCESSES].map(|name| directory.join(name))).collect()
        }
    }
}

/// Unlisted files in the folder of a dataset that could be mistaken for its parts or for traces, sorted.
fn foreign_files(directory: &Path, listed: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut foreign = files_below(directory);
    foreign.retain(|path| !listed.contains(path) && is_of_traces(path));
    foreign.sort();
    foreign
}

/// Whether a file is named like data, and not like other files that programs keep next to data.
fn is_of_traces(path: &Path) -> bool {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    name.ends_with(".parquet") || promise(&name).is_some() || is_archive(&name)
}

/// All listable files below a folder; links are not followed. They are listed in parallel, because each table has a folder for each rank.
fn files_below(directory: &Path) -> Vec<PathBuf> {
    let entries: Vec<fs::DirEntry> = fs::read_dir(directory).into_iter().flatten().flatten().collect();
    let found = entries.into_par_iter().filter(|entry| !is_unfinished(&entry.file_name())).map(|entry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder { files_below(&entry.path()) } else { vec![entry.path()] }
    });
    found.flatten().collect()
}
