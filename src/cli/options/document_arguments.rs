//! Options of commands that present an analysis, and their exit codes.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::filters::{print_partly_unmatched, print_unmatched};
use super::global::GlobalArguments;
use super::input::InputArguments;
use super::plot;
use super::plot::{CHART_FORMATS, ChartFormat};
use crate::cli::commands::scan::conclude;
use crate::cli::exit::{DONE, EXCEEDED, Failure, NO_DATA, PARTIAL, refuse};
use crate::cli::output::document_output::{DocumentFormat, DocumentOutput};
use crate::cli::output::messages::{self, note};
use wavesieve_engine::findings::{Finding, Priority, RuleBook};
use wavesieve_engine::{NameForm, Registry};
use wavesieve_export::target::resolved;
use wavesieve_report::analysis::{Analysis, AnalysisOptions};
use wavesieve_report::document::{Block, Document, Layout, chart_name};
use wavesieve_tables::trace::Trace;

/// Options of commands that present an analysis.
#[derive(Args, Clone, Debug)]
pub(crate) struct DocumentArguments {
    /// Form of kernel names to show and group by; `readable` groups by full names, which files have
    #[arg(long, value_enum, default_value = "readable", help_heading = "Analysis")]
    name: NameForm,
    /// Set a rule threshold; repeatable
    #[arg(long, value_name = "RULE.THRESHOLD=NUMBER", help_heading = "Analysis")]
    set: Vec<String>,
    /// Rule thresholds: a TOML file with a table of numbers for each rule
    #[arg(long, value_name = "FILE", help_heading = "Analysis")]
    rules: Option<PathBuf>,
    /// Exit with 4 if a finding has this priority or a higher one
    ///
    /// Standard error names it.
    #[arg(long, value_enum, value_name = "PRIORITY", help_heading = "Analysis")]
    fail_on: Option<FailOn>,
    /// Analyze the whole run with warm-up and pauses, even if it has a steady part
    #[arg(long, help_heading = "Analysis")]
    whole_run: bool,
    /// Document title
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    title: Option<String>,
    /// Show only these sections, such as time,hotspots
    ///
    /// Sheets of TraceLens have separate options.
    #[arg(long, value_name = "SECTION,…", value_delimiter = ',', help_heading = "Output")]
    sections: Vec<String>,
    /// Omit these sections
    #[arg(long, value_name = "SECTION,…", value_delimiter = ',', help_heading = "Output")]
    without: Vec<String>,
    /// Also write the charts into this directory, for any format
    ///
    /// Their files are SECTION-QUERY.svg and .png.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub charts: Option<PathBuf>,
    /// Formats of the charts
    #[arg(long, value_enum, value_delimiter = ',', default_value = CHART_FORMATS, value_name = "FORMAT,…", help_heading = "Output")]
    pub chart_format: Vec<ChartFormat>,
}

/// The least priority that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Only high
    High,
    /// High and medium
    Medium,
    /// All but informational
    Low,
    /// Any
    Info,
}

impl FailOn {
    fn priority(self) -> Priority {
        match self {
            Self::High => Priority::High,
            Self::Medium => Priority::Medium,
            Self::Low => Priority::Low,
            Self::Info => Priority::Info,
        }
    }
}

impl DocumentArguments {
    pub(crate) fn options(
        &self,
        registry: &Registry,
        output: &DocumentOutput,
        format: DocumentFormat,
    ) -> Result<AnalysisOptions, Failure> {
        let threshold_us = output.tracelens.short_threshold_us().to_string();
        let layout = self.layout()?.with("threshold_us", &threshold_us);
        let has_charts = format.has_charts() || self.charts.is_some();
        Ok(AnalysisOptions {
            registry: registry.clone(),
            rules: self.rule_book()?,
            layout: if has_charts { layout } else { layout.without_charts() },
            name: self.name,
            rows: output.rows(format),
            questions: output.questions(format)?,
            prompt: None,
            title: self.title.clone().filter(|title| !title.trim().is_empty()),
            whole_run: self.whole_run,
            with_timeline: format.has_charts(),
            rocm: None,
        })
    }

    /// Prints the findings that match `--fail-on`, after the name of their run if there are several. Returns whether
    /// there are any.
    pub(crate) fn print_failed(&self, document: &Document, run: Option<&str>, global: &GlobalArguments) -> bool {
        let Some(least) = self.fail_on.map(FailOn::priority) else { return false };
        let of_run = run.map(|run| format!("{run}: ")).unwrap_or_default();
        let failed = document.with_titles(|finding| finding.priority <= least).into_iter();
        let line = |(finding, title): (&Finding, String)| {
            format!("failed: {of_run}{} ({}): {title}", finding.id, finding.priority.word())
        };
        let lines: Vec<String> = failed.map(line).collect();
        messages::print_notes(&lines, "failed: ", global);
        !lines.is_empty()
    }

    /// The directory for the charts of a run, or of the only document.
    pub(crate) fn charts_of(&self, run: Option<&str>) -> Option<PathBuf> {
        let directory = self.charts.as_ref()?;
        Some(run.map_or_else(|| directory.clone(), |run| directory.join(run)))
    }

