//! A whole capture.

use std::path::{Path, PathBuf};

use super::dispatch::Dispatch;
use super::error::CaptureError;
use super::files::{inside, read_file, read_json};
use super::hash::Hash;
use super::metadata::{FORMAT, FORMAT_VERSION, Metadata, StoredFile};
use super::names::{DISPATCH, HSACO, KERNARG, METADATA, REGIONS, VARIABLES};
use super::read::StoredBlob;
use super::regions::{Region, Regions};
use super::variables::{Variable, Variables};

const MOST_HSACO: u64 = 4 << 30;
const MOST_KERNARG: u64 = 1 << 20;

/// The program that wrote a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Wavesieve,
    RocmPerfLab,
    Kerncap,
}

impl Origin {
    /// The name of the program.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wavesieve => "wavesieve",
            Self::RocmPerfLab => "rocm-perf-lab",
            Self::Kerncap => "kerncap",
        }
    }
}

/// A dispatch with everything that is needed to run it again.
#[derive(Debug, Clone)]
pub struct Capture {
    pub directory: PathBuf,
    pub origin: Origin,
    pub metadata: Metadata,
    pub dispatch: Dispatch,
    pub kernarg: Vec<u8>,
    /// In the order of addresses; none overlap.
    pub regions: Regions,
    pub variables: Vec<Variable>,
}

impl Capture {
    /// Reads everything but the code object and the bytes of regions and variables, and checks it for impossible values.
    pub fn read(directory: &Path) -> Result<Self, CaptureError> {
        if !directory.is_dir() {
            return Err(CaptureError::NoDirectory { path: directory.to_owned() });
        }
        let dispatch_path = directory.join(DISPATCH);
        let dispatch: Dispatch = read_json(&dispatch_path)?;
        if let Some(reason) = dispatch.impossibility() {
            return Err(CaptureError::Impossible { path: dispatch_path, reason });
        }
        let metadata: Option<Metadata> = optional(read_json(&directory.join(METADATA)))?;
        let variables = variables_of(directory, metadata.as_ref())?;
        let origin = match &metadata {
            Some(metadata) if metadata.format == FORMAT => Origin::Wavesieve,
            None if variables.is_none() => Origin::RocmPerfLab,
            _ => Origin::Kerncap,
        };
        let metadata = metadata.unwrap_or_default();
        if metadata.format_version > FORMAT_VERSION && origin == Origin::Wavesieve {
            return Err(CaptureError::NewerVersion {
                path: directory.join(METADATA),
                version: metadata.format_version,
                known: FORMAT_VERSION,
            });
        }
        let kernarg_path = directory.join(KERNARG);
        let kernarg = read_file(&kernarg_path, MOST_KERNARG)?;
        check_stored(&kernarg_path, &kernarg, metadata.kernarg.as_ref())?;
        if (kernarg.len() as u64) < dispatch.kernarg_size {
            let (found, recorded) = (kernarg.len() as u64, dispatch.kernarg_size);
            return Err(CaptureError::WrongLength { path: kernarg_path, found, recorded });
        }
        let regions = Self::read_regions(directory)?;
        let variables = variables.unwrap_or_default();
        Ok(Self { directory: directory.to_owned(), origin, metadata, dispatch, kernarg, regions, variables })
    }

    /// Reads the regions of a capture, or of memory that was saved after a dispatch.
    pub fn read_regions(directory: &Path) -> Result<Regions, CaptureError> {
        if !directory.is_dir() {
            return Err(CaptureError::NoDirectory { path: directory.to_owned() });
        }
        let path = directory.join(REGIONS);
        let mut regions: Regions = read_json(&path)?;
        check_empty(directory, &regions)?;
        regions.sort();
        match regions.impossibility() {
            Some(reason) => Err(CaptureError::Impossible { path, reason }),
            None => Ok(regions),
        }
    }

