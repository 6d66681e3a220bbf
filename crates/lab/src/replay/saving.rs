//! Saves the memory after a dispatch in the format of captured regions.

use std::path::Path;

use anyhow::{Context, Result};

use super::compare::FoundVariable;
use super::runtime::Memory;
use wavesieve_captures::captures::{
    BlobOptions, Encoding, FORMAT_VERSION, Hash, MEMORY, METADATA, Metadata, REGIONS, Region, Regions, VARIABLES,
    Variable, Variables, variable_file, write_blob, write_file, write_json,
};
use wavesieve_export::atomic::write_directory;

/// Marks saved memory.
const FORMAT: &str = "wavesieve-memory";

/// Writes all regions and variables into a new directory, completely or not at all.
pub(super) fn save(
    directory: &Path,
    memory: &Memory<'_>,
    regions: &[Region],
    variables: &[FoundVariable],
    threads: usize,
) -> Result<()> {
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
        write_variables(directory, variables)?;
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

fn write_variables(directory: &Path, found: &[FoundVariable]) -> Result<()> {
    let mut variables = Vec::new();
    for (number, variable) in found.iter().enumerate() {
        let blob = variable_file(&variable.executable_sha256, number, &variable.name);
        let path = directory.join(&blob);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).with_context(|| format!("cannot write {}", parent.display()))?;
        }
        write_file(&path, &variable.bytes)?;
        variables.push(Variable {
            executable_sha256: variable.executable_sha256.clone(),
            name: variable.name.clone(),
            size: variable.bytes.len() as u64,
            blob,
            xxh3: Some(Hash::from_bytes(&variable.bytes)),
            address: variable.address,
        });
    }
    Ok(write_json(&directory.join(VARIABLES), &Variables { variables })?)
}
