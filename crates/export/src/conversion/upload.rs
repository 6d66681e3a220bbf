//! A dataset that is sent to a store after it was written to a temporary folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use walkdir::WalkDir;

use super::record::{CONVERSION, Conversion};
use super::refused::Refused;
use super::target::is_own;
use wavesieve_files::regular::{self, LARGE_BYTES};
use wavesieve_input::stores::{Address, Listed, ObjectPlace, StoreFailure};
use wavesieve_input::{MANIFEST, Manifest, part_name};

/// Files that are sent last, in this order: without a manifest, programs do not take the objects for a dataset.
const LAST: [&str; 2] = [CONVERSION, MANIFEST];

/// Place that a dataset is sent to, and its present content.
pub struct Destination {
    place: ObjectPlace,
    there: Vec<Listed>,
    manifest: Option<Manifest>,
    conversion: Option<Conversion>,
}

/// Counts of the files that were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Files of the dataset.
    pub files: usize,
    /// Files that were sent because the store did not have the same.
    pub sent: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Objects of an earlier dataset that were deleted.
    pub deleted: usize,
}

impl Destination {
    /// Reads the present content.
    ///
    /// # Errors
    /// [`Refused`] if it is anything but a dataset that may be replaced, or when the store fails.
    pub fn open(address: &Address, overwrite: bool) -> Result<Self> {
        let place = ObjectPlace::new(address)?;
        let there = place.list()?;
        let shown = || address.to_string();
        if let Some(foreign) = there.iter().find(|object| !is_own(Path::new(&object.name))) {
            return Err(Refused::Foreign(shown(), foreign.name.clone()).into());
        }
        let is_there = |name: &str| there.iter().any(|object| object.name == name);
        let manifest = if is_there(MANIFEST) { Some(place.get(MANIFEST)?) } else { None };
        let conversion = if is_there(CONVERSION) { Some(place.get(CONVERSION)?) } else { None };
        // A partly sent dataset has no manifest, and is replaced.
        if manifest.is_some() && conversion.is_none() && !overwrite {
            return Err(Refused::NoConversion(shown()).into());
        }
        let manifest = manifest.and_then(|text| serde_json::from_slice(&text).ok());
        let conversion = conversion.and_then(|text| serde_json::from_slice(&text).ok());
        Ok(Self { place, there, manifest, conversion })
    }

    /// Refuses to replace a dataset that was made of other inputs or in another way.
    ///
    /// # Errors
    /// [`Refused`] with the difference.
    pub fn refuse_other(&self, directory: &Path) -> Result<()> {
        let (Some(earlier), Some(now)) = (&self.conversion, Conversion::read(directory)) else { return Ok(()) };
        let shown = || self.place.shown().to_owned();
        if (earlier.key.format, &earlier.key.selection) != (now.key.format, &now.key.selection) {
            return Err(Refused::OtherKind(shown()).into());
        }
        let inputs: Vec<_> = now.processes.into_iter().map(|record| record.inputs).collect();
        if self.manifest.is_some() && !earlier.shares_input(&inputs) {
            return Err(Refused::OtherInputs(shown()).into());
        }
        Ok(())
    }

    /// Sends files that the store lacks or has differently, the manifest last, and deletes files that are not part of the dataset.
    ///
    /// # Errors
    /// When a file cannot be read or the store fails. The store then has no manifest, and the same command resumes.
    pub fn send(&self, directory: &Path) -> Result<Sent> {
        let manifest =
            regular::read(&directory.join(MANIFEST), LARGE_BYTES).context("internal: a dataset without a manifest")?;
        let manifest: Manifest = serde_json::from_slice(&manifest).context("internal: not a manifest")?;
        let files = files_below(directory)?;
        let mut to_send = Vec::new();
        for name in &files {
            if !self.has(directory, name, &manifest)? {
                to_send.push(name.as_str());
            }
        }
        let kept: BTreeSet<&str> = files.iter().map(String::as_str).collect();
        let stale: Vec<&str> =
            self.there.iter().map(|object| object.name.as_str()).filter(|name| !kept.contains(name)).collect();
        let mut sent = Sent { files: files.len(), deleted: stale.len(), ..Sent::default() };
        if to_send.is_empty() && stale.is_empty() {
            return Ok(sent);
        }
        if self.there.iter().any(|object| object.name == MANIFEST) {
            self.place.delete(MANIFEST)?;
            to_send.push(MANIFEST);
        }
        for name in stale {
            self.place.delete(name)?;
        }
        let order = |name: &&str| LAST.iter().position(|last| last == name);
        to_send.sort_by_key(order);
        to_send.dedup();
        for name in to_send {
            sent.bytes += self.place.put_file(name, &directory.join(name))?;
            sent.sent += 1;
        }
        Ok(sent)
    }

    /// Whether the store has the same file.
    fn has(&self, directory: &Path, name: &str, manifest: &Manifest) -> Result<bool> {
        let path = directory.join(name);
        let bytes = fs::metadata(&path).context("cannot look at a file of the dataset")?.len();
        if !self.there.iter().any(|object| object.name == name && object.bytes == bytes) {
            return Ok(false);
        }
        if let Some(part) = listed(manifest, name) {
            return Ok(self.manifest.as_ref().and_then(|earlier| listed(earlier, name)) == Some(part));
        }
        match self.place.get(name) {
            Ok(content) => Ok(content == regular::read(&path, u64::MAX)?),
            Err(StoreFailure::NotFound(_)) => Ok(false),
            Err(failure) => Err(failure.into()),
        }
    }
}

/// The entry of a manifest for a part of a table.
fn listed<'a>(manifest: &'a Manifest, name: &str) -> Option<&'a wavesieve_input::StoredPart> {
    let (table, file) = name.split_once('/')?;
    let parts = manifest.tables.get(table)?.parts.iter().enumerate();
    parts.into_iter().find_map(|(number, part)| (part_name(number) == file).then_some(part))
}

/// The files below a folder, by their names with `/`, in order.
fn files_below(directory: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in WalkDir::new(directory).sort_by_file_name() {
        let entry = entry.context("cannot list the dataset that is to be sent")?;
        if entry.file_type().is_file() {
            let below = entry.path().strip_prefix(directory)?;
            names.push(below.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/"));
        }
    }
    Ok(names)
}
