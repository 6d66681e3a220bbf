//! Where a conversion may write.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use walkdir::WalkDir;

use super::record::{CONVERSION, Conversion};
use super::run::Refused;
use crate::export::convert::TableFormat;
use crate::export::dataset::COMPANIONS;
use crate::input::{MANIFEST, NUMBERS_FILE, PROCESSES, SCHEMAS, is_dataset};
use crate::schema::table;

/// The formats of tables.
const FORMATS: [TableFormat; 4] = [TableFormat::Parquet, TableFormat::Csv, TableFormat::Json, TableFormat::Arrow];

/// Refuses an output that cannot be written or brought up to date.
///
/// # Errors
/// [`Refused`], or when the directory cannot be read.
pub(crate) fn check_output(output: &Path, overwrite: bool) -> Result<()> {
    let shown = || output.display().to_string();
    if output.is_file() {
        return Err(Refused::File(shown()).into());
    }
    if output.exists() && !output.is_dir() {
        return Err(Refused::NoDirectory(shown()).into());
    }
    let occupied = output.is_dir() && fs::read_dir(output)?.next().is_some();
    let converted = || Conversion::read(output).is_some();
    if !occupied {
        return Ok(());
    }
    if converted() || overwrite && is_dataset(output) {
        return match foreign(output) {
            Some(path) => Err(Refused::Foreign(shown(), path.display().to_string()).into()),
            None => Ok(()),
        };
    }
    Err(if is_dataset(output) { Refused::NoConversion(shown()) } else { Refused::NotEmpty(shown()) }.into())
}

/// The first file in a directory of tables that is none of a conversion; everything in the directory is replaced.
fn foreign(output: &Path) -> Option<PathBuf> {
    let files = WalkDir::new(output).sort_by_file_name().into_iter().flatten();
    let files = files.filter(|entry| !entry.file_type().is_dir());
    let below = files.filter_map(|entry| entry.path().strip_prefix(output).ok().map(Path::to_owned));
    below.into_iter().find(|path| !is_own(path))
}

/// Whether a path below a directory of tables is as a conversion of this or an older version names its files.
fn is_own(path: &Path) -> bool {
    let names: Vec<&str> = path.iter().filter_map(|name| name.to_str()).collect();
    let (own, extension) = (|name: &str| table(name).is_some(), path.extension().and_then(|found| found.to_str()));
    let is_data = extension.is_some_and(|found| FORMATS.iter().any(|format| format.extension() == found));
    match names.as_slice() {
        [name] => [CONVERSION, MANIFEST, PROCESSES, NUMBERS_FILE].contains(name) || COMPANIONS.contains(name),
        [folder, _] if *folder == SCHEMAS => is_data,
        [folder, part] => own(folder) && part.starts_with("part-") && is_data,
        [folder, rank, process] => {
            own(folder) && rank.starts_with("rank=") && process.starts_with("process-") && is_data
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_conversions_are_known() {
        let own = ["manifest.json", "views.sql", "_schema/kernels.parquet", "kernels/part-00000.parquet"];
        let older = ["_conversion.json", "kernels/rank=0/process-0.csv"];
        assert!(own.iter().chain(&older).all(|path| is_own(Path::new(path))));
        let others =
            ["notes.txt", "raw/4100_results.db", "sub/manifest.json", "kernels/notes.txt", "kernels/rank=0/a.db"];
        assert!(!others.iter().any(|path| is_own(Path::new(path))));
    }
}
