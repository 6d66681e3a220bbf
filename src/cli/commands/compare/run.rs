//! `compare BASE NEW`: what changed between two runs or two sets of runs.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use regex::Regex;

use super::runs::{NamedRun, ReadRuns, RunReader};
use crate::cli::exit::{DONE, EXCEEDED, Failure, NO_DATA, PARTIAL, UNDECIDED, refuse};
use crate::cli::options::csv::CsvArguments;
use crate::cli::options::document_arguments::write_charts;
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::input::{CacheArguments, InputArguments};
use crate::cli::options::plot;
use crate::cli::options::plot::{CHART_FORMATS, ChartFormat};
use crate::cli::output::delivery::{check_file, deliver, format_of, print_written, write_json};
use crate::cli::output::messages::note;
use crate::cli::output::{messages, pdf};
use crate::invocation;
use wavesieve_export::atomic::{write_directory, write_file};
use wavesieve_export::delimited;
use wavesieve_export::delimited::Formulas;
use wavesieve_export::parquet::file as parquet_file;
use wavesieve_export::target::is_same_file;
use wavesieve_model::analysis::counter_plan::quoted;
use wavesieve_report::compare::{
    Allowed, BasisChoice, CompareOptions, Comparison, Frame, GateRule, MatchLevel, PathChoice, Side, apply_gates,
    compare_by_steps, document, frames, history, history_document, sheets, write_digest, write_history, write_markdown,
    write_text,
};
use wavesieve_report::document::Document;
use wavesieve_report::timeline::{Timeline, TimelineInputs, compared};
use wavesieve_report::{html, xlsx};

/// Compare two runs, or two sets of runs
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "BASE and NEW are files, directories or digests; several runs a side are named with --base and --new. Times are per steady iteration if both
sides have at least three, otherwise per run. A kernel is slower or faster only if the change exceeds --effect and what two runs differ
by when nothing changed.

Exits with 4 if a rule of --fail-on failed, and with 7 if one cannot be decided.

