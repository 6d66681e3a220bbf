//! `lab autotune`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use regex::Regex;

use super::files::{Named, check_apart};
use super::minutes::minutes;
use crate::cli::exit::{DONE, Failure, NO_DATA, PARTIAL, refuse};
use crate::cli::options::csv::CsvArguments;
use crate::cli::options::global::GlobalArguments;
use crate::cli::output::delivery::{check_file, deliver, extension_of, format_of, print_written, write_json};
use crate::cli::output::messages::{detail, note, print, print_note};
use wavesieve_export::atomic::write_file;
use wavesieve_lab::autotune::{
    AutotuneError, Document, History, Objective, Outcome, Parts, Program, Search, Settings, Space, State, Stopped,
    Subject, Template, chart, read_space, short, space_of_parameters, text, tune, write_csv,
};
use wavesieve_lab::interactive::face::Interruptions;
use wavesieve_lab::interactive::programs::words_of_line;
use wavesieve_model::analysis::counter_plan::quoted;
use wavesieve_report::charts::Layout;

/// Maximum number of commands in a plan.
const SHOWN_COMMANDS: usize = 5;

/// A measured value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Measure {
    /// Time from the start of the command to its end
    #[default]
    Wall,
    /// Total time of a kernel, under rocprofv3: the one that takes most, or those that --kernel names
    Kernel,
    /// Number in the output that --pattern finds
    Printed,
}

/// Unit of a printed time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PrintedUnit {
    Ns,
    Us,
    Ms,
    S,
}

impl PrintedUnit {
    /// The factor to ms.
    fn factor(self) -> f64 {
        match self {
            Self::Ns => 1e-6,
            Self::Us => 1e-3,
            Self::Ms => 1.0,
            Self::S => 1e3,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ResultFormat {
    /// The best, how certain it is, and a table
    Text,
    /// All of it, as `share/schemas/lab_autotune.json` describes
    Json,
    /// The table
    Csv,
}

#[derive(Args, Clone, Debug)]
#[command(
    after_help = "A space is a JSON or TOML file: a list of configurations, or `parameters` with values or ranges ({from, to, step} or {from, to, times}) and `constraints` such as \"BLOCK_M * BLOCK_N <= 16384\". `{NAME}` in the command becomes a value; commands run without a shell.
Samples that are spread over the space come first; a regression of them chooses what runs next, as far as it predicts samples that it was not fitted to. Then the promising configurations run again, until the best is better by more than noise. Configurations that fail are recorded and not tried again.
Exits with 3 if no configuration works, and with 5 if Ctrl-C ended the search; the result is that of the runs before.

Examples:
  wavesieve lab autotune --parameter tile=16,32,64 --plan -- ./gemm --tile={tile}
  wavesieve lab autotune --parameter seconds=0.01,0.03 -- sleep {seconds}
  wavesieve lab autotune --parameter n=2,5 --measure printed --pattern '[0-9]+' -- echo {n}"
)]
pub(super) struct AutotuneArguments {
    /// Space of parameters: a JSON or TOML file
    #[arg(long, value_name = "FILE", required_unless_present = "parameter", help_heading = "Space")]
    space: Option<PathBuf>,
    /// Parameter and its values, in place of a file; repeatable
    #[arg(long, value_name = "NAME=VALUE,…", conflicts_with = "space", help_heading = "Space")]
    parameter: Vec<String>,
    /// Condition that configurations of --parameter meet; repeatable
    #[arg(long, value_name = "CONDITION", requires = "parameter", help_heading = "Space")]
    constraint: Vec<String>,
    /// Command as one text, as it is typed in a shell
    #[arg(long, value_name = "TEXT", conflicts_with = "command", help_heading = "Measuring")]
    cmd_template: Option<String>,
    /// The value to make small
    #[arg(long, value_enum, default_value_t, help_heading = "Measuring")]
    measure: Measure,
    /// Kernels whose total time counts, by a pattern of their names
    #[arg(long, value_name = "PATTERN", help_heading = "Measuring")]
    kernel: Option<String>,
    /// Pattern of the number in the output; its first group, or all that it matches. The last one counts
    #[arg(long, value_name = "PATTERN", help_heading = "Measuring")]
    pattern: Option<String>,
    /// Unit of the printed number [default: ms]
    #[arg(long, value_enum, help_heading = "Measuring")]
    unit: Option<PrintedUnit>,
    /// Make the printed number large, such as a rate
    #[arg(long, conflicts_with = "unit", help_heading = "Measuring")]
    maximize: bool,
    /// Seconds that a run may take, at most; when some worked, also 20 times the longest of them and 10
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Measuring")]
    time_limit: u64,
    /// Minutes that the search may take [default: no limit]
    #[arg(long, value_name = "MIN", value_parser = minutes, help_heading = "Search")]
    budget: Option<Duration>,
    /// Configurations to run, at most [default: a fifth if predictions can be trusted, otherwise all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Search")]
    evaluations: Option<u64>,
    /// Runs of a configuration, at most
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=1024), help_heading = "Search")]
    repeats: u64,
    /// Seed of the samples
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Search")]
    seed: u64,
    /// Share of the space that is sampled first, but at least 10 configurations [default: 0.02]
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = "Search")]
    seed_fraction: Option<f64>,
    /// Leave out what is predicted to take more than so many times the best time
    #[arg(long, value_name = "FACTOR", default_value_t = 1.75, value_parser = factor, help_heading = "Search")]
    prune_factor: f64,
    /// File of results, to which each run is added; a search that was stopped continues
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    state: Option<PathBuf>,
    /// Print what would run, and run nothing
    #[arg(long, help_heading = "Search")]
    plan: bool,
    /// Output format [default: by the extension of -o, or text]
    #[arg(short, long, value_enum, help_heading = "Output")]
    format: Option<ResultFormat>,
    #[command(flatten)]
    csv: CsvArguments,
    /// The same as -f json
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    json: bool,
    /// Output file, - for standard output
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Rows of the table
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Output")]
    top: u64,
    /// Picture of the search: an .svg or .png file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    chart: Option<PathBuf>,
    /// Command with {NAME} for the value of a parameter
    #[arg(last = true, value_name = "CMD", required_unless_present = "cmd_template")]
    command: Vec<String>,
}

