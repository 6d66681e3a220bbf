//! Locates kernels of code objects in source code.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde::Serialize;

use wavesieve_files::regular::{self, LARGE_BYTES};
use wavesieve_source::kernels::{SourceKernel, kernels_with, named};

/// Source files and the kernels in them.
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<(PathBuf, String, Vec<SourceKernel>)>,
}

/// The location of a kernel definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KernelPlace {
    pub file: String,
    pub line: u32,
    /// The text of the signature, from the first word to the last before the body.
    pub signature: String,
    pub launch_bounds: Option<String>,
    /// Whether it shares text with another definition in an alternative branch of the preprocessor.
    pub is_torn: bool,
}

impl Sources {
    /// Reads files. Macros of each file apply to all.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn read(paths: &[PathBuf]) -> Result<Self> {
        let read = |path: &PathBuf| -> Result<String> {
            let information = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
            ensure!(information.is_file(), "{} is not a regular file; name a source file", path.display());
            let bytes = regular::read(path, LARGE_BYTES).with_context(|| format!("cannot read {}", path.display()))?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let texts: Vec<String> = paths.iter().map(read).collect::<Result<_>>()?;
        // Each file may be a header of the others.
        let all: Vec<&str> = texts.iter().map(String::as_str).collect();
        let found: Vec<Vec<SourceKernel>> = texts.iter().map(|text| kernels_with(text, &all)).collect();
        let files = paths.iter().cloned().zip(texts).zip(found).map(|((path, text), found)| (path, text, found));
        Ok(Self { files: files.collect() })
    }

    /// Files without any kernel.
    pub fn without_kernels(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().filter(|(_, _, found)| found.is_empty()).map(|(path, _, _)| path.as_path())
    }

    /// The definitions that a name may refer to; `None` without files.
    pub(super) fn places(&self, name: &str) -> Option<Vec<KernelPlace>> {
        if self.files.is_empty() {
            return None;
        }
        let of_file = |(path, text, found): &(PathBuf, String, Vec<SourceKernel>)| -> Vec<KernelPlace> {
            named(found, name)
                .into_iter()
                .map(|kernel| KernelPlace {
                    file: path.display().to_string(),
                    line: kernel.line,
                    signature: text.get(kernel.signature.clone()).unwrap_or_default().to_owned(),
                    launch_bounds: kernel.launch_bounds.clone(),
                    is_torn: kernel.is_torn,
                })
                .collect()
        };
        Some(self.files.iter().flat_map(of_file).collect())
    }
}