Examples:
  wavesieve compare fixtures/two_nodes fixtures/two_nodes
  wavesieve compare fixtures/two_nodes fixtures/two_nodes --fail-on slower:5 -f markdown
  wavesieve compare fixtures/two_nodes fixtures/two_nodes --save base.wsd
  wavesieve compare --base fixtures/two_nodes --new fixtures/two_nodes -f json -o comparison.json"
)]
pub(crate) struct CompareArguments {
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    cache: CacheArguments,
    /// Runs of the base side, in place of BASE
    #[arg(long, value_name = "INPUT", num_args = 1.., requires = "new", help_heading = "Sides")]
    base: Vec<String>,
    /// Runs of the new side, in place of NEW
    #[arg(long, value_name = "INPUT", num_args = 1.., requires = "base", help_heading = "Sides")]
    new: Vec<String>,
    /// Runs or digests in order of time, in place of two sides: their times, and the first run from which a change holds
    #[arg(long, value_name = "INPUT", num_args = 1.., conflicts_with_all = ["base", "new", "save", "fail_on"], help_heading = "Sides")]
    history: Vec<String>,
    /// Groups files into runs: by the first group (or the whole match) of this regular expression in their paths. By default each
    /// input is a run
    #[arg(long, value_name = "REGEX", help_heading = "Sides")]
    runs_by: Option<Regex>,
    /// Unit of all times: auto, iteration, run or range:NAME, the GPU work of each ROCTx range with this name or path; * at its end is a number
    #[arg(long, default_value = "auto", value_name = "BASIS", help_heading = "Comparison")]
    basis: BasisChoice,
    /// How kernels of the two sides are matched
    #[arg(long = "match", value_enum, default_value_t, value_name = "LEVEL", help_heading = "Comparison")]
    level: LevelChoice,
    /// Smallest relevant change, in percent
    #[arg(long, default_value = "3", value_parser = percent, value_name = "PCT", help_heading = "Comparison")]
    effect: f64,
    /// Assumed noise between two runs, in percent [default: 1, on other GPUs 2]
    #[arg(long, value_parser = percent, value_name = "PCT", help_heading = "Comparison")]
    noise_floor: Option<f64>,
    /// Probability of any false alarm among all kernels
    #[arg(long, default_value = "0.01", value_parser = probability, value_name = "P", help_heading = "Comparison")]
    alpha: f64,
    /// Share of the kernel time from which a kernel is tested, in percent
    #[arg(long, default_value = "0.2", value_parser = percent, value_name = "PCT", help_heading = "Comparison")]
    least_share: f64,
    /// When to compare the critical paths too, which takes about as long as everything else
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", help_heading = "Comparison")]
    path: PathWhen,
    /// Compare despite this difference
    #[arg(long, value_enum, value_name = "DIFFERENCE", help_heading = "Comparison")]
    allow: Vec<AllowChoice>,
    /// Fail with exit code 4 on slower[:PCT], span[:PCT], counter:NAME[:PCT], new, gone or unclear; repeatable
    #[arg(long, value_name = "RULE", help_heading = "Comparison")]
    fail_on: Vec<GateRule>,
    /// Save the digest of the new side, which can be compared in place of its trace
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    save: Option<PathBuf>,
    /// Output format
    #[arg(short, long, value_enum, help_heading = "Output")]
    format: Option<CompareFormat>,
    #[command(flatten)]
    csv: CsvArguments,
    /// Output file, - for standard output; of csv and parquet a directory. Without -f its extension selects the format
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Also write the charts of the page as .svg and .png into this directory, for any format
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    charts: Option<PathBuf>,
    /// Formats of the charts
    #[arg(long, value_enum, value_delimiter = ',', default_value = CHART_FORMATS, value_name = "FORMAT,…", help_heading = "Output")]
    chart_format: Vec<ChartFormat>,
    /// Name in the marker of Markdown, by which a comment is found and updated
    #[arg(long, default_value = "default", value_name = "NAME", help_heading = "Output")]
    name: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum LevelChoice {
    /// Full names only
    Exact,
    /// Also kernels of the same family, such as other tiles of a GEMM
    Family,
    /// Also what stands in the same place of a typical iteration, such as a fused kernel
    #[default]
    Place,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum PathWhen {
    /// For runs of up to a million dispatches
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AllowChoice {
    /// Different architectures
    Arch,
}

/// Format of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum CompareFormat {
    /// Verdict, checks, where the span changed, and changed kernels
    #[default]
    Text,
    /// All figures (`wavesieve schema compare`)
    Json,
    /// Comment for a merge request
    Markdown,
    /// Page for browsers: one file that needs no network
    Html,
    /// The page, printed by a browser that is installed
    Pdf,
    /// Workbook with a sheet for each array of the JSON
    Xlsx,
    /// Directory with a CSV file for each array of the JSON
    Csv,
    /// Directory with a Parquet file for each array of the JSON
    Parquet,
}

const EXTENSIONS: [(&str, CompareFormat); 7] = [
    ("txt", CompareFormat::Text),
    ("json", CompareFormat::Json),
    ("html", CompareFormat::Html),
    ("pdf", CompareFormat::Pdf),
    ("xlsx", CompareFormat::Xlsx),
    ("md", CompareFormat::Markdown),
    ("markdown", CompareFormat::Markdown),
];

fn percent(text: &str) -> Result<f64, &'static str> {
    let number = text.trim_end_matches('%').parse::<f64>().ok();
    number.filter(|pct| (0.0..1e6).contains(pct)).ok_or("give a percentage from 0")
}

fn probability(text: &str) -> Result<f64, &'static str> {
    text.parse::<f64>().ok().filter(|p| *p > 0.0 && *p < 1.0).ok_or("give a number between 0 and 1")
}

