//! Conversion to files.

use std::path::Path;

use super::error::Error;
use super::trace::Trace;
use wavesieve_export::conversion::{Plan, check_output, convert, on_demand_name, on_demand_tables};
use wavesieve_export::convert::{Observer, TableFormat};
use wavesieve_export::dataset::PACK_BYTES;
use wavesieve_model::schema::Table;
use wavesieve_tables::trace::TraceProcess;

/// How [`Trace::convert_with`] converts.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// Format of the files.
    pub format: TableFormat,
    /// Derived tables to write too, which queries otherwise compute when needed; `all` for all of them.
    pub with: Vec<String>,
    /// Convert everything again and replace an existing dataset.
    pub overwrite: bool,
}

/// Result of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Converted {
    /// Rows of all tables.
    pub rows: u64,
    /// Files.
    pub files: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Processes that were converted.
    pub converted: usize,
    /// Unchanged processes of an earlier conversion that were reused.
    pub reused: usize,
}

impl Trace {
    /// Writes the tables as a Parquet dataset: a file per table and process, in folders by rank. The dataset is an input like
    /// any other. It appears or changes only when everything is written; unchanged processes of an earlier conversion are reused.
    ///
    /// ```
    /// use wavesieve::Trace;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let dataset = folder.path().join("dataset");
    /// let written = Trace::open(["fixtures/two_nodes"])?.convert(&dataset)?;
    /// assert!(written.rows > 0);
    /// assert_eq!(Trace::open([dataset.to_string_lossy()])?.ranks()?.len(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] if something else is in the directory, [`Error::Failed`] if reading or writing fails.
    pub fn convert(&self, directory: impl AsRef<Path>) -> Result<Converted, Error> {
        self.convert_with(directory, &ConvertOptions::default())
    }

    /// [`Trace::convert`] with options.
    ///
    /// # Errors
    /// The same as for [`Trace::convert`], and [`Error::Invalid`] if no table has a name in [`ConvertOptions::with`].
    pub fn convert_with(&self, directory: impl AsRef<Path>, options: &ConvertOptions) -> Result<Converted, Error> {
        let ConvertOptions { format, with, overwrite } = options;
        let (output, format, overwrite) = (directory.as_ref(), *format, *overwrite);
        for name in with {
            on_demand_name(name).map_err(Error::Invalid)?;
        }
        check_output(output, overwrite)?;
        let trace = self.filtered()?;
        let (with, _) = on_demand_tables(with, trace.choice().chooses_rows());
        let plan = Plan { output, format, with, overwrite, pack_bytes: PACK_BYTES, shard: None };
        let outcome = convert(trace, &plan, &Silent)?;
        Ok(Converted {
            rows: outcome.written.rows,
            files: outcome.written.files,
            bytes: outcome.written.bytes,
            converted: outcome.converted,
            reused: outcome.reused,
        })
    }
}

/// An observer that ignores everything.
struct Silent;

impl Observer for Silent {
    fn written(&self, _member: &TraceProcess, _table: &'static Table, _rows: usize) {}

    fn reused(&self, _member: &TraceProcess) {}
}
