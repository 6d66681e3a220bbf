//! The format of a document, and how it is written.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::delivery::{deliver, print_written};
use super::pdf;
use crate::cli::exit::{Failure, refuse};
use crate::cli::options::csv::CsvArguments;
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::tracelens::TraceLensArguments;
use crate::invocation::{is_stdout_terminal, stdout_columns};
use wavesieve_engine::findings::QueryRequest;
use wavesieve_export::atomic::{MadeDirectories, make_directory, write_file};
use wavesieve_export::unit::TimeUnit;
use wavesieve_report::analysis::Analysis;
use wavesieve_report::compat::tracelens;
use wavesieve_report::folder;
use wavesieve_report::folder::{FolderFormat, FolderOptions};
use wavesieve_report::full_tables;
use wavesieve_report::xlsx;
use wavesieve_report::xlsx::WorkbookOptions;
use wavesieve_report::{html, json, markdown, text};

/// Text width if the terminal does not report its width.
const WIDTH: usize = 80;

/// Options of verbs that write a document.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct DocumentOutput {
    /// Format of the document; without it the extension of -o chooses
    #[arg(short, long, value_enum)]
    pub format: Option<DocumentFormat>,
    /// File to write, or folder of csv and parquet; - for standard output
    ///
    /// It replaces one that is there. The format's extension is added where it is missing.
    #[arg(short, long, value_name = "NAME")]
    pub output: Option<PathBuf>,
    /// Directory to write the file to, made where there is none; the file is named analysis unless -o names it. Of csv and
    /// parquet the folder itself, unless -o names one in it
    #[arg(short = 'd', long = "dir", value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Unit of times in text, Markdown and workbooks; csv and parquet keep nanoseconds unless one is named.
    /// --unit takes ns, us, ms and s too, as it did before
    #[arg(long, value_enum, default_value_t, value_name = "UNIT")]
    pub time_unit: TimeUnit,
    /// Rows of each table, 0 for all
    ///
    /// By default 10, 50 in pages, and all in workbooks and folders.
    #[arg(long = "top-kernels", visible_alias = "top", value_name = "N")]
    pub top: Option<usize>,
    #[command(flatten)]
    pub csv: CsvArguments,
    #[command(flatten)]
    pub tracelens: TraceLensArguments,
}

/// Format of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocumentFormat {
    /// For the terminal
    #[default]
    Text,
    /// For scripts, by a published schema
    Json,
    /// For wikis, issues and merge requests
    #[value(alias = "md")]
    Markdown,
    /// For browsers: one file that needs no network, with charts, sorting and filters
    #[value(alias = "webview")]
    Html,
    /// The page, printed by a browser that is installed
    Pdf,
    /// For spreadsheets: a workbook with a sheet for every table, and the sheets of TraceLens
    Xlsx,
    /// For other programs: a folder with a file for every table, and the JSON document
    Csv,
    /// The same as Parquet files
    Parquet,
}

impl DocumentFormat {
    /// Returns whether the document has commands for the kernels of findings. The other formats, for readers, only show
    /// the commands that findings recommend.
    pub(crate) fn has_handoffs(self) -> bool {
        matches!(self, Self::Json | Self::Html | Self::Xlsx | Self::Csv | Self::Parquet)
    }

    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Json => "json",
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Pdf => "pdf",
            Self::Xlsx => "xlsx",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }

    pub(crate) fn is_folder(self) -> bool {
        self.of_folder().is_some()
    }

    pub(crate) fn of_folder(self) -> Option<FolderFormat> {
        match self {
            Self::Csv => Some(FolderFormat::Csv),
            Self::Parquet => Some(FolderFormat::Parquet),
            _ => None,
        }
    }

    /// Returns whether the document holds whole tables, including those of TraceLens.
    fn is_of_tables(self) -> bool {
        self == Self::Xlsx || self.of_folder().is_some()
    }

    /// Default number of rows in tables: a page shows ten of them, and more on request.
    pub(crate) fn rows(self) -> usize {
        if matches!(self, Self::Html | Self::Pdf) { 50 } else { 10 }
    }

    /// Returns whether the document can hold charts.
    pub(crate) fn has_charts(self) -> bool {
        matches!(self, Self::Html | Self::Pdf)
    }

    /// The extensions of formats that are files.
    pub(crate) fn extensions() -> Vec<&'static str> {
        let files = Self::value_variants().iter().filter(|format| !format.is_folder());
        files.map(|format| format.extension()).collect()
    }

    /// The format of a file's extension.
    pub(crate) fn of_extension(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_lowercase();
        let is_named = |format: &Self| format.of_folder().is_none() && format.extension() == extension;
        Self::value_variants().iter().copied().find(is_named)
    }
}

