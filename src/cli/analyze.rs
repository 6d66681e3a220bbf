//! `analyze INPUT…`: the guided analysis.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::arguments::{CacheArguments, GlobalArguments, InputArguments, Opening};
use super::exit::{DONE, EXCEEDED, Failure, NO_DATA, PARTIAL};
use super::filters::explain_unmatched;
use super::messages;
use crate::engine::{NameForm, Registry};
use crate::export::atomic::write_file;
use crate::export::unit::TimeUnit;
use crate::findings::{Priority, RuleBook, RuleBookError};
use crate::report::analysis::AnalysisOptions;
use crate::report::compat::rocinsight::{self, SchemaVersion};
use crate::report::document::{Document, Layout};
use crate::report::{html, json, markdown, text};

/// Columns of text where the terminal does not say.
const WIDTH: usize = 80;

/// Analyse traces: what costs time, what to do about it, what to collect next
#[derive(Args, Clone, Debug)]
#[command(after_help = "Exits with 4 when --fail-on names a priority and a finding has it or a higher one.

Examples:
  wavesieve analyze traces/
  wavesieve analyze traces/ --format json -o findings.json
  wavesieve analyze traces/ --format html -o report.html
  wavesieve analyze traces/ --set host_bound_idle.high_pct=40 --fail-on high")]
pub struct AnalyzeArguments {
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    cache: CacheArguments,
    /// Format of the document; without it the extension of -o chooses
    #[arg(short, long, value_enum, help_heading = "Output")]
    format: Option<DocumentFormat>,
    /// File to write, - for standard output; the format's extension is added where it is missing
    #[arg(short, long, value_name = "NAME", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Directory to write the file to, made where there is none; the file is named analysis unless -o names it
    #[arg(short = 'd', long = "dir", value_name = "DIR", help_heading = "Output")]
    directory: Option<PathBuf>,
    /// Unit of times in text and Markdown
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    unit: TimeUnit,
    /// Rows of each table, 0 for all [default: 10, 50 in pages]
    #[arg(long = "top-kernels", visible_alias = "top", value_name = "N", help_heading = "Output")]
    top: Option<usize>,
    /// Form of kernel names to show and group by
    #[arg(long, value_enum, default_value_t, help_heading = "Analysis")]
    name: NameForm,
    /// Set a threshold of a rule; may be given several times
    #[arg(long, value_name = "RULE.THRESHOLD=NUMBER", help_heading = "Analysis")]
    set: Vec<String>,
    /// Thresholds of rules: a TOML file with a table of numbers for each rule
    #[arg(long, value_name = "FILE", help_heading = "Analysis")]
    rules: Option<PathBuf>,
    /// Write the JSON document of another program instead
    #[arg(long, value_enum, value_name = "PROGRAM", help_heading = "Output")]
    json_compat: Option<JsonCompat>,
    /// What you want to know, in words; kept in documents that have a place for it
    #[arg(long, value_name = "TEXT", help_heading = "Analysis")]
    prompt: Option<String>,
    /// Exit with 4 when a finding has this priority or a higher one
    #[arg(long, value_enum, value_name = "PRIORITY", help_heading = "Analysis")]
    fail_on: Option<FailOn>,
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

/// JSON documents of other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum JsonCompat {
    /// rocinsight, in the version of its schema that has a place for all
    Rocinsight,
    /// rocinsight, schema 0.1.0
    #[value(name = "rocinsight-0.1.0")]
    Rocinsight010,
    /// rocinsight, schema 0.2.0
    #[value(name = "rocinsight-0.2.0")]
    Rocinsight020,
    /// rocinsight, schema 0.3.0
    #[value(name = "rocinsight-0.3.0")]
    Rocinsight030,
    /// rocinsight, schema 0.4.0
    #[value(name = "rocinsight-0.4.0")]
    Rocinsight040,
}

impl JsonCompat {
    /// The version; `None` for the one that fits.
    fn version(self) -> Option<SchemaVersion> {
        match self {
            Self::Rocinsight => None,
            Self::Rocinsight010 => Some(SchemaVersion::V010),
            Self::Rocinsight020 => Some(SchemaVersion::V020),
            Self::Rocinsight030 => Some(SchemaVersion::V030),
            Self::Rocinsight040 => Some(SchemaVersion::V040),
        }
    }
}

/// The least priority that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Only high
    High,
    /// High and medium
    Medium,
    /// All but what is only good to know
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

impl DocumentFormat {
    fn extension(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Json => "json",
            Self::Markdown => "md",
            Self::Html => "html",
        }
    }

    /// Rows of tables where none are asked for: a page shows ten of them until it is asked for more.
    fn rows(self) -> usize {
        if self == Self::Html { 50 } else { 10 }
    }

    fn has_charts(self) -> bool {
        self == Self::Html
    }

    fn of_extension(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_lowercase();
        Self::value_variants().iter().copied().find(|format| format.extension() == extension)
    }
}

