//! Output of a conversion: formats of tables, and counts.

use serde::{Deserialize, Serialize};

use wavesieve_model::schema::Table;
use wavesieve_tables::trace::TraceProcess;
use wavesieve_tables::trace::selection::{Filter, Filters, UNIT};

/// File format of a converted table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum TableFormat {
    /// Parquet, with a manifest: an input like any other.
    #[default]
    Parquet,
    /// Comma-separated values.
    Csv,
    /// The same, without formulas that spreadsheets would run.
    SafeCsv,
    /// An array of records.
    Json,
    /// Arrow IPC.
    Arrow,
}

impl TableFormat {
    /// Extension of its files, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv | Self::SafeCsv => "csv",
            Self::Json => "json",
            Self::Arrow => "arrow",
        }
    }
}

/// Observer of the progress of a conversion.
pub trait Observer: Sync {
    /// A table of a process was written.
    fn written(&self, member: &TraceProcess, table: &'static Table, rows: usize);

    /// A process was reused from an earlier conversion.
    fn reused(&self, member: &TraceProcess);
}

/// Counts of the output.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written {
    /// Rows over all tables.
    pub rows: u64,
    /// Bytes over all files.
    pub bytes: u64,
    /// Files.
    pub files: u64,
    /// Rows of tables with a time.
    pub events: u64,
}

impl Written {
    /// Adds the counts of another output.
    pub fn add(&mut self, other: &Self) {
        self.rows += other.rows;
        self.bytes += other.bytes;
        self.files += other.files;
        self.events += other.events;
    }
}

/// The effective filters, as options.
pub fn selection(choice: &Filters) -> Vec<String> {
    let mut options: Vec<String> = [Filter::Rank]
        .into_iter()
        .chain(Filter::OF_ROWS)
        .filter_map(|filter| Some(format!("{} {}", filter.flag(), choice.written(filter)?)))
        .collect();
    if choice.is_windowed() {
        options.push(format!("--window-mode {}", choice.window_mode.word()));
    }
    if !choice.unit.is_auto() {
        options.push(format!("{UNIT} {}", choice.unit));
    }
    options
}