impl DocumentOutput {
    /// The requested format, by name or by the extension of the file.
    pub(crate) fn format(&self) -> Option<DocumentFormat> {
        self.format.or_else(|| DocumentFormat::of_extension(self.output.as_ref()?))
    }

    /// Rows of each table, 0 for all.
    pub(crate) fn rows(&self, format: DocumentFormat) -> usize {
        self.top.unwrap_or(format.rows())
    }

    /// Queries that only this format needs.
    ///
    /// # Errors
    /// [`Failure::Usage`] when an option is given that the format does not support.
    pub(crate) fn questions(&self, format: DocumentFormat) -> Result<Vec<QueryRequest>, Failure> {
        match self.tracelens.given() {
            _ if format.is_of_tables() => {
                Ok([full_tables::questions(), tracelens::questions(&self.tracelens.options())].concat())
            }
            Some(option) => {
                let reason = "is for workbooks and folders; choose one with --format xlsx, csv or parquet";
                refuse!("{option} {reason}")
            }
            None => Ok(Vec::new()),
        }
    }

    /// Writes an analysis to the named file or folder and reports it, or by default to standard output.
    pub(crate) fn deliver(
        &self,
        analysis: &Analysis,
        format: DocumentFormat,
        path: Option<&Path>,
        global: &GlobalArguments,
    ) -> Result<(), Failure> {
        let Some(path) = path else {
            return self.deliver_text(None, global, |terminal, out| self.write(analysis, format, terminal, out));
        };
        let _made = self.make_directory(path)?;
        self.write_to(analysis, format, path)?;
        print_written(path, global);
        Ok(())
    }

    /// Writes an analysis to a file or folder.
    pub(crate) fn write_to(&self, analysis: &Analysis, format: DocumentFormat, path: &Path) -> anyhow::Result<()> {
        let Some(of_tables) = format.of_folder() else {
            return write_file(path, |out| self.write(analysis, format, None, out));
        };
        let (unit, rows, tracelens) = (self.time_unit, self.top.unwrap_or(0), self.tracelens.options());
        folder::write(
            analysis,
            &FolderOptions { format: of_tables, unit, rows, tracelens, formulas: self.csv.formulas() },
            path,
        )
    }

    /// Writes a text to the named file and reports it, or by default to standard output.
    pub(crate) fn deliver_text(
        &self,
        path: Option<&Path>,
        global: &GlobalArguments,
        write: impl FnOnce(Option<&GlobalArguments>, &mut dyn Write) -> anyhow::Result<()>,
    ) -> Result<(), Failure> {
        let _made = path.map(|path| self.make_directory(path)).transpose()?;
        deliver(path, global, write)
    }

    /// Creates the directory of -d.
    fn make_directory(&self, path: &Path) -> anyhow::Result<Option<MadeDirectories>> {
        let parent = path.parent().filter(|_| self.directory.is_some());
        parent.map(make_directory).transpose()
    }

    /// Writes an analysis; for a terminal with its width and colors.
    fn write(
        &self,
        analysis: &Analysis,
        format: DocumentFormat,
        terminal: Option<&GlobalArguments>,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let document = &analysis.document;
        match format {
            DocumentFormat::Csv | DocumentFormat::Parquet => anyhow::bail!("a folder cannot be written to a stream"),
            DocumentFormat::Xlsx => {
                let (unit, rows, tracelens) = (self.time_unit, self.top.unwrap_or(0), self.tracelens.options());
                xlsx::write(analysis, &WorkbookOptions { unit, rows, tracelens }, out)
            }
            DocumentFormat::Json => json::write(document, out),
            DocumentFormat::Html => html::write(document, out),
            DocumentFormat::Pdf => pdf::write(document, out),
            DocumentFormat::Markdown => markdown::write(document, self.time_unit, out),
            DocumentFormat::Text => {
                let terminal_width = || terminal.filter(|_| is_stdout_terminal()).and_then(|_| stdout_columns());
                let color = terminal.is_some_and(GlobalArguments::color);
                let style = text::TextStyle { width: terminal_width().unwrap_or(WIDTH), color, unit: self.time_unit };
                text::write(document, style, out)
            }
        }
    }
}