pub(super) fn run(arguments: &AutotuneArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let objective = objective(arguments)?;
    let format = format(arguments)?;
    check_files(arguments)?;
    check_chart(arguments.chart.as_deref())?;
    let space = match &arguments.space {
        Some(path) => read_space(path)?,
        None => space_of_parameters(&arguments.parameter, &arguments.constraint)?,
    };
    if space.duplicates > 0 {
        note!(global, "note: {} configurations are listed more than once; each counts once", space.duplicates);
    }
    let words = match &arguments.cmd_template {
        Some(line) => words_of_line(line).map_err(Failure::usage)?,
        None => arguments.command.clone(),
    };
    let template = Template::new(&words, &space)?;
    let mut search = Search::new(&space, settings(arguments));
    if arguments.plan {
        print(plan(&space, &search, &template))?;
        return Ok(DONE);
    }
    if let Some(path) = output_file(arguments) {
        check_file(path)?;
    }
    let subject = Subject::new(&space, template.texts(), objective.words());
    let (mut state, mut history) = match &arguments.state {
        Some(path) => {
            let (state, history) = State::open(path, &subject, &space)?;
            (Some(state), history)
        }
        None => (None, History::new(space.len())),
    };
    if history.runs() > 0 {
        note!(global, "continuing after {} runs", history.runs());
    }
    let stopped =
        search_on(arguments, global, &objective, &space, &template, &mut search, &mut history, state.as_mut())?;
    if let Stopped::Impossible(reason) = &stopped {
        refuse!("{reason}");
    }
    let (top, is_maximized) = (usize::try_from(arguments.top).unwrap_or(usize::MAX), arguments.maximize);
    let parts = Parts {
        space: &space,
        search: &search,
        history: &history,
        objective: &objective,
        is_maximized,
        command: template.texts(),
        stopped: &stopped,
        top,
    };
    let document = Document::new(&parts);
    if let Some(path) = &arguments.chart {
        draw(path, &document, &search, &history, global)?;
    }
    deliver(output_file(arguments), global, |_, out| match format {
        ResultFormat::Text => Ok(out.write_all(text(&document).as_bytes())?),
        ResultFormat::Json => write_json(&document, out),
        ResultFormat::Csv => write_csv(&document, arguments.csv.formulas(), out),
    })?;
    if document.warning.is_some() && document.best_config.is_some() {
        note!(
            global,
            "warning: the model predicts too little of what it was not fitted to, so that the best may be among what did not run; raise --evaluations or --budget"
        );
    }
    Ok(match (&stopped, document.best_config.is_some()) {
        (Stopped::Interrupted, _) => PARTIAL,
        (_, false) => {
            print_note("no configuration worked; run one of the commands by hand, or see the failures in -f json");
            NO_DATA
        }
        (_, true) => DONE,
    })
}