impl AnalyzeArguments {
    fn format(&self) -> DocumentFormat {
        let by_name = || DocumentFormat::of_extension(self.output.as_ref()?);
        let by_compatibility = || self.json_compat.map(|_| DocumentFormat::Json);
        self.format.or_else(by_compatibility).or_else(by_name).unwrap_or_default()
    }

    /// The file to write; `None` for standard output.
    fn path(&self) -> Option<PathBuf> {
        let to_stdout = self.output.as_ref().is_some_and(|output| output.as_os_str() == "-");
        if to_stdout || self.output.is_none() && self.directory.is_none() {
            return None;
        }
        let name = self.output.clone().unwrap_or_else(|| PathBuf::from("analysis"));
        let mut path = self.directory.as_ref().map_or(name.clone(), |directory| directory.join(name));
        if DocumentFormat::of_extension(&path) != Some(self.format()) {
            path.as_mut_os_string().push(format!(".{}", self.format().extension()));
        }
        Some(path)
    }

    fn rule_book(&self) -> Result<RuleBook, Failure> {
        let usage = |error: RuleBookError| Failure::Usage(error.to_string());
        let mut book = RuleBook::builtin().map_err(anyhow::Error::from)?;
        if let Some(file) = &self.rules {
            let shown = file.display().to_string();
            let text = std::fs::read_to_string(file)
                .map_err(|error| Failure::Usage(format!("cannot read {shown}: {error}; name a readable file")))?;
            book = book.with_file(&shown, &text).map_err(usage)?;
        }
        self.set.iter().try_fold(book, |book, text| book.with_assignment(text)).map_err(usage)
    }
}

/// Runs the verb.
///
/// # Errors
/// When the inputs, the options or the output cannot be used.
pub fn run(arguments: &AnalyzeArguments, registry: &Registry, global: &GlobalArguments) -> Result<u8, Failure> {
    let format = arguments.format();
    let layout = Layout::builtin().map_err(anyhow::Error::from)?;
    let options = AnalysisOptions {
        registry: registry.clone(),
        rules: arguments.rule_book()?,
        layout: if format.has_charts() { layout } else { layout.without_charts() },
        name: arguments.name,
        rows: arguments.top.unwrap_or(format.rows()),
        questions: arguments.json_compat.map(|_| rocinsight::questions()).unwrap_or_default(),
        prompt: arguments.prompt.clone(),
    };
    if arguments.json_compat.is_some() && format != DocumentFormat::Json {
        return Err(Failure::Usage("--json-compat writes JSON; leave --format out or name json".to_owned()));
    }
    let path = arguments.path();
    if let Some(path) = path.as_ref().filter(|path| path.exists() && arguments.input.contain(path)) {
        let shown = path.display();
        return Err(Failure::Usage(format!("{shown} is an input, which is never written; name another file with -o")));
    }
    let trace = arguments.input.open(global, &Opening { cache: Some(&arguments.cache), ..Opening::default() })?;
    messages::warn(&trace, global);
    let analysis = trace.analyze(&options)?;
    let document = &analysis.document;
    let write = |terminal: Option<&GlobalArguments>, out: &mut dyn Write| match arguments.json_compat {
        Some(program) => {
            let value = rocinsight::value(&analysis, &trace, program.version(), options.rows);
            serde_json::to_writer_pretty(&mut *out, &value)?;
            Ok(writeln!(out)?)
        }
        None => write(document, arguments, terminal, out),
    };
    match &path {
        Some(path) => {
            if let Some(directory) = &arguments.directory {
                std::fs::create_dir_all(directory)?;
            }
            write_file(path, |out| write(None, out))?;
            if !global.quiet {
                messages::say(format_args!("wrote {}", path.display()));
            }
        }
        None => {
            let mut out = io::BufWriter::new(io::stdout().lock());
            write(Some(global), &mut out)?;
            out.flush()?;
        }
    }
    if messages::report_damage(&trace, global) {
        return Ok(PARTIAL);
    }
    if explain_unmatched(&trace, document.sections.is_empty(), global)? {
        return Ok(NO_DATA);
    }
    let fails = |least: FailOn| document.findings.iter().any(|finding| finding.priority <= least.priority());
    Ok(if arguments.fail_on.is_some_and(fails) { EXCEEDED } else { DONE })
}

/// Writes the document; for a terminal with its width and colours.
fn write(
    document: &Document,
    arguments: &AnalyzeArguments,
    terminal: Option<&GlobalArguments>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    match arguments.format() {
        DocumentFormat::Json => json::write(document, out),
        DocumentFormat::Html => html::write(document, out),
        DocumentFormat::Markdown => markdown::write(document, arguments.unit, out),
        DocumentFormat::Text => {
            let of_terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
            let width = terminal.filter(|_| io::stdout().is_terminal()).and_then(|_| of_terminal()).unwrap_or(WIDTH);
            let color = terminal.is_some_and(GlobalArguments::color);
            text::write(document, text::TextStyle { width, color, unit: arguments.unit }, out)
        }
    }
}
