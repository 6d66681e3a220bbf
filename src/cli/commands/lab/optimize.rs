//! `lab optimize`.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::cli::exit::{DONE, EXCEEDED, Failure, refuse};
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::llm::LlmArguments;
use crate::cli::output::messages;
use wavesieve_engine::Registry;
use wavesieve_export::atomic::make_directory;
use wavesieve_lab::interactive::face::Interruptions;
use wavesieve_lab::interactive::programs::Application;
use wavesieve_lab::optimize::{
    Attempt, Checks, Commands, GateResult, Limits, Observer, OptimizeError, Options, Outcome, OutputFile, Replays,
    SourcesPlace, Target, Tolerance, Verdict, has_results, optimize, read_source,
};
use wavesieve_lab::proposers::{KernelFacts, ModelProposer, Prompted, Question, Transform};
use wavesieve_model::analysis::counter_plan::quoted;

/// Default number of runs of each program.
const RUNS: u32 = 5;
/// Default maximum number of candidates.
const ATTEMPTS: u32 = 8;
/// Default number of times that a model may repair its change.
const REPAIRS: u32 = 2;
/// Default minimum speedup of a kernel, in percent.
const MIN_GAIN_PCT: f64 = 2.0;

#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Copies the sources for each candidate, and lets it pass six gates in this order: it builds; signature and compiled arguments are the same; registers, spills, LDS and scratch stay within limits; results are the same; the kernel is faster, surely and by --min-gain; no other kernel is slower. What nothing checks is unverified, and is not promoted without --accept-unverified. The sources are never written: what passes is a patch for `git apply`. Every attempt is a line of attempts.jsonl in --output.

Candidates come from transforms of the source, and from a model with --llm. Commands run without a shell in the copy; paths below the sources, and {dir}, lead into it.

A patch is written as soon as something is accepted, also if a later attempt ends in an error.

Exit codes: 0 a patch was written; 1 the program as it is does not build, run or pass its checks, or the work was interrupted; 2 wrong usage; 4 nothing was accepted.

Examples:
  wavesieve lab optimize fixtures/source/hip/first.hip --dry-run --build make --workgroup 256 -- ./app
  wavesieve lab optimize fixtures/source/hip/first.hip --dry-run --build 'make -j8' --check ./check.sh --transform launch_bounds --workgroup 128 -- ./app"
)]
pub(super) struct OptimizeArguments {
    /// Source file that defines the kernel
    #[arg(value_name = "SRC")]
    source: PathBuf,
    /// Kernel, with or without its namespaces; needed if the file defines several
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Folder that is copied for each candidate [default: the git repository around SRC, or its folder]
    #[arg(long, value_name = "DIR")]
    source_dir: Option<PathBuf>,
    /// Where candidates, traces, the log and the patch are written; it must not exist
    #[arg(short, long, value_name = "DIR", default_value = "lab-optimize")]
    output: PathBuf,
    /// Output format of the summary
    #[arg(short, long, value_enum, default_value_t)]
    format: SummaryFormat,
    /// Print the first change, or what a model would be sent, and run nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    gates: GateArguments,
    #[command(flatten)]
    candidates: CandidateArguments,
    #[command(flatten)]
    llm: LlmArguments,
    /// Program that launches the kernel, and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    program: Vec<String>,
}