    /// Reads the code object, and compares its hash.
    pub fn read_hsaco(&self) -> Result<Vec<u8>, CaptureError> {
        let path = self.hsaco();
        let bytes = read_file(&path, MOST_HSACO)?;
        check_stored(&path, &bytes, self.metadata.hsaco.as_ref())?;
        if bytes.is_empty() {
            return Err(CaptureError::Impossible { path, reason: "the code object has no bytes".to_owned() });
        }
        Ok(bytes)
    }

    /// The path of the code object.
    pub fn hsaco(&self) -> PathBuf {
        self.directory.join(HSACO)
    }

    /// Finds the bytes of a region.
    pub fn open_region(&self, region: &Region) -> Result<StoredBlob, CaptureError> {
        StoredBlob::open(&self.directory, region)
    }

    /// Reads the list of variables of a capture, or of memory that was saved after a dispatch.
    pub fn read_variables(directory: &Path) -> Result<Vec<Variable>, CaptureError> {
        let metadata: Option<Metadata> = optional(read_json(&directory.join(METADATA)))?;
        Ok(variables_of(directory, metadata.as_ref())?.unwrap_or_default())
    }

    /// Reads the bytes of a variable, and compares their length and hash.
    pub fn read_variable(&self, variable: &Variable) -> Result<Vec<u8>, CaptureError> {
        Self::read_variable_of(&self.directory, variable)
    }

    /// Like [`Self::read_variable`], for any directory with variables.
    pub fn read_variable_of(directory: &Path, variable: &Variable) -> Result<Vec<u8>, CaptureError> {
        let path = inside(directory, &variable.blob).ok_or_else(|| CaptureError::Impossible {
            path: directory.join(VARIABLES),
            reason: format!("the file `{}` is outside of the capture", variable.blob),
        })?;
        let bytes = read_file(&path, MOST_HSACO)?;
        if bytes.len() as u64 != variable.size {
            return Err(CaptureError::WrongLength { path, found: bytes.len() as u64, recorded: variable.size });
        }
        if variable.xxh3.is_some_and(|hash| hash != Hash::from_bytes(&bytes)) {
            return Err(CaptureError::WrongHash { path, offset: 0 });
        }
        Ok(bytes)
    }
}

/// The variables of a directory; `None` if it has no list of them. Captures by wavesieve always have one.
fn variables_of(directory: &Path, metadata: Option<&Metadata>) -> Result<Option<Vec<Variable>>, CaptureError> {
    let path = directory.join(VARIABLES);
    let variables: Option<Variables> = optional(read_json(&path))?;
    match variables {
        None if metadata.is_some_and(|metadata| metadata.format == FORMAT) => Err(CaptureError::NoFile { path }),
        variables => Ok(variables.map(|variables| variables.variables)),
    }
}

/// Checks empty regions, which are not restored: if a file has bytes of one, its size is wrong.
fn check_empty(directory: &Path, regions: &Regions) -> Result<(), CaptureError> {
    for region in regions.regions.iter().filter(|region| region.size == 0 && region.error.is_none()) {
        let Some(path) = inside(directory, &region.file()) else { continue };
        let stored = region.blob.iter().flat_map(|blob| &blob.chunks).map(|chunk| chunk.0).max().unwrap_or(0);
        let found = std::fs::metadata(&path).map_or(0, |information| information.len()).max(stored);
        if found > 0 {
            return Err(CaptureError::WrongLength { path, found, recorded: 0 });
        }
    }
    Ok(())
}

fn optional<T>(read: Result<T, CaptureError>) -> Result<Option<T>, CaptureError> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(CaptureError::NoFile { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn check_stored(path: &Path, bytes: &[u8], stored: Option<&StoredFile>) -> Result<(), CaptureError> {
    let Some(stored) = stored else { return Ok(()) };
    if stored.bytes != bytes.len() as u64 {
        let (found, recorded) = (bytes.len() as u64, stored.bytes);
        return Err(CaptureError::WrongLength { path: path.to_owned(), found, recorded });
    }
    if stored.xxh3 != Hash::from_bytes(bytes) {
        return Err(CaptureError::WrongHash { path: path.to_owned(), offset: 0 });
    }
    Ok(())
}
