//! `analyze INPUT…`: the guided analysis.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::arguments::{CacheArguments, GlobalArguments, InputArguments, Opening};
use super::document_output::{DocumentFormat, DocumentOutput};
use super::exit::{DONE, EXCEEDED, Failure, NO_DATA, PARTIAL};
use super::filters::explain_unmatched;
use super::messages;
use crate::engine::{NameForm, Registry};
use crate::export::atomic::write_file;
use crate::findings::{Priority, RuleBook, RuleBookError};
use crate::report::analysis::AnalysisOptions;
use crate::report::compat::rocinsight::{self, SchemaVersion};
use crate::report::document::Layout;

/// Name of the file where only its directory is given.
const STEM: &str = "analysis";

/// Analyse traces: what costs time, what to do about it, what to collect next
#[derive(Args, Clone, Debug)]
#[command(after_help = "Exits with 4 when --fail-on names a priority and a finding has it or a higher one.

Examples:
  wavesieve analyze traces/
  wavesieve analyze traces/ --format html -o report.html
  wavesieve analyze traces/ -o report.xlsx --kernel-details
  wavesieve analyze traces/ --set host_bound_idle.high_pct=40 --fail-on high")]
pub struct AnalyzeArguments {
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    cache: CacheArguments,
    #[command(flatten)]
    output: DocumentOutput,
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

impl AnalyzeArguments {
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
    let output = &arguments.output;
    let by_compatibility = arguments.json_compat.map(|_| DocumentFormat::Json);
    let format = output.format.or(by_compatibility).or(output.format()).unwrap_or_default();
    let layout = Layout::builtin().map_err(anyhow::Error::from)?;
    let of_compatibility = arguments.json_compat.map(|_| rocinsight::questions()).unwrap_or_default();
    let options = AnalysisOptions {
        registry: registry.clone(),
        rules: arguments.rule_book()?,
        layout: if format.has_charts() { layout } else { layout.without_charts() },
        name: arguments.name,
        rows: output.rows(format),
        questions: [of_compatibility, output.questions(format)?].concat(),
        prompt: arguments.prompt.clone(),
    };
    if arguments.json_compat.is_some() && format != DocumentFormat::Json {
        return Err(Failure::Usage("--json-compat writes JSON; leave --format out or name json".to_owned()));
    }
    let path = output.file(&arguments.input, format, STEM)?;
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
        None => output.write(&analysis, format, terminal, out),
    };
    match &path {
        Some(path) => {
            output.make_directory(path)?;
            match arguments.json_compat {
                Some(_) => write_file(path, |out| write(None, out))?,
                None => output.write_to(&analysis, format, path)?,
            }
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
