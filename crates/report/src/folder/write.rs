//! Writes a folder.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::index::{DOCUMENT, INDEX, file_of, index};
use super::replace::{FolderPlace, place};
use crate::analysis::Analysis;
use crate::compat::tracelens::{self, TraceLensOptions};
use crate::full_tables::{FullTable, findings_table, full_tables};
use crate::json;
use wavesieve_export::atomic::{replace_directory, write_directory};
use wavesieve_export::delimited::{self, Formulas};
use wavesieve_export::parquet::file as parquet_file;
use wavesieve_export::unit::{TimeUnit, convert_times};

/// Format of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderFormat {
    /// Comma-separated values.
    Csv,
    /// Parquet files.
    Parquet,
}

/// Options of a folder.
#[derive(Clone, Debug)]
pub struct FolderOptions {
    /// Format of the tables.
    pub format: FolderFormat,
    /// Unit of times; nanoseconds by default.
    pub unit: TimeUnit,
    /// Rows of each table, 0 for all.
    pub rows: usize,
    /// The tables of TraceLens. With TraceLens's own numbers, the folder holds nothing else.
    pub tracelens: TraceLensOptions,
    /// Whether formulas in CSV are kept or defused.
    pub formulas: Formulas,
}

impl FolderFormat {
    fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }
}

/// Writes an analysis as a folder, in place of one that this program wrote before.
///
/// # Errors
/// When an answer lacks what is shown, the folder holds other files, or writing fails.
pub fn write(analysis: &Analysis, options: &FolderOptions, path: &Path) -> Result<()> {
    let is_original = options.tracelens.is_original;
    let mut tables = Vec::new();
    if !is_original {
        tables.push(findings_table(&analysis.document)?);
        tables.extend(full_tables(analysis, options.rows));
    }
    tables.extend(
        tracelens::tables(analysis, &options.tracelens)?
            .into_iter()
            .map(|table| FullTable { section: if is_original { String::new() } else { table.section }, ..table }),
    );
    for table in tables.iter_mut().filter(|table| !table.is_exact) {
        convert_times(&mut table.frame, &mut table.columns, options.unit);
    }
    let fill = |folder: &Path| {
        for table in &tables {
            let file = file_of(table, options.format.extension());
            write_table(table, options, &folder.join(&file)).with_context(|| format!("cannot write {file}"))?;
        }
        if !is_original {
            write_whole(&folder.join(DOCUMENT), |out| json::write(&analysis.document, out))?;
        }
        let index = index(&analysis.document, &tables, options.format.extension(), options.unit, !is_original);
        write_whole(&folder.join(INDEX), |out| {
            serde_json::to_writer_pretty(&mut *out, &index)?;
            Ok(writeln!(out)?)
        })
    };
    match place(path).with_context(|| format!("cannot read {}", path.display()))? {
        FolderPlace::Free => write_directory(path, fill),
        FolderPlace::Ours => replace_directory(path, fill),
        FolderPlace::Foreign(_) => bail!("{} holds other files by now; name another folder", path.display()),
    }
}

fn write_whole(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> Result<()>) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    write(&mut out)?;
    Ok(out.flush()?)
}

fn write_table(table: &FullTable, options: &FolderOptions, path: &Path) -> Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    write_whole(path, |out| match options.format {
        FolderFormat::Csv => delimited::write(&table.frame, b',', options.formulas, out),
        FolderFormat::Parquet => {
            // The Parquet writer hides the reason why its last bytes cannot be written.
            let mut bytes = Vec::new();
            parquet_file::write_frame(&table.frame, &mut bytes)?;
            Ok(out.write_all(&bytes)?)
        }
    })
}