/// Gates that candidates have to pass.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Gates")]
struct GateArguments {
    /// Command that builds the program
    #[arg(long, value_name = "CMD")]
    build: String,
    /// Command that ends well where results are right
    #[arg(long, value_name = "CMD")]
    check: Option<String>,
    /// File that the program writes and whose content has to stay, as PATH or PATH:TYPE (f16, bf16, f32, f64, i8 … u64, bytes, text);
    /// repeatable
    #[arg(long, value_name = "FILE")]
    output_file: Vec<String>,
    /// How much floating point numbers may differ: |difference| ≤ ABS + REL · |expected|
    #[arg(long, value_name = "ABS,REL", default_value = "1e-8,1e-5")]
    tolerance: String,
    /// Captured dispatch that has to leave the same memory with the candidate's code; repeatable
    #[arg(long, value_name = "CAPTURE")]
    replay: Vec<PathBuf>,
    /// Differences to allow in replayed memory, as lab replay --tolerance takes them
    #[arg(long, value_name = "TYPES", requires = "replay")]
    replay_tolerance: Option<String>,
    /// HSA runtime for --replay
    #[arg(long, value_name = "PATH", requires = "replay")]
    runtime: Option<PathBuf>,
    /// File with the code object, below the sources [default: what the build writes]
    #[arg(long, value_name = "FILE")]
    object: Option<PathBuf>,
    /// Vector registers of a work-item at most
    #[arg(long, value_name = "N")]
    max_vgpr: Option<u32>,
    /// Accumulation registers of a work-item at most
    #[arg(long, value_name = "N")]
    max_agpr: Option<u32>,
    /// Scalar registers of a wavefront at most
    #[arg(long, value_name = "N")]
    max_sgpr: Option<u32>,
    /// Spilled registers at most [default: as many as before]
    #[arg(long, value_name = "N")]
    max_spills: Option<u32>,
    /// LDS of a workgroup at most
    #[arg(long, value_name = "BYTES")]
    max_lds: Option<u64>,
    /// Scratch memory of a work-item at most [default: as much as before]
    #[arg(long, value_name = "BYTES")]
    max_scratch: Option<u64>,
    /// Occupancy at least
    #[arg(long, value_name = "PCT")]
    min_occupancy: Option<f64>,
    /// Runs of the base and of the candidate, in turn
    #[arg(long, value_name = "N", default_value_t = RUNS, value_parser = clap::value_parser!(u32).range(2..=100))]
    runs: u32,
    /// Least gain of the median, in percent
    #[arg(long, value_name = "PCT", default_value_t = MIN_GAIN_PCT)]
    min_gain: f64,
    /// Promote what nothing checked, such as results without --check, --output-file and --replay
    #[arg(long)]
    accept_unverified: bool,
    /// Seconds that one command may take [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    time_limit: Option<u64>,
}

/// Where candidates come from.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Candidates")]
struct CandidateArguments {
    /// Transforms to try: launch_bounds, restrict, unroll, vector_loads, or none; repeatable [default: all]
    #[arg(long, value_name = "NAME")]
    transform: Vec<String>,
    /// Folder that `lab profile -o` wrote: transforms are tried that its bottlenecks ask for [default: all that fit]
    #[arg(long, value_name = "DIR")]
    profile: Option<PathBuf>,
    /// Work-items of the largest workgroup [default: that of the first run]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    workgroup: Option<u32>,
    /// Candidates at most, without repairs
    #[arg(long, value_name = "N", default_value_t = ATTEMPTS, value_parser = clap::value_parser!(u32).range(1..))]
    attempts: u32,
    /// How often a model may write again what does not build or fit
    #[arg(long, value_name = "N", default_value_t = REPAIRS)]
    repairs: u32,
}

/// Form of the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum SummaryFormat {
    /// For the terminal
    #[default]
    Text,
    /// For scripts
    Json,
}

pub(super) fn run(arguments: &OptimizeArguments, registry: &Registry, global: &GlobalArguments) -> Result<u8, Failure> {
    let mut options = arguments.options()?;
    let current = std::env::current_dir().map_err(anyhow::Error::from)?;
    let place = SourcesPlace::find(&arguments.source, arguments.source_dir.as_deref(), &current)?;
    let llm = if arguments.dry_run { arguments.llm.clone().dry() } else { arguments.llm.clone() };
    let narrator = llm.narrator(global)?;
    let model = |traces: &[PathBuf]| -> Result<Option<ModelProposer<'_>>, OptimizeError> {
        let source = place.root.join(&place.file);
        Ok(narrator.as_ref().map(|one| ModelProposer::new(one, traces, &source, registry)).transpose()?)
    };
    if arguments.dry_run {
        let proposer = model(&[])?;
        return dry_run(&options, &place, proposer.as_ref());
    }
    if arguments.output.exists() {
        let text = format!("{} exists; remove it, or name another with --output", arguments.output.display());
        refuse!("{text}");
    }
    options.object = arguments.gates.object.as_deref().map(|path| place.below(path)).transpose()?;
    if options.transforms.is_empty() && narrator.is_none() {
        refuse!("--transform none needs a model, or nothing is tried; name one with --llm");
    }
    if let Some(narrator) = &narrator {
        ModelProposer::check(narrator, &place.file, &read_source(&place.root.join(&place.file))?)
            .map_err(OptimizeError::from)?;
    }
    let context = || format!("cannot make {}; name another place with --output", arguments.output.display());
    // Empty folders are removed again.
    let _made = make_directory(&arguments.output)?;
    options.directory = arguments.output.canonicalize().with_context(context)?;
    let interruptions = Interruptions::of_program();
    let is_interrupted = interruptions.check();
    let commands =
        Commands { place: place.clone(), time_limit_s: arguments.gates.time_limit, is_interrupted: &is_interrupted };
    let reporter = Reporter { is_quiet: global.quiet };
    let outcome = optimize(&options, &commands, &model, &reporter).inspect_err(|error| {
        // Nothing was tried or measured yet: wrong options or a failed build do not block the next run.
        if !matches!(error, OptimizeError::WroteOriginal { .. }) && !has_results(&options.directory) {
            drop(std::fs::remove_dir_all(&options.directory));
        }
    })?;
    print(&outcome, &place, arguments.format)?;
    Ok(if outcome.promoted.is_some() || outcome.shown.is_some() { DONE } else { EXCEEDED })
}