pub(crate) fn run(arguments: &CompareArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let format = arguments.format()?;
    if !arguments.history.is_empty() {
        return arguments.write_history(format, global);
    }
    let (base, new) = arguments.sides()?;
    arguments.check_outputs(format, &base, &new)?;
    let is_page = matches!(format, CompareFormat::Html | CompareFormat::Pdf);
    let reader = RunReader { with_timeline: is_page, ..arguments.reader(global) };
    let (runs_of_base, runs_of_new) = (reader.runs("base", &base)?, reader.runs("new", &new)?);
    let count = runs_of_base.len();
    // Commands about kernels take traces.
    let [words_of_base, words_of_new] = [(&runs_of_base, &base), (&runs_of_new, &new)].map(|(runs, inputs)| {
        let is_saved = runs.first().is_some_and(NamedRun::is_saved);
        if is_saved { Vec::new() } else { inputs.clone() }
    });
    let ReadRuns { digests: mut runs, base: base_line, new: new_line, is_damaged } =
        reader.read(runs_of_base.into_iter().chain(runs_of_new).collect())?;
    let (new_side, repeated_of_new) = Side::of_distinct(runs.split_off(count));
    let (base_side, repeated_of_base) = Side::of_distinct(runs);
    for (name, repeated) in [("base", repeated_of_base), ("new", repeated_of_new)] {
        for sentence in &repeated {
            note!(global, "warning: {name} side: {sentence}");
        }
    }
    if base == new {
        note!(global, "note: both sides are the same input");
    }
    for (name, side) in [("base", &base_side), ("new", &new_side)] {
        if side.gpus().next().is_none() {
            messages::print_note(format_args!("no data: the {name} side has no GPU work"));
            return Ok(if is_damaged { PARTIAL } else { NO_DATA });
        }
    }
    if let (Some(path), [only]) = (&arguments.save, new_side.runs.as_slice()) {
        write_file(path, |out| write_digest(only, out))?;
        print_written(path, global);
    }
    let again = |step: &str| arguments.read_by_step(step, &base, &new, global);
    let mut comparison = compare_by_steps(&base_side, &new_side, &arguments.options(), again)?;
    comparison.gate = apply_gates(&arguments.fail_on, &comparison);
    arguments.write_charts(|| document(&comparison), global)?;
    let drawn = base_line.zip(new_line).map(|(base_line, new_line)| {
        let picture = compared(base_line, new_line, &comparison.matched_names(), &comparison.readable_names())?;
        Ok::<_, anyhow::Error>(Timeline { picture, inputs: TimelineInputs::sides(&words_of_base, &words_of_new) })
    });
    arguments.deliver(&comparison, drawn.transpose()?, format, global)?;
    for (word, results) in [("failed", &comparison.gate.failed), ("undecided", &comparison.gate.undecided)] {
        for result in results.iter().filter(|_| format != CompareFormat::Text || arguments.output_path().is_some()) {
            messages::print_note(format_args!("{word}: {}: {}", result.rule, result.reason));
        }
    }
    Ok(match (comparison.gate.failed.is_empty(), comparison.gate.undecided.is_empty(), is_damaged) {
        (false, _, _) => EXCEEDED,
        (true, false, _) => UNDECIDED,
        (true, true, true) => PARTIAL,
        (true, true, false) => DONE,
    })
}

