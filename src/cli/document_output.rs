//! Where a document goes, and in which format.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};

use super::arguments::{GlobalArguments, InputArguments};
use super::exit::Failure;
use crate::export::atomic::write_file;
use crate::export::unit::TimeUnit;
use crate::report::analysis::Analysis;
use crate::report::document::Document;
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
    /// File to write, - for standard output; the format's extension is added where it is missing
    #[arg(short, long, value_name = "NAME")]
    pub output: Option<PathBuf>,
    /// Directory to write the file to, made where there is none; the file is named analysis unless -o names it
    #[arg(short = 'd', long = "dir", value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Unit of times in text and Markdown
    #[arg(long, value_enum, default_value_t)]
    pub unit: TimeUnit,
    /// Rows of each table, 0 for all [default: 10, 50 in pages]
    #[arg(long = "top-kernels", visible_alias = "top", value_name = "N")]
    pub top: Option<usize>,
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
}

impl DocumentFormat {
    /// The extension that names it.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Json => "json",
            Self::Markdown => "md",
            Self::Html => "html",
        }
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
        Self::value_variants().iter().copied().find(|format| format.extension() == extension)
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

    /// The file to write, which is named `stem` where only a directory is given; `None` for standard output.
    ///
    /// # Errors
    /// [`Failure::Usage`] when the file or its directory cannot be what was named, or when the file is an input.
    pub fn file(&self, input: &InputArguments, format: DocumentFormat, stem: &str) -> Result<Option<PathBuf>, Failure> {
        let refuse = |path: &Path, reason: &str| Err(Failure::Usage(format!("{} {reason}", path.display())));
        if self.output.as_ref().is_some_and(|output| output.as_os_str() == "-") {
            return match &self.directory {
                Some(directory) => refuse(directory, "takes no standard output; leave out -d, or name a file with -o"),
                None => Ok(None),
            };
        }
        let mut path = match (&self.directory, &self.output) {
            (None, None) => return Ok(None),
            (Some(directory), _) if directory.exists() && !directory.is_dir() => {
                return refuse(directory, "is no directory; name one with -d, or the file with -o");
            }
            (Some(_), Some(output)) if output.is_absolute() => {
                return refuse(output, "is absolute, which leaves -d nothing to say; leave -d out");
            }
            (Some(directory), output) => directory.join(output.as_deref().unwrap_or(Path::new(stem))),
            (None, Some(output)) => output.clone(),
        };
        if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return refuse(&path, "is a directory; name it with -d, or a file in it with -o");
        }
        if DocumentFormat::of_extension(&path) != Some(format) {
            path.as_mut_os_string().push(format!(".{}", format.extension()));
        }
        if path.is_dir() {
            return refuse(&path, "is a directory; name another file with -o");
        }
        let missing = |parent: &Path| !parent.as_os_str().is_empty() && !parent.is_dir();
        if self.directory.is_none() && path.parent().is_some_and(missing) {
            return refuse(&path, "is in a directory that does not exist; create it, or name it with -d");
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

    /// Writes what an analysis shows to a file.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_to(&self, analysis: &Analysis, format: DocumentFormat, path: &Path) -> anyhow::Result<()> {
        write_file(path, |out| self.write(&analysis.document, format, None, out))
    }

    /// Writes the document; for a terminal with its width and colours.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write(
        &self,
        document: &Document,
        format: DocumentFormat,
        terminal: Option<&GlobalArguments>,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        match format {
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