impl OptimizeArguments {
    fn options(&self) -> Result<Options, Failure> {
        let line = |text: &String| Application::of_line(text).map_err(OptimizeError::from);
        let real = |path: &PathBuf| {
            path.canonicalize()
                .map_err(|error| Failure::Usage(format!("{}: {error}; name one that exists", path.display())))
        };
        let (gates, candidates) = (&self.gates, &self.candidates);
        let outputs = gates.output_file.iter().map(|word| OutputFile::of_word(word)).collect::<Result<_, _>>()?;
        let is_share = |pct: f64| pct.is_finite() && (0.0..100.0).contains(&pct);
        if !is_share(gates.min_gain) || gates.min_occupancy.is_some_and(|pct| !is_share(pct)) {
            refuse!("--min-gain and --min-occupancy are from 0 to below 100 percent");
        }
        let (facts, profiled) = match &candidates.profile {
            Some(directory) => {
                let (facts, kernel) = KernelFacts::of_profile(directory)
                    .map_err(|error| Failure::Usage(format!("--profile: {error:#}")))?;
                (facts, Some(kernel))
            }
            None => (KernelFacts::default(), None),
        };
        Ok(Options {
            profiled,
            kernel: self.kernel.clone(),
            build: line(&gates.build)?,
            application: Application::of_words(self.program.clone()),
            checks: Checks {
                check: gates.check.as_ref().map(line).transpose()?,
                outputs,
                tolerance: tolerance(&gates.tolerance)?,
                replays: Replays {
                    captures: gates.replay.iter().map(real).collect::<Result<_, _>>()?,
                    tolerance: gates.replay_tolerance.clone(),
                    runtime: gates.runtime.as_ref().map(real).transpose()?,
                },
            },
            limits: Limits {
                vgpr: gates.max_vgpr,
                accum_vgpr: gates.max_agpr,
                sgpr: gates.max_sgpr,
                spills: gates.max_spills,
                lds_bytes: gates.max_lds,
                scratch_bytes: gates.max_scratch,
                occupancy_pct: gates.min_occupancy,
            },
            object: None,
            runs: gates.runs,
            min_gain_pct: gates.min_gain,
            attempts: candidates.attempts,
            repairs: candidates.repairs,
            accepts_unverified: gates.accept_unverified,
            transforms: transforms(&candidates.transform)?,
            facts: KernelFacts { work_items: candidates.workgroup, ..facts },
            directory: PathBuf::new(),
        })
    }
}

fn tolerance(text: &str) -> Result<Tolerance, Failure> {
    let number = |word: &str| word.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    let parts = text.split_once(',').and_then(|(absolute, relative)| Some((number(absolute)?, number(relative)?)));
    let (absolute, relative) =
        parts.ok_or_else(|| Failure::Usage(format!("--tolerance {text}: write it as ABS,REL, such as 1e-8,1e-5")))?;
    Ok(Tolerance { absolute, relative })
}

fn transforms(words: &[String]) -> Result<Vec<Transform>, Failure> {
    if words.is_empty() {
        return Ok(Transform::ALL.to_vec());
    }
    let named = words.iter().filter(|word| *word != "none").map(|word| {
        Transform::of_word(word).ok_or_else(|| {
            let known = Transform::ALL.map(Transform::word).join(", ");
            Failure::Usage(format!("--transform {word}: not known; use {known}, or none"))
        })
    });
    named.collect()
}