impl CompareArguments {
    fn output_path(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| path.as_os_str() != "-")
    }

    fn format(&self) -> Result<CompareFormat, Failure> {
        format_of(self.format, self.output_path(), CompareFormat::Text, "comparisons", &EXTENSIONS)
    }

    fn sides(&self) -> Result<(Vec<String>, Vec<String>), Failure> {
        if !self.base.is_empty() {
            if !self.input.is_empty() {
                refuse!("name the sides with BASE and NEW, or with --base and --new");
            }
            return Ok((self.base.clone(), self.new.clone()));
        }
        match self.input.named()?.as_slice() {
            [base, new] => Ok((vec![base.clone()], vec![new.clone()])),
            [_] => refuse!("one input; name two, BASE and NEW"),
            more => {
                refuse!("{} inputs; name two, or several a side with --base and --new", more.len())
            }
        }
    }

    /// Rejects outputs that cannot be written, before anything is read.
    fn check_outputs(&self, format: CompareFormat, base: &[String], new: &[String]) -> Result<(), Failure> {
        let inputs = self.input.with_inputs(base.iter().chain(new).cloned().collect());
        let is_folder = matches!(format, CompareFormat::Csv | CompareFormat::Parquet);
        if is_folder && self.output_path().is_none() {
            refuse!("csv and parquet are directories; name one with -o");
        }
        if matches!(format, CompareFormat::Xlsx | CompareFormat::Pdf)
            && self.output_path().is_none()
            && invocation::is_stdout_terminal()
        {
            refuse!("a workbook does not go to a terminal; name a file with -o");
        }
        if self.save.is_some() && (new.len() > 1 || self.runs_by.is_some()) {
            refuse!("--save takes one run; leave out --runs-by and name one input as NEW");
        }
        if self.save.as_deref().is_some_and(|save| save.as_os_str() == "-") {
            refuse!("--save takes a file; name one that ends in .wsd");
        }
        if let (Some(output), Some(save)) = (self.output_path(), self.save.as_deref())
            && is_same_file(output, save)
        {
            let shown = save.display();
            refuse!("--save and -o are the same, {shown}; name two files");
        }
        for path in self.output_path().filter(|_| !is_folder).into_iter().chain(self.save.as_deref()) {
            if path.exists() && inputs.contain(path) {
                let shown = path.display();
                refuse!("{shown} is an input, which is never written; name another file");
            }
            check_file(path)?;
        }
        if let Some(directory) = &self.charts {
            plot::check_directory(directory, &inputs)?;
        }
        if let Some(path) = self.output_path().filter(|path| is_folder && inputs.contain(path)) {
            refuse!("{} is an input, which is never written; name another directory", path.display());
        }
        Ok(())
    }

    fn options(&self) -> CompareOptions {
        CompareOptions {
            basis: self.basis.clone(),
            level: match self.level {
                LevelChoice::Exact => MatchLevel::Exact,
                LevelChoice::Family => MatchLevel::Family,
                LevelChoice::Place => MatchLevel::Place,
            },
            effect: self.effect / 100.0,
            noise_floor: self.noise_floor.map(|pct| pct / 100.0),
            alpha: self.alpha,
            least_share: self.least_share / 100.0,
            allowed: Allowed { architectures: self.allow.contains(&AllowChoice::Arch) },
        }
    }

    fn reader<'a>(&'a self, global: &'a GlobalArguments) -> RunReader<'a> {
        let (runs_by, range) = (self.runs_by.as_ref(), self.basis.range());
        let path = match self.path {
            PathWhen::Auto => PathChoice::Auto,
            PathWhen::Always => PathChoice::Always,
            PathWhen::Never => PathChoice::Never,
        };
        RunReader { input: &self.input, cache: &self.cache, runs_by, range, path, with_timeline: false, global }
    }

    /// Reads both sides again, with named ranges in place of iterations; `None` if a run is saved, because it cannot be
    /// divided by them.
    fn read_by_step(
        &self,
        step: &str,
        base: &[String],
        new: &[String],
        global: &GlobalArguments,
    ) -> Result<Option<(Side, Side)>, Failure> {
        // Notes about the inputs were printed already.
        let mut quiet = global.clone();
        quiet.quiet = true;
        let reader = RunReader { range: Some(step), ..self.reader(&quiet) };
        let (runs_of_base, runs_of_new) = (reader.runs("base", base)?, reader.runs("new", new)?);
        if runs_of_base.iter().chain(&runs_of_new).any(NamedRun::is_saved) {
            return Ok(None);
        }
        let count = runs_of_base.len();
        let mut runs = reader.read(runs_of_base.into_iter().chain(runs_of_new).collect())?.digests;
        let (new, _) = Side::of_distinct(runs.split_off(count));
        Ok(Some((Side::of_distinct(runs).0, new)))
    }

    /// Writes the history of runs in order of time.
    fn write_history(&self, format: CompareFormat, global: &GlobalArguments) -> Result<u8, Failure> {
        if !self.input.is_empty() {
            refuse!("--history names all runs; leave out other inputs");
        }
        if !matches!(format, CompareFormat::Text | CompareFormat::Json | CompareFormat::Html) {
            refuse!("a history is text, json or html; choose one with -f");
        }
        self.check_outputs(format, &self.history, &[])?;
        let reader = self.reader(global);
        // Saved and other runs keep their positions.
        let mut named = Vec::new();
        for input in &self.history {
            named.extend(reader.runs("history", std::slice::from_ref(input))?);
        }
        let ReadRuns { digests: runs, is_damaged, .. } = reader.read(named)?;
        if runs.len() < 2 {
            refuse!("a history of one run; name two or more");
        }
        if let Some(empty) = runs.iter().find(|run| run.gpus.is_empty()) {
            messages::print_note(format_args!("no data: {} has no GPU work", empty.facts.inputs.join(" ")));
            return Ok(if is_damaged { PARTIAL } else { NO_DATA });
        }
        let found = history(&runs, &self.options());
        self.write_charts(|| history_document(&found), global)?;
        deliver(self.output_path(), global, |_, out| match format {
            CompareFormat::Json => write_json(&found, out),
            CompareFormat::Html => html::write(&history_document(&found)?, out),
            CompareFormat::Pdf => pdf::write(&history_document(&found)?, out),
            _ => write_history(&found, out),
        })?;
        Ok(if is_damaged { PARTIAL } else { DONE })
    }

    fn write_charts(
        &self,
        document: impl Fn() -> anyhow::Result<Document>,
        global: &GlobalArguments,
    ) -> Result<(), Failure> {
        let Some(directory) = &self.charts else { return Ok(()) };
        let document = document()?;
        let names: Vec<String> = document.chart_names();
        plot::check_names(directory, &names, &self.chart_format)?;
        let written = write_charts(&document, directory, &self.chart_format)?;
        global.outbox.add(directory);
        note!(global, "wrote {written} charts to {}", directory.display());
        Ok(())
    }

    fn deliver(
        &self,
        comparison: &Comparison,
        timeline: Option<Timeline>,
        format: CompareFormat,
        global: &GlobalArguments,
    ) -> Result<(), Failure> {
        let page = || Ok::<_, anyhow::Error>(Document { timeline: timeline.clone(), ..document(comparison)? });
        match format {
            CompareFormat::Csv | CompareFormat::Parquet => {
                let Some(path) = self.output_path() else { return Ok(()) };
                let frames = frames(comparison)?;
                write_directory(path, |directory| {
                    frames.iter().try_for_each(|table| write_table(table, directory, format, self.csv.formulas()))
                })?;
                print_written(path, global);
                Ok(())
            }
            _ => deliver(self.output_path(), global, |_, out| match format {
                CompareFormat::Json => write_json(comparison, out),
                CompareFormat::Html => html::write(&page()?, out),
                CompareFormat::Pdf => pdf::write(&page()?, out),
                CompareFormat::Xlsx => {
                    xlsx::write_tables("Comparison of two runs", env!("CARGO_PKG_VERSION"), &sheets(comparison)?, out)
                }
                CompareFormat::Markdown => write_markdown(comparison, &self.name, &command_line(), out),
                _ => write_text(comparison, out),
            }),
        }
    }
}

