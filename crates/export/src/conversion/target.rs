//! Checks whether a conversion may write to an output.

use std::fs;
use std::path::Path;

use anyhow::Result;
use walkdir::WalkDir;

use super::record::{CONVERSION, Conversion};
use super::refused::Refused;
use crate::dataset::COMPANIONS;
use wavesieve_input::{MANIFEST, NUMBERS_FILE, PROCESSES, SCHEMAS, is_dataset};
use wavesieve_model::schema::table;

/// Refuses an output that cannot be written or brought up to date.
///
/// # Errors
/// [`Refused`], or when the directory cannot be read.
pub fn check_output(output: &Path, overwrite: bool) -> Result<()> {
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
        return refuse_foreign(output);
    }
    Err(if is_dataset(output) { Refused::NoConversion(shown()) } else { Refused::NotEmpty(shown()) }.into())
}

/// Refuses a directory of tables with a file that no conversion wrote: everything in the directory is replaced.
///
/// # Errors
/// [`Refused`] with the first such file.
pub(super) fn refuse_foreign(output: &Path) -> Result<()> {
    for entry in WalkDir::new(output).min_depth(1).sort_by_file_name() {
        let path = match &entry {
            Ok(entry) if entry.file_type().is_dir() => continue,
            Ok(entry) => entry.path(),
            // There is no output yet.
            Err(error) if error.depth() == 0 => return Ok(()),
            Err(error) => error.path().unwrap_or(output),
        };
        let below = path.strip_prefix(output).unwrap_or(path);
        if entry.is_err() || !is_own(below) {
            return Err(Refused::Foreign(output.display().to_string(), below.display().to_string()).into());
        }
    }
    Ok(())
}

/// Whether a path below a directory of tables is one that a conversion of this or an older version writes.
pub(super) fn is_own(path: &Path) -> bool {
    let names: Vec<&str> = path.iter().filter_map(|name| name.to_str()).collect();
    let is_table = |name: &str| table(name).is_some();
    let numbered = |name: &str, start: &str, ends: &[&str]| {
        let number = name.strip_prefix(start).and_then(|rest| ends.iter().find_map(|end| rest.strip_suffix(end)));
        number.is_some_and(|number| number.parse::<i64>().is_ok())
    };
    match names.as_slice() {
        [name] => [CONVERSION, MANIFEST, PROCESSES, NUMBERS_FILE].contains(name) || COMPANIONS.contains(name),
        [folder, file] if *folder == SCHEMAS => file.strip_suffix(".parquet").is_some_and(is_table),
        [folder, part] => is_table(folder) && numbered(part, "part-", &[".parquet"]),
        [folder, rank, process] => {
            let ends = [".parquet", ".csv", ".json", ".arrow"];
            is_table(folder) && numbered(rank, "rank=", &[""]) && numbered(process, "process-", &ends)
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
        let others = [
            "notes.txt",
            "raw/4100_results.db",
            "sub/manifest.json",
            "kernels/notes.txt",
            "kernels/part-mine.parquet",
            "_schema/my.parquet",
            "kernels/rank=0/a.db",
        ];
        assert!(!others.iter().any(|path| is_own(Path::new(path))));
    }
}