#[expect(clippy::too_many_arguments, reason = "the parts of a search that was prepared")]
fn search_on(
    arguments: &AutotuneArguments,
    global: &GlobalArguments,
    objective: &Objective,
    space: &Space,
    template: &Template,
    search: &mut Search<'_>,
    history: &mut History,
    state: Option<&mut State>,
) -> Result<Stopped, Failure> {
    let interruptions = Interruptions::of_program();
    let is_interrupted = interruptions.check();
    let folder = tempfile::tempdir().map_err(anyhow::Error::from)?;
    let traces = folder.path().join("trace");
    let here = std::env::current_dir().map_err(anyhow::Error::from)?;
    let mut program = Program {
        space,
        template,
        objective,
        working_directory: &here,
        trace_directory: &traces,
        time_limit: arguments.time_limit,
        longest: None,
    };
    let mut best: Option<f64> = None;
    let mut on_run = |history: &History, configuration: usize, outcome: &Outcome| {
        let values: Vec<String> = space.values(configuration).map(|(name, value)| format!("{name}={value}")).collect();
        let line = format!("{} of {}: {}", history.order().len(), space.len(), values.join(" "));
        match outcome {
            Outcome::Value(value) => {
                let is_better = |best| if arguments.maximize { *value > best } else { *value < best };
                detail(global, format_args!("{line}: {value}"));
                if best.is_none_or(is_better) {
                    best = Some(*value);
                    if !global.verbose {
                        note!(global, "best so far, {line}: {}", short(*value));
                    }
                }
            }
            Outcome::Failed(reason) => detail(global, format_args!("{line}: {reason}")),
        }
    };
    let mut measure = |configuration| program.measure(configuration, &*is_interrupted);
    Ok(tune(space, search, history, state, arguments.budget, &mut measure, &mut on_run)?)
}

fn settings(arguments: &AutotuneArguments) -> Settings {
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    Settings {
        seed: arguments.seed,
        seed_fraction: arguments.seed_fraction,
        prune_factor: arguments.prune_factor,
        evaluations: arguments.evaluations.map(count),
        repeats: count(arguments.repeats),
        is_maximized: arguments.maximize,
    }
}

fn objective(arguments: &AutotuneArguments) -> Result<Objective, Failure> {
    let regex = |option: &str, text: &String| {
        Regex::new(text)
            .map_err(|error| Failure::Usage(format!("{option} `{text}` is not a regular expression: {error}")))
    };
    let kernel = arguments.kernel.as_ref().map(|text| regex("--kernel", text)).transpose()?;
    let pattern = arguments.pattern.as_ref().map(|text| regex("--pattern", text)).transpose()?;
    let is_printed = arguments.measure == Measure::Printed;
    let needless = [
        (kernel.is_some() && arguments.measure != Measure::Kernel, "--kernel", "--measure kernel"),
        (pattern.is_some() && !is_printed, "--pattern", "--measure printed"),
        (arguments.unit.is_some() && !is_printed, "--unit", "--measure printed"),
        (arguments.maximize && !is_printed, "--maximize", "--measure printed"),
    ];
    if let Some((_, option, needed)) = needless.into_iter().find(|(is_needless, ..)| *is_needless) {
        refuse!("{option} needs {needed}; add it");
    }
    match (arguments.measure, pattern) {
        (Measure::Wall, _) => Ok(Objective::Wall),
        (Measure::Kernel, _) => Ok(Objective::Kernel(kernel)),
        (Measure::Printed, Some(pattern)) => {
            let unit = arguments.unit.unwrap_or(PrintedUnit::Ms);
            Ok(Objective::Printed { pattern, factor: unit.factor() })
        }
        (Measure::Printed, None) => {
            refuse!("--measure printed needs --pattern, such as 'time: ([0-9.]+) ms'")
        }
    }
}