/// The repeatable command line, without its outputs.
fn command_line() -> String {
    let mut line = "wavesieve".to_owned();
    let mut words = invocation::arguments();
    while let Some(word) = words.next() {
        if OUTPUTS.contains(&word.as_str()) {
            words.next();
        } else if !is_output(&word) {
            line.push_str(&format!(" {}", quoted(&word)));
        }
    }
    line
}

/// Returns whether a word is an option that names an output, with its value.
fn is_output(word: &str) -> bool {
    let names = |output: &str| {
        let rest = word.strip_prefix(output);
        // A short option needs no separator.
        rest.is_some_and(|rest| rest.starts_with('=') || !output.starts_with("--") && !rest.is_empty())
    };
    OUTPUTS.iter().any(|output| names(output))
}

/// Options that name outputs.
const OUTPUTS: [&str; 4] = ["-o", "--output", "--save", "--charts"];

fn write_table(table: &Frame, directory: &Path, format: CompareFormat, formulas: Formulas) -> anyhow::Result<()> {
    if format == CompareFormat::Parquet {
        let path = directory.join(format!("{}.parquet", table.name));
        let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        return parquet_file::write_frame(&table.frame, &mut BufWriter::new(file));
    }
    write_file(&directory.join(format!("{}.csv", table.name)), |out| {
        delimited::write(&table.frame, b',', formulas, out)
    })
}
