//! Documents of the guided analysis.

use std::io::Write;

use super::error::Error;
use super::trace::Trace;
use wavesieve_export::unit::TimeUnit;
use wavesieve_report::analysis::AnalysisOptions;
use wavesieve_report::{html, json, markdown};

/// Formats of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentFormat {
    /// One HTML file that loads nothing, with charts.
    Html,
    /// Markdown.
    Markdown,
    /// JSON; `wavesieve schema document` prints its JSON Schema.
    Json,
}

impl Trace {
    /// Writes the document of `wavesieve analyze`: figures, findings and tables.
    ///
    /// ```
    /// use wavesieve::{DocumentFormat, Trace};
    ///
    /// let mut page = Vec::new();
    /// Trace::open(["fixtures/two_nodes"])?.write_document(DocumentFormat::Html, &mut page)?;
    /// assert!(page.starts_with(b"<!"));
    /// # Ok::<(), wavesieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Failed`] if a table cannot be read, or writing fails.
    pub fn write_document(&self, format: DocumentFormat, out: &mut dyn Write) -> Result<(), Error> {
        let with_timeline = matches!(format, DocumentFormat::Html);
        let options =
            AnalysisOptions { registry: self.registry().clone(), with_timeline, ..AnalysisOptions::builtin()? };
        let document = options.analyze(self.filtered()?)?.document;
        Ok(match format {
            DocumentFormat::Html => html::write(&document, out),
            DocumentFormat::Markdown => markdown::write(&document, TimeUnit::default(), out),
            DocumentFormat::Json => json::write(&document, out),
        }?)
    }
}