fn output_file(arguments: &AutotuneArguments) -> Option<&Path> {
    arguments.output.as_deref().filter(|path| path.as_os_str() != "-")
}

fn format(arguments: &AutotuneArguments) -> Result<ResultFormat, Failure> {
    if arguments.json {
        return Ok(ResultFormat::Json);
    }
    let formats = [("txt", ResultFormat::Text), ("json", ResultFormat::Json), ("csv", ResultFormat::Csv)];
    format_of(arguments.format, output_file(arguments), ResultFormat::Text, "results", &formats)
}

/// Rejects files that would overwrite the space, or each other.
fn check_files(arguments: &AutotuneArguments) -> Result<(), Failure> {
    let inputs: Vec<Named<'_>> = arguments.space.as_deref().map(|path| ("--space", path)).into_iter().collect();
    let outputs = [
        ("--state", arguments.state.as_deref()),
        ("-o", output_file(arguments)),
        ("--chart", arguments.chart.as_deref()),
    ];
    let outputs: Vec<Named<'_>> =
        outputs.into_iter().filter_map(|(option, path)| path.map(|path| (option, path))).collect();
    check_apart(&inputs, &outputs)
}

fn check_chart(path: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    match extension_of(path).as_deref() {
        Some("svg" | "png") => check_file(path).map(drop),
        _ => refuse!("{} is not a .svg or .png file; name one", path.display()),
    }
}

fn draw(
    path: &Path,
    document: &Document,
    search: &Search<'_>,
    history: &History,
    global: &GlobalArguments,
) -> Result<(), Failure> {
    let chart = chart(history, search.scale(history), document.objective.unit);
    let bytes = match extension_of(path).as_deref() {
        Some("png") => chart.png(Layout::WIDE)?,
        _ => chart.svg(Layout::WIDE)?.into_bytes(),
    };
    write_file(path, |out| Ok(out.write_all(&bytes)?))?;
    print_written(path, global);
    Ok(())
}

/// The plan of a search, without running it.
fn plan(space: &Space, search: &Search<'_>, template: &Template) -> String {
    let (samples, limit) = search.plan();
    let levels: BTreeMap<&str, usize> =
        space.parameters.iter().map(|parameter| (parameter.name.as_str(), parameter.levels.len())).collect();
    let levels: Vec<String> = levels.iter().map(|(name, count)| format!("{name} ({count})")).collect();
    let mut text = format!(
        "{} configurations of {}; {} terms\n{} samples first; {limit} configurations if predictions can be trusted\n",
        space.len(),
        levels.join(", "),
        search.terms(),
        samples.len()
    );
    for sample in samples.iter().take(SHOWN_COMMANDS) {
        let words = template.words(space, *sample);
        let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        text.push_str(&words.join(" "));
        text.push('\n');
    }
    text
}

fn share(text: &str) -> Result<f64, String> {
    finite(text).filter(|number| (0.0..=1.0).contains(number)).ok_or_else(|| "give a number from 0 to 1".to_owned())
}

fn factor(text: &str) -> Result<f64, String> {
    finite(text).filter(|number| *number >= 1.0).ok_or_else(|| "give a number of at least 1".to_owned())
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

impl From<AutotuneError> for Failure {
    fn from(error: AutotuneError) -> Self {
        if error.is_usage() { Self::Usage(error.to_string()) } else { Self::Other(error.into()) }
    }
}
