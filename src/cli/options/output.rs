//! Options of commands that write tables: format, file and appearance.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::csv::CsvArguments;
use crate::cli::exit::{Failure, refuse};
use crate::cli::output::delivery::{extension_of, unknown_extension};
use wavesieve_export::columnar::Times;
use wavesieve_export::unit::TimeUnit;

/// Format of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerFormat {
    /// Aligned table that fits the terminal, with readable units
    #[default]
    Table,
    /// Comma-separated values
    Csv,
    /// Tab-separated values
    Tsv,
    /// Array of records
    Json,
    /// One record per line
    Jsonl,
    /// Markdown table
    Md,
    /// HTML table, to be pasted into spreadsheets and mails
    Html,
    /// PDF, printed by a browser that is installed
    Pdf,
    /// Parquet file
    Parquet,
    /// Arrow IPC file
    Arrow,
}

impl AnswerFormat {
    /// File extensions that select a format.
    const EXTENSIONS: [(&str, Self); 14] = [
        ("txt", Self::Table),
        ("csv", Self::Csv),
        ("tsv", Self::Tsv),
        ("json", Self::Json),
        ("jsonl", Self::Jsonl),
        ("ndjson", Self::Jsonl),
        ("md", Self::Md),
        ("markdown", Self::Md),
        ("html", Self::Html),
        ("pdf", Self::Pdf),
        ("parquet", Self::Parquet),
        ("arrow", Self::Arrow),
        ("ipc", Self::Arrow),
        ("feather", Self::Arrow),
    ];

    /// The format of a file's extension.
    pub(crate) fn of_extension(path: &Path) -> Option<Self> {
        let extension = extension_of(path)?;
        Self::EXTENSIONS.iter().find(|(known, _)| *known == extension).map(|(_, format)| *format)
    }
}

/// Where and how an answer is written.
#[derive(Args, Clone, Debug)]
pub(crate) struct OutputArguments {
    /// Output format
    #[arg(short, long, value_enum, help_heading = "Output")]
    format: Option<AnswerFormat>,
    /// Output file, - for standard output; without -f its extension selects the format
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Time unit; files keep nanoseconds by default. --unit takes ns, us, ms and s too, as it did before
    #[arg(long, value_enum, default_value_t, value_name = "UNIT", help_heading = "Output")]
    pub time_unit: TimeUnit,
    /// Write times of Arrow and Parquet as durations in place of integers
    #[arg(long, help_heading = "Output")]
    pub arrow_times: bool,
    #[command(flatten)]
    pub csv: CsvArguments,
    /// Rows to show in a terminal table, 0 for all; files always hold all rows
    #[arg(long, value_name = "N", default_value_t = 40, help_heading = "Output")]
    pub rows: usize,
    /// Do not fit tables to the terminal width
    #[arg(long, help_heading = "Output")]
    pub wide: bool,
}

impl OutputArguments {
    /// The requested format, or the format of the output's extension.
    pub(crate) fn format(&self) -> AnswerFormat {
        self.format.or_else(|| AnswerFormat::of_extension(self.path()?)).unwrap_or_default()
    }

    /// Rejects a file with an extension of another kind, and options of another format.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.arrow_times && !self.keeps_dictionaries() {
            refuse!("--arrow-times is about Arrow and Parquet; add -f arrow or -f parquet");
        }
        let Some(path) = self.path().filter(|_| self.format.is_none()) else { return Ok(()) };
        if extension_of(path).is_none() || path.is_dir() || AnswerFormat::of_extension(path).is_some() {
            return Ok(());
        }
        let known: Vec<&str> = AnswerFormat::EXTENSIONS.iter().map(|(extension, _)| *extension).collect();
        Err(unknown_extension(path, "answers", &known))
    }

    /// How times are written.
    pub(crate) fn times(&self) -> Times {
        if self.arrow_times { Times::Durations } else { Times::Integers }
    }

    /// Returns whether the format has dictionaries.
    pub(crate) fn keeps_dictionaries(&self) -> bool {
        matches!(self.format(), AnswerFormat::Arrow | AnswerFormat::Parquet)
    }

    /// The file to write; `None` for standard output.
    pub(crate) fn path(&self) -> Option<&PathBuf> {
        self.output.as_ref().filter(|path| path.as_os_str() != "-")
    }
}
