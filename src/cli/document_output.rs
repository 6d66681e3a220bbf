//! Where a document goes, and in which format.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};

use super::arguments::{GlobalArguments, InputArguments};
use super::exit::Failure;
use super::tracelens::TraceLensArguments;
use crate::export::atomic::write_file;
use crate::export::unit::TimeUnit;
use crate::findings::Question;
use crate::report::analysis::Analysis;
use crate::report::compat::tracelens;
use crate::report::folder::{self, FolderFormat, FolderOptions, Place};
use crate::report::xlsx::{self, WorkbookOptions};
use crate::report::{html, json, markdown, text};

/// Columns of text where the terminal does not say.
const WIDTH: usize = 80;

/// Options of verbs that write a document.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub struct DocumentOutput {
    /// Format of the document; without it the extension of -o chooses
    #[arg(short, long, value_enum)]
    pub format: Option<DocumentFormat>,
    /// File to write, - for standard output; the format's extension is added where it is missing. Of csv and parquet the
    /// folder
    #[arg(short, long, value_name = "NAME")]
    pub output: Option<PathBuf>,
    /// Directory to write the file to, made where there is none; the file is named analysis unless -o names it. Of csv and
    /// parquet the folder itself, unless -o names one in it
    #[arg(short = 'd', long = "dir", value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Unit of times in text, Markdown and workbooks; csv and parquet keep nanoseconds unless one is named
    #[arg(long, value_enum, default_value_t)]
    pub unit: TimeUnit,
    /// Rows of each table, 0 for all [default: 10, 50 in pages, all in workbooks and folders]
    #[arg(long = "top-kernels", visible_alias = "top", value_name = "N")]
    pub top: Option<usize>,
    #[command(flatten)]
    pub tracelens: TraceLensArguments,
}

/// Format of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DocumentFormat {
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
    /// For spreadsheets: a workbook with a sheet for every table, and the sheets of TraceLens
    Xlsx,
    /// For other programs: a folder with a file for every table, and the JSON document
    Csv,
    /// The same as Parquet files
    Parquet,
}

impl DocumentFormat {
    /// The extension that names it.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Json => "json",
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Xlsx => "xlsx",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }

    /// Whether a document is a folder.
    pub fn is_folder(self) -> bool {
        self.of_folder().is_some()
    }

    /// The format of the tables of a folder.
    fn of_folder(self) -> Option<FolderFormat> {
        match self {
            Self::Csv => Some(FolderFormat::Csv),
            Self::Parquet => Some(FolderFormat::Parquet),
            _ => None,
        }
    }

    /// Whether it holds whole tables, and those of TraceLens.
    fn is_of_tables(self) -> bool {
        self == Self::Xlsx || self.of_folder().is_some()
    }

    /// Rows of tables where none are asked for: a page shows ten of them until it is asked for more.
    pub fn rows(self) -> usize {
        if self == Self::Html { 50 } else { 10 }
    }

    /// Whether it has a place for charts.
    pub fn has_charts(self) -> bool {
        self == Self::Html
    }

    fn of_extension(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_lowercase();
        let is_named = |format: &Self| format.of_folder().is_none() && format.extension() == extension;
        Self::value_variants().iter().copied().find(is_named)
    }
}

impl DocumentOutput {
    /// The format that was asked for, by name or by the extension of the file.
    pub fn format(&self) -> Option<DocumentFormat> {
        self.format.or_else(|| DocumentFormat::of_extension(self.output.as_ref()?))
    }

    /// Rows of each table, 0 for all.
    pub fn rows(&self, format: DocumentFormat) -> usize {
        self.top.unwrap_or(format.rows())
    }

    /// What is asked for the format alone.
    ///
    /// # Errors
    /// [`Failure::Usage`] when an option is given that the format has no place for.
    pub fn questions(&self, format: DocumentFormat) -> Result<Vec<Question>, Failure> {
        match self.tracelens.given() {
            _ if format.is_of_tables() => Ok(tracelens::questions(&self.tracelens.options())),
            Some(option) => {
                let reason = "is for workbooks and folders; choose one with --format xlsx, csv or parquet";
                Err(Failure::Usage(format!("{option} {reason}")))
            }
            None => Ok(Vec::new()),
        }
    }