    /// Rejects a charts directory, or the subdirectories of these runs, if it cannot be a directory, is an input, holds
    /// foreign files with the same names, or lies in an output that is replaced as a whole.
    pub(crate) fn check_charts<'a>(
        &self,
        layout: &Layout,
        input: &InputArguments,
        written: impl Iterator<Item = &'a Path>,
        runs: &[Option<&str>],
    ) -> Result<(), Failure> {
        let Some(directory) = &self.charts else { return Ok(()) };
        plot::check_directory(directory, input)?;
        let names = layout.chart_names();
        let written: Vec<(PathBuf, &Path)> = written.map(|path| (resolved(path), path)).collect();
        for directory in runs.iter().filter_map(|run| self.charts_of(*run)) {
            plot::check_names(&directory, &names, &self.chart_format)?;
            let place = resolved(&directory);
            if let Some((_, path)) = written.iter().find(|(whole, _)| place.starts_with(whole)) {
                refuse!(
                    "{} lies in {}, which is written as a whole; name another directory with --charts",
                    directory.display(),
                    path.display()
                );
            }
        }
        Ok(())
    }

    /// Writes the requested charts into the directory, or a subdirectory named after the run, and reports where.
    /// Removes the charts from a document whose format does not support them.
    pub(crate) fn take_charts(
        &self,
        document: &mut Document,
        format: DocumentFormat,
        run: Option<&str>,
        global: &GlobalArguments,
    ) -> Result<(), Failure> {
        let Some(directory) = self.charts_of(run) else { return Ok(()) };
        let written = write_charts(document, &directory, &self.chart_format)?;
        global.outbox.add(&directory);
        if !format.has_charts() {
            document.drop_charts();
        }
        note!(global, "wrote {written} charts to {}", directory.display());
        Ok(())
    }

    /// The exit code after the document is written. Reports missing data.
    pub(crate) fn end(
        &self,
        trace: Option<&Trace>,
        analysis: &Analysis,
        global: &GlobalArguments,
    ) -> Result<u8, Failure> {
        let of_source = analysis.source.as_ref().map_or(DONE, conclude);
        if let Some(trace) = trace {
            print_partly_unmatched(trace, global);
        }
        let has_failed = self.print_failed(&analysis.document, None, global);
        let is_damaged = trace.is_some_and(|trace| messages::report_damage(trace, global));
        let is_partial = is_damaged || of_source == PARTIAL;
        let is_unmatched = match trace {
            _ if is_partial => false,
            None => of_source == NO_DATA,
            Some(trace) => print_unmatched(trace, &analysis.unmatched, analysis.is_empty, global),
        };
        Ok(match (has_failed, is_partial, is_unmatched) {
            (true, _, _) => EXCEEDED,
            (false, true, _) => PARTIAL,
            (false, false, true) => NO_DATA,
            (false, false, false) => DONE,
        })
    }

    fn layout(&self) -> Result<Layout, Failure> {
        let named = |ids: &[String]| -> Vec<String> { ids.iter().filter(|id| !id.is_empty()).cloned().collect() };
        let (mut sections, without) = (named(&self.sections), named(&self.without));
        let layout = Layout::builtin().map_err(anyhow::Error::from)?;
        layout.know(&sections).map_err(|error| Failure::Usage(format!("--sections {error}")))?;
        let layout = layout.without(&without).map_err(|error| Failure::Usage(format!("--without {error}")))?;
        if sections.is_empty() {
            return Ok(layout);
        }
        let asked = sections.join(",");
        sections.retain(|id| !without.contains(id));
        if sections.is_empty() {
            let reason = format!("--without {} leaves nothing of --sections {asked}", without.join(","));
            refuse!("{reason}; name a section in one of them only");
        }
        layout.only(&sections).map_err(|error| Failure::Usage(format!("--sections {error}")))
    }

    fn rule_book(&self) -> Result<RuleBook, Failure> {
        let mut book = RuleBook::builtin().map_err(anyhow::Error::from)?;
        if let Some(file) = &self.rules {
            let shown = file.display().to_string();
            let text = std::fs::read_to_string(file)
                .map_err(|error| Failure::Usage(format!("cannot read {shown}: {error}; name a readable file")))?;
            book = book.with_file(&shown, &text).map_err(Failure::usage)?;
        }
        self.set.iter().try_fold(book, |book, text| book.with_assignment(text)).map_err(Failure::usage)
    }
}

/// Writes the charts of a document into a directory; returns their number.
pub(crate) fn write_charts(document: &Document, directory: &Path, formats: &[ChartFormat]) -> Result<usize, Failure> {
    let mut written = 0;
    for section in &document.sections {
        for block in &section.blocks {
            let Block::Chart(drawn) = block else { continue };
            plot::write_chart(&drawn.chart, directory, &chart_name(&section.id, &drawn.id), formats)?;
            written += 1;
        }
    }
    Ok(written)
}
