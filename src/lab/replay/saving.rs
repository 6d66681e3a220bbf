//! Memory after a dispatch, kept as regions of a capture are.

use std::path::Path;

use anyhow::{Context, Result};

use super::runtime::Memory;
use crate::export::atomic::write_directory;
use crate::lab::captures::{
    BlobOptions, Encoding, FORMAT_VERSION, MEMORY, METADATA, Metadata, REGIONS, Region, Regions, write_blob, write_json,
};

/// What marks it.
const FORMAT: &str = "wavesieve-memory";

/// Writes all regions into a new directory, whole or not at all.
pub(super) fn save(directory: &Path, memory: &Memory<'_>, regions: &[Region], threads: usize) -> Result<()> {
    write_directory(directory, |directory| {
        std::fs::create_dir(directory.join(MEMORY)).with_context(|| format!("cannot write {}", directory.display()))?;
        let mut saved = Regions::default();
        for (number, region) in regions.iter().enumerate() {
            let options = BlobOptions { encoding: Encoding::Plain, threads };
            let read =
                |offset: u64, target: &mut [u8]| memory.read(number, offset, target).map_err(|error| error.to_string());
            let blob = write_blob(directory, region.base, region.size, options, &read)?;
            saved.regions.push(Region { blob: Some(blob), error: None, ..region.clone() });
        }
        write_json(&directory.join(REGIONS), &saved)?;
        let metadata = Metadata {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            captured_by: concat!("wavesieve ", env!("CARGO_PKG_VERSION")).to_owned(),
            ..Metadata::default()
        };
        write_json(&directory.join(METADATA), &metadata)?;
        Ok(())
    })
}
