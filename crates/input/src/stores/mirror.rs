//! The local copy of a dataset in a store: sparse files of the right sizes. Only the bytes that are read are fetched.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use anyhow::{Context as _, Result, bail, ensure};
use parking_lot::Mutex;

use super::address::Address;
use super::failure::StoreFailure;
use super::store::ObjectPlace;
use crate::common::temporary::TemporaryFolder;
use crate::dataset::{AnyManifest, MANIFEST, PROCESSES, has_facts, part_name};
use crate::error::InputError;
use crate::recognition::naming::promise;
use wavesieve_model::schema::table;
use wavesieve_model::text::bytes::text_of_name;

/// The mirrors in use. They map paths to addresses.
static MIRRORS: Mutex<Vec<Weak<Mirror>>> = Mutex::new(Vec::new());

/// A dataset in a store, and its local folder.
#[derive(Debug)]
pub struct Mirror {
    place: ObjectPlace,
    folder: TemporaryFolder,
    /// Fetched ranges of each file.
    fetched: Mutex<BTreeMap<PathBuf, Vec<Range<u64>>>>,
}

impl PartialEq for Mirror {
    fn eq(&self, other: &Self) -> bool {
        self.place.shown() == other.place.shown()
    }
}

impl Eq for Mirror {}

impl Mirror {
    /// Fetches the manifest and the facts about processes. A mirror in use is reused.
    ///
    /// # Errors
    /// When there is no readable dataset at the address.
    pub fn open(address: &Address) -> Result<Arc<Self>, InputError> {
        let shown = address.to_string();
        if let Some(known) = in_use(|mirror| mirror.place.shown() == shown) {
            return Ok(known);
        }
        let place = ObjectPlace::new(address)?;
        let manifest = match place.get(MANIFEST) {
            Ok(manifest) => manifest,
            Err(StoreFailure::NotFound(_)) => {
                return Err(InputError::Address(format!("{shown}: {}", no_dataset(address))));
            }
            Err(failure) => return Err(InputError::Other(failure.into())),
        };
        let mirror = Self { place, folder: TemporaryFolder::new()?, fetched: Mutex::default() };
        // Stores that do not let everyone list refuse access to files that do not exist.
        if has_facts(&manifest) {
            mirror.fetch_whole(&mirror.path().join(PROCESSES))?;
        }
        mirror.prepare(&manifest).map_err(|error| {
            let reason = format!("{error:#}").replace(&mirror.path().display().to_string(), &shown);
            InputError::Damaged { reasons: vec![(shown, reason)] }
        })?;
        let mirror = Arc::new(mirror);
        let mut mirrors = MIRRORS.lock();
        mirrors.retain(|known| known.strong_count() > 0);
        mirrors.push(Arc::downgrade(&mirror));
        Ok(mirror)
    }

    /// The mirror that contains a path.
    pub fn of(path: &Path) -> Option<Arc<Self>> {
        in_use(|mirror| path.starts_with(mirror.path()))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The address.
    pub fn shown(&self) -> &str {
        self.place.shown()
    }

    /// Writes the files that the reader of datasets needs before any rows, next to the facts: the manifest, and a file without content for
    /// each part.
    fn prepare(&self, manifest: &[u8]) -> Result<()> {
        fs::write(self.path().join(MANIFEST), manifest).context("cannot write a temporary file")?;
        let AnyManifest::SharedFiles(manifest, _) = AnyManifest::read(self.path())? else {
            bail!(
                "a dataset of an older version, in which each rank has files of its own; convert it again to read it from there"
            );
        };
        for (name, stored) in &manifest.tables {
            // The name of an unknown table could lead out of the folder.
            if table(name).is_none() || stored.parts.is_empty() {
                continue;
            }
            let folder = self.path().join(name);
            fs::create_dir(&folder).context("cannot create a temporary folder")?;
            for (number, part) in stored.parts.iter().enumerate() {
                let file = File::create(folder.join(part_name(number))).context("cannot create a temporary file")?;
                file.set_len(part.bytes)
                    .context("cannot create a temporary file of the size that the manifest lists")?;
            }
        }
        Ok(())
    }

    /// Fetches the missing byte ranges of a file.
    ///
    /// # Errors
    /// When they cannot be fetched.
    pub fn fetch(&self, path: &Path, ranges: &[Range<u64>]) -> Result<()> {
        let is_there = |known: &[Range<u64>], wanted: &Range<u64>| {
            wanted.is_empty() || known.iter().any(|known| known.start <= wanted.start && wanted.end <= known.end)
        };
        let wanted: Vec<Range<u64>> = {
            let fetched = self.fetched.lock();
            let known = fetched.get(path).map(Vec::as_slice).unwrap_or_default();
            ranges.iter().filter(|range| !is_there(known, range)).cloned().collect()
        };
        if wanted.is_empty() {
            return Ok(());
        }
        let contents = match self.place.get_ranges(&self.name(path)?, &wanted) {
            Err(StoreFailure::NotFound(_)) => bail!("the file is missing"),
            contents => contents?,
        };
        let mut file = OpenOptions::new().write(true).open(path).context("cannot write a temporary file")?;
        for (range, content) in wanted.iter().zip(&contents) {
            let is_whole = content.len() as u64 == range.end - range.start;
            ensure!(is_whole, "it is shorter than the manifest lists");
            file.seek(SeekFrom::Start(range.start)).context("cannot write a temporary file")?;
            file.write_all(content).context("cannot write a temporary file; set TMPDIR to a place with more room")?;
        }
        self.fetched.lock().entry(path.to_owned()).or_default().extend(wanted);
        Ok(())
    }

    /// Fetches a whole file next to the tables, unless it exists locally.
    ///
    /// # Errors
    /// When it cannot be fetched; a file that does not exist in the store is not an error.
    pub(crate) fn fetch_whole(&self, path: &Path) -> Result<()> {
        if path.exists() {
            return Ok(());
        }
        let content = match self.place.get(&self.name(path)?) {
            Err(StoreFailure::NotFound(_)) => return Ok(()),
            content => content?,
        };
        let folder = path.parent().context("internal: a file without a folder")?;
        fs::create_dir_all(folder).context("cannot create a temporary folder")?;
        fs::write(path, &content).context("cannot write a temporary file")
    }

    /// The name of a file below the address.
    fn name(&self, path: &Path) -> Result<String> {
        let below = path.strip_prefix(self.path()).context("internal: a file of another dataset")?;
        let parts: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        Ok(parts.join("/"))
    }
}

/// A path for messages: below the address if it is in a mirror.
pub fn shown(path: &Path) -> String {
    let address = Mirror::of(path).and_then(|mirror| Some(format!("{}/{}", mirror.shown(), mirror.name(path).ok()?)));
    address.unwrap_or_else(|| text_of_name(path)).trim_end_matches('/').to_owned()
}

fn in_use(is_wanted: impl Fn(&Mirror) -> bool) -> Option<Arc<Mirror>> {
    let mirrors: Vec<Arc<Mirror>> = MIRRORS.lock().iter().filter_map(Weak::upgrade).collect();
    mirrors.into_iter().find(|mirror| is_wanted(mirror))
}

/// Advice if the manifest is missing.
fn no_dataset(address: &Address) -> &'static str {
    if promise(address.name()).is_some() {
        "databases and other traces are not read over the network; convert them where they lie, with `wavesieve convert TRACES -o ADDRESS`, \
         and name the dataset"
    } else {
        "there is no dataset (no manifest.json); check the address, or write one with `wavesieve convert TRACES -o ADDRESS`"
    }
}
