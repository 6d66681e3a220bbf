//! Sums in the cache that the user named.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use wavesieve_export::atomic::{make_directory, write_file};
use wavesieve_files::regular::{LARGE_BYTES, read_text};
use wavesieve_input::Cache;
use wavesieve_tables::trace::Trace;

use super::build::{Stage, Sums};

/// Version of the stored form.
const VERSION: u32 = 4;

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    sums: Sums,
}

/// The place of the sums of a trace in a cache.
#[derive(Clone, Debug)]
pub struct Kept {
    place: PathBuf,
}

impl Kept {
    /// The place for all rows of a trace with these offsets of its processes; `None` if some are filtered out, or if its
    /// files cannot be identified.
    pub fn new(directory: &Path, trace: &Trace, offsets_ns: &[i64]) -> Option<Self> {
        if !trace.resolved().is_empty() || !trace.damage().is_empty() {
            return None;
        }
        let mut files: Vec<PathBuf> = trace.members().iter().flat_map(|member| member.files.iter().cloned()).collect();
        files.sort();
        files.dedup();
        let ranks = trace.members().iter().map(|member| member.process.rank);
        let axes: Vec<(i64, i64)> = ranks.zip(offsets_ns.iter().copied()).collect();
        let shown = format!("view {axes:?} {:?} {:?}", trace.choice().command_line(), trace.inputs());
        let place = Cache::new(directory).place(&shown, &files, trace.categories()).ok()?;
        Some(Self { place: place.with_extension("view.json") })
    }

    /// Stored sums, if they are there and complete.
    pub fn read(&self) -> Option<Sums> {
        let stored: Stored = serde_json::from_str(&read_text(&self.place, LARGE_BYTES).ok()?).ok()?;
        (stored.version == VERSION && stored.sums.stage == Stage::Causes).then_some(stored.sums)
    }

    /// Stores sums.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, sums: &Sums) -> Result<()> {
        let directory = self.place.parent().context("internal: a place without a directory")?;
        let made = make_directory(directory)?;
        let text = serde_json::to_vec(&Stored { version: VERSION, sums: sums.clone() })?;
        write_file(&self.place, |out| Ok(out.write_all(&text)?))?;
        drop(made);
        fs::metadata(&self.place).context("internal: a file was not written").map(drop)
    }
}
