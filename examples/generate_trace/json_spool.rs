//! Keeps the records of each section aside until the section's turn in the file comes, on disk, so that memory stays small.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;

/// One nameless temporary file per section that has records.
#[derive(Debug)]
pub struct Spools {
    directory: PathBuf,
    sections: BTreeMap<&'static str, BufWriter<File>>,
}

impl Spools {
    /// Without records. The files will lie in `directory`, which has room for the result and so for them.
    pub fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), sections: BTreeMap::new() }
    }

    /// Adds a record to a section.
    pub fn push(&mut self, section: &'static str, record: &impl Serialize) -> Result<()> {
        let spool = match self.sections.entry(section) {
            std::collections::btree_map::Entry::Occupied(entry) => {
                let spool = entry.into_mut();
                spool.write_all(b",")?;
                spool
            }
            std::collections::btree_map::Entry::Vacant(entry) => {
                let file = tempfile::tempfile_in(&self.directory)
                    .with_context(|| format!("no temporary file in {}", self.directory.display()))?;
                entry.insert(BufWriter::with_capacity(1 << 16, file))
            }
        };
        serde_json::to_writer(spool, record).with_context(|| format!("section {section}"))
    }

    /// Copies the records of a section, separated by commas, and forgets them.
    pub fn drain(&mut self, section: &str, output: &mut impl Write) -> Result<()> {
        if let Some(spool) = self.sections.remove(section) {
            let mut file = spool.into_inner().with_context(|| format!("section {section}"))?;
            file.seek(SeekFrom::Start(0))?;
            io::copy(&mut file, output)?;
        }
        Ok(())
    }

    /// Sections that were not taken yet.
    pub fn remaining(&self) -> Vec<&'static str> {
        self.sections.keys().copied().collect()
    }
}