/// Prints the first change, or the first request to a model.
fn dry_run(options: &Options, place: &SourcesPlace, model: Option<&ModelProposer<'_>>) -> Result<u8, Failure> {
    let path = place.root.join(&place.file);
    let text = read_source(&path)?;
    let target = Target::find(&text, options.kernel.as_deref())?;
    if let Some(model) = model {
        let question = Question {
            root: &place.root,
            file: &place.file,
            text: &text,
            kernel: &target.kernel,
            facts: &options.facts,
            tried: Vec::new(),
            problem: None,
        };
        if let Prompted::Shown(text) = model.ask(&question)? {
            messages::print(text)?;
        }
        return Ok(DONE);
    }
    for transform in &options.transforms {
        match transform.apply(&text, &target.kernel, &options.facts) {
            Err(refusal) => messages::print_note(format_args!("{}: {refusal}", transform.word())),
            Ok(transformed) => {
                messages::print_note(format_args!("{}: {}", transform.word(), transformed.reason));
                messages::print(wavesieve_lab::optimize::diff(&place.file, &text, &transformed.text))?;
                return Ok(DONE);
            }
        }
    }
    Ok(EXCEEDED)
}

struct Reporter {
    is_quiet: bool,
}

impl Observer for Reporter {
    fn begins(&self, what: &str) {
        self.note(what);
    }

    fn gate(&self, _attempt: u32, result: &GateResult) {
        if !self.is_quiet {
            messages::print_note(format_args!(
                "  {:<10} {:<10} {}",
                result.gate.word(),
                result.verdict.word(),
                result.reason
            ));
        }
    }

    fn note(&self, text: &str) {
        if !self.is_quiet {
            messages::print_note(format_args!("{text}"));
        }
    }
}

fn print(outcome: &Outcome, place: &SourcesPlace, format: SummaryFormat) -> Result<(), Failure> {
    if let Some(shown) = &outcome.shown {
        return messages::print(shown.clone());
    }
    let text = match format {
        SummaryFormat::Json => {
            let refusals = outcome.refusals.iter().map(|(name, reason)| json!({ "transform": name, "reason": reason }));
            let promoted =
                outcome.promoted.as_ref().map(|(attempt, path)| json!({ "attempt": attempt, "patch": path }));
            let value = json!({
                "schema": "wavesieve-lab-optimize",
                "schema_version": "1.0",
                "attempts": outcome.attempts,
                "not_applicable": refusals.collect::<Vec<_>>(),
                "promoted": promoted,
            });
            serde_json::to_string_pretty(&value).map_err(anyhow::Error::from)? + "\n"
        }
        SummaryFormat::Text => summary(outcome, place),
    };
    messages::print(text)
}

fn summary(outcome: &Outcome, place: &SourcesPlace) -> String {
    let mut lines: Vec<String> = outcome.attempts.iter().map(line).collect();
    lines.extend(outcome.refusals.iter().map(|(name, reason)| format!("   {name} does not fit: {reason}")));
    lines.push(match &outcome.promoted {
        Some((attempt, path)) => {
            let words = ["git", "-C", &place.root.to_string_lossy(), "apply", &path.to_string_lossy()].map(quoted);
            format!("attempt {attempt} is promoted: {}", words.join(" "))
        }
        None => "nothing was accepted".to_owned(),
    });
    lines.join("\n") + "\n"
}

/// An attempt in one line: its change and its last gate.
fn line(attempt: &Attempt) -> String {
    let verdicts: Vec<String> =
        attempt.gates.iter().map(|result| format!("{} {}", result.gate.word(), result.verdict.word())).collect();
    let end = match (attempt.is_accepted, &attempt.refused, attempt.gates.last()) {
        (true, ..) => "accepted".to_owned(),
        (_, Some(reason), _) => reason.clone(),
        (_, _, Some(last)) if last.verdict == Verdict::Fail => {
            last.reason.lines().next().unwrap_or_default().trim_end_matches(':').to_owned()
        }
        _ => {
            let open = attempt.gates.iter().filter(|result| result.verdict == Verdict::Unverified);
            let reasons: Vec<String> =
                open.map(|result| format!("{}: {}", result.gate.word(), result.reason)).collect();
            format!("not accepted, unverified: {}", reasons.join("; "))
        }
    };
    format!("{:>2} {:<14} {}\n   {end}", attempt.attempt, attempt.proposer, verdicts.join(", "))
}

impl From<OptimizeError> for Failure {
    fn from(error: OptimizeError) -> Self {
        match error {
            OptimizeError::Usage(text) => Self::Usage(text),
            OptimizeError::Program(error) => Self::Usage(error.to_string()),
            OptimizeError::Model(error) => error.into(),
            other => Self::Other(other.into()),
        }
    }
}
