//! The files of a dataset, for other programs that read them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::manifest::{AnyManifest, Manifest, NUMBERS_FILE, SCHEMAS, StoredTable, part_name};
use super::stored::StoredProcess;
use wavesieve_model::schema;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// The Parquet files of a dataset by table, with the manifest and the processes of their rows.
pub struct TableFiles {
    /// The files by table; a table without rows has one empty file.
    pub files: BTreeMap<String, Vec<String>>,
    manifest: Box<Manifest>,
    processes: Vec<StoredProcess>,
}

impl TableFiles {
    /// The files of a dataset. They are named by `address` if the directory is the local copy of a dataset in a store. Derived tables whose
    /// files were deleted are left out.
    ///
    /// # Errors
    /// When its manifest cannot be read, or each process has its own files in its layout.
    pub fn of(directory: &Path, address: Option<&str>) -> Result<Self> {
        let directory = directory.canonicalize().with_context(|| format!("cannot find {}", directory.display()))?;
        let AnyManifest::SharedFiles(manifest, processes) = AnyManifest::read(&directory)? else {
            bail!("{} was written by an older version; convert the traces again with --with all", directory.display());
        };
        let named = |path: PathBuf| match address {
            Some(address) => Ok(format!("{address}/{}", text(path)?)),
            None => text(directory.join(path)),
        };
        let mut files = BTreeMap::from([("numbers".to_owned(), vec![named(NUMBERS_FILE.into())?])]);
        for (name, stored) in &manifest.tables {
            if schema::table(name).is_some() && is_there(&directory.join(name), stored) {
                let parts = (0..stored.parts.len()).map(|number| Path::new(name).join(part_name(number)));
                let empty = stored.parts.is_empty().then(|| Path::new(SCHEMAS).join(format!("{name}.parquet")));
                files.insert(name.clone(), parts.chain(empty).map(named).collect::<Result<_>>()?);
            }
        }
        Ok(Self { files, manifest, processes })
    }

    /// Number of processes with rows in the files.
    pub fn processes(&self) -> usize {
        self.processes.len()
    }

    /// The reason why the rows differ from a trace that was opened from the dataset; `None` if they are the same.
    pub fn difference(&self, trace: &Trace) -> Option<String> {
        if self.manifest.categories_hash != trace.categories().hash() {
            return Some("the dataset was written with other category rules; convert again".to_owned());
        }
        if let Some(damage) = trace.damage().iter().find(|damage| !self.manifest.damage.contains(damage)) {
            return Some(format!("{}: {}", damage.path, damage.cause));
        }
        let is_other = |member: &&TraceProcess| {
            let process = &member.process;
            let devices: BTreeMap<i64, i64> = process.gpus.values().map(|gpu| (gpu.gpu, gpu.device)).collect();
            !self.processes.iter().any(|stored| {
                stored.process == process.process
                    && stored.rank == process.rank
                    && stored.role == process.role
                    && stored.pass == process.pass
                    && stored.devices == devices
            })
        };
        let other = trace.members().iter().find(is_other)?;
        Some(format!("the dataset numbers rank {} differently; convert again", other.process.rank))
    }
}

fn text(path: PathBuf) -> Result<String> {
    let shown = path.display().to_string();
    path.into_os_string().into_string().ok().with_context(|| format!("{shown} is not text; rename the folder"))
}

/// Whether all parts of a table still have the size that was written.
fn is_there(folder: &Path, stored: &StoredTable) -> bool {
    stored.parts.iter().enumerate().all(|(number, part)| {
        fs::metadata(folder.join(part_name(number))).is_ok_and(|found| found.is_file() && found.len() == part.bytes)
    })
}