    /// The file or folder to write, which is named `stem` where only a directory is given; `None` for standard output.
    ///
    /// # Errors
    /// [`Failure::Usage`] when the file or its directory cannot be what was named, or when the file is an input.
    pub fn file(&self, input: &InputArguments, format: DocumentFormat, stem: &str) -> Result<Option<PathBuf>, Failure> {
        let refuse = |path: &Path, reason: &str| Err(Failure::Usage(format!("{} {reason}", path.display())));
        if self.output.as_ref().is_some_and(|output| output.as_os_str() == "-") {
            return match &self.directory {
                Some(directory) => refuse(directory, "takes no standard output; leave out -d, or name a file with -o"),
                None => check_stream(format),
            };
        }
        let mut path = match (&self.directory, &self.output) {
            (None, None) => return check_stream(format),
            (Some(directory), None) if format.of_folder().is_some() => return check_folder(directory, input),
            (Some(directory), _) if directory.exists() && !directory.is_dir() => {
                return refuse(directory, "is no directory; name one with -d, or the file with -o");
            }
            (Some(_), Some(output)) if output.is_absolute() => {
                return refuse(output, "is absolute, which leaves -d nothing to say; leave -d out");
            }
            (Some(directory), Some(output)) => directory.join(output),
            (Some(directory), None) => directory.join(format!("{stem}.{}", format.extension())),
            (None, Some(output)) => output.clone(),
        };
        let missing = |parent: &Path| !parent.as_os_str().is_empty() && !parent.is_dir();
        let is_nowhere = self.directory.is_none() && path.parent().is_some_and(missing);
        let nowhere = "is in a directory that does not exist; create it, or name it with -d";
        if format.of_folder().is_some() {
            return if is_nowhere { refuse(&path, nowhere) } else { check_folder(&path, input) };
        }
        if self.format.is_none()
            && path.extension().is_some_and(|extension| extension == "csv" || extension == "parquet")
        {
            return refuse(
                &path,
                "would be a folder as a document; name a folder with -o, and --format csv or parquet",
            );
        }
        if path.exists() && !path.is_file() && !path.is_dir() {
            return refuse(&path, "is no regular file; name one, or - for standard output");
        }
        if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return refuse(&path, "is a directory; name it with -d, or a file in it with -o");
        }
        if DocumentFormat::of_extension(&path) != Some(format) {
            path.as_mut_os_string().push(format!(".{}", format.extension()));
        }
        if path.is_dir() {
            return refuse(&path, "is a directory; name another file with -o");
        }
        if is_nowhere {
            return refuse(&path, nowhere);
        }
        if path.exists() && input.contain(&path) {
            return refuse(&path, "is an input, which is never written; name another file with -o");
        }
        Ok(Some(path))
    }

    /// Makes the directory that was named with -d.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make_directory(&self, path: &Path) -> anyhow::Result<()> {
        match (&self.directory, path.parent()) {
            (Some(_), Some(parent)) => {
                std::fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))
            }
            _ => Ok(()),
        }
    }

    /// Writes what an analysis shows to a file or a folder.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_to(&self, analysis: &Analysis, format: DocumentFormat, path: &Path) -> anyhow::Result<()> {
        let Some(format) = format.of_folder() else {
            return write_file(path, |out| self.write(analysis, format, None, out));
        };
        let (unit, rows, tracelens) = (self.unit, self.top.unwrap_or(0), self.tracelens.options());
        folder::write(analysis, &FolderOptions { format, unit, rows, tracelens }, path)
    }

    /// Writes what an analysis shows; for a terminal with its width and colours.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write(
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
                let (unit, rows, tracelens) = (self.unit, self.top.unwrap_or(0), self.tracelens.options());
                xlsx::write(analysis, &WorkbookOptions { unit, rows, tracelens }, out)
            }
            DocumentFormat::Json => json::write(document, out),
            DocumentFormat::Html => html::write(document, out),
            DocumentFormat::Markdown => markdown::write(document, self.unit, out),
            DocumentFormat::Text => {
                let of_terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into());
                let terminal_width = || terminal.filter(|_| io::stdout().is_terminal()).and_then(|_| of_terminal());
                let color = terminal.is_some_and(GlobalArguments::color);
                let style = text::TextStyle { width: terminal_width().unwrap_or(WIDTH), color, unit: self.unit };
                text::write(document, style, out)
            }
        }
    }
}

/// Refuses standard output where the format cannot go there.
fn check_stream(format: DocumentFormat) -> Result<Option<PathBuf>, Failure> {
    if format.of_folder().is_some() {
        let word = format.extension();
        return Err(Failure::Usage(format!("a document in {word} is a folder with several files; name one with -o")));
    }
    if format == DocumentFormat::Xlsx && io::stdout().is_terminal() {
        return Err(Failure::Usage("a workbook does not go to a terminal; name a file with -o".to_owned()));
    }
    Ok(None)
}

/// Refuses a folder that holds what was not written here, or that is an input.
fn check_folder(path: &Path, input: &InputArguments) -> Result<Option<PathBuf>, Failure> {
    let shown = path.display();
    if path.exists() && input.contain(path) {
        return Err(Failure::Usage(format!(
            "{shown} is an input, which is never written; name another folder with -o"
        )));
    }
    match folder::place(path).with_context(|| format!("cannot read {shown}"))? {
        Place::Free | Place::Ours => Ok(Some(path.to_owned())),
        Place::Foreign(None) => {
            Err(Failure::Usage(format!("{shown} is a file, and the document a folder; name another with -o")))
        }
        Place::Foreign(Some(name)) => Err(Failure::Usage(format!(
            "{shown} holds {name}, which is not from an earlier analysis; name a new or an empty folder with -o"
        ))),
    }
}
