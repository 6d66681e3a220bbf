//! `analyze INPUT…`: the guided analysis.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::command_line::CommandLine;
use crate::cli::exit::{DONE, Failure, PARTIAL, refuse};
use crate::cli::options::document_arguments::DocumentArguments;
use crate::cli::options::engine::EngineArguments;
use crate::cli::options::extra_inputs::ExtraInputs;
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::input::{CacheArguments, InputArguments, Opening};
use crate::cli::options::llm::{Asked, LlmArguments, narrate};
use crate::cli::options::looping::{ChangeArguments, FaceArguments, LoopRequest, StoreArguments, run_loop};
use crate::cli::output::delivery::write_json;
use crate::cli::output::document_output::{DocumentFormat, DocumentOutput};
use crate::cli::output::messages;
use wavesieve_engine::Registry;
use wavesieve_engine::findings::hand_over_findings;
use wavesieve_lab::interactive::programs::{Application, is_program};
use wavesieve_lab::interactive::sessions::SessionKind;
use wavesieve_model::analysis::counter_plan::words;
use wavesieve_report::analysis::Analysis;
use wavesieve_report::compare::{
    CompareOptions, Digest, Side, TakeOptions, baseline_section, compare, is_digest, read_digest, take_digest,
};
use wavesieve_report::compat::rocinsight;
use wavesieve_report::compat::rocinsight::SchemaVersion;
use wavesieve_tables::trace::Trace;

/// File name if only a directory is given.
const STEM: &str = "analysis";

/// Find bottlenecks and recommend next steps
#[derive(Args, Clone, Debug)]
#[command(after_help = "Exits with 4 if a finding has the --fail-on priority or a higher one.

Examples:
  wavesieve analyze traces/
  wavesieve analyze traces/ --format html -o report.html
  wavesieve analyze traces/ --source-dir fixtures/source --att-dir fixtures/thread_trace
  wavesieve analyze traces/ --llm local --prompt 'Why are the GPUs idle?'")]
pub(crate) struct AnalyzeArguments {
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    tiers: ExtraInputs,
    #[command(flatten)]
    engine: EngineArguments,
    #[command(flatten)]
    cache: CacheArguments,
    #[command(flatten)]
    output: DocumentOutput,
    #[command(flatten)]
    document: DocumentArguments,
    /// Write the JSON document of another program
    #[arg(long, value_enum, value_name = "PROGRAM", help_heading = "Compatibility")]
    json_compat: Option<JsonCompat>,
    /// Compare with this digest of `wavesieve compare --save`
    ///
    /// The comparison has a section of its own.
    #[arg(long, value_name = "DIGEST", help_heading = "Analysis")]
    baseline: Option<PathBuf>,
    /// Your question in words, for the model of --llm
    ///
    /// Documents with a field for it keep it.
    #[arg(long, value_name = "TEXT", help_heading = "Analysis")]
    prompt: Option<String>,
    /// Analyze with a menu, as `wavesieve interactive` does; with a command, profile and tune it as `wavesieve workflow` does
    /// (--interactive='./app --size 4'; a program among the inputs is taken for the command, too)
    #[arg(long, value_name = "CMD", num_args = 0..=1, require_equals = true, default_missing_value = "",
          help_heading = "Session")]
    interactive: Option<String>,
    /// Continue this session of --interactive
    #[arg(long, value_name = "ID", help_heading = "Session", requires = "interactive")]
    resume_session: Option<String>,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    face: FaceArguments,
    #[command(flatten)]
    llm: LlmArguments,
}

/// JSON documents of other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum JsonCompat {
    /// rocinsight, in the newest schema version
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
    /// The schema version; `None` for the one that fits.
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

pub(crate) fn run(
    arguments: &AnalyzeArguments,
    registry: &Registry,
    command: &CommandLine<'_>,
    global: &GlobalArguments,
) -> Result<u8, Failure> {
    if let Some(line) = &arguments.interactive {
        return run_interactive(arguments, line, registry, command, global);
    }
    if let Some(option) = arguments.face.given().or(arguments.store.given()) {
        refuse!("{option} is for sessions; add --interactive");
    }
    arguments.engine.refuse(arguments.baseline.is_some(), "--baseline")?;
    let output = &arguments.output;
    let by_compatibility = arguments.json_compat.map(|_| DocumentFormat::Json);
    let format = output.format.or(by_compatibility).or(output.format()).unwrap_or_default();
    let mut options = arguments.document.options(registry, output, format)?;
    options.prompt.clone_from(&arguments.prompt);
    options.rocm = arguments.input.rocm_version();
    if arguments.json_compat.is_some() {
        options.questions.extend(rocinsight::questions());
        // The numbers are those of the other program, which does not know parts of a run.
        options.whole_run = true;
    }
    options.whole_run |= arguments.engine.covers_whole_run(options.whole_run, global);
    if arguments.json_compat.is_some() && format != DocumentFormat::Json {
        refuse!("--json-compat writes JSON; leave --format out or name json");
    }
    if let Some(baseline) = arguments.baseline.as_ref().filter(|path| !is_digest(path)) {
        let shown = baseline.display();
        refuse!("{shown} is not a digest; save one with wavesieve compare --save");
    }
    let baseline = arguments.baseline.as_deref().map(read_digest).transpose()?;
    let is_unchecked = baseline.as_ref().is_some_and(|baseline| baseline.lacks_sum);
    if let Some(warning) = baseline.as_ref().and_then(Digest::warning) {
        messages::print_note(warning);
    }
    let narrator = arguments.llm.narrator(global)?;
    let inputs = arguments.tiers.inputs(&arguments.input, global)?;
    let named = inputs.as_ref().unwrap_or(&arguments.input);
    let path = output.file(named, format, STEM)?;
    arguments.document.check_charts(&options.layout, named, path.iter().map(PathBuf::as_path), &[None])?;
    let opening = Opening { cache: Some(&arguments.cache), engine: Some(&arguments.engine), ..Opening::default() };
    let trace = inputs.as_ref().map(|inputs| inputs.open(global, &opening)).transpose()?;
    let mut analysis = arguments.tiers.analyze(trace.as_ref(), &options, global)?;
    if let (Some(baseline), Some(trace)) = (baseline, &trace) {
        add_comparison(&mut analysis, trace, baseline, options.rows)?;
    }
    let asked = narrate(narrator.as_ref(), &mut analysis, registry, command, global)?;
    if matches!(asked, Asked::Shown) {
        return Ok(DONE);
    }
    if let (Some(trace), true, None) = (&trace, format.has_handoffs(), arguments.json_compat) {
        // Thread traces from elsewhere are not part of a timeline.
        let timed = if arguments.input.is_empty() { named } else { &arguments.input };
        hand_over_findings(trace, &mut analysis.document.findings, options.name, &timed.words()?)?;
    }
    arguments.document.take_charts(&mut analysis.document, format, None, global)?;
    match arguments.json_compat {
        None => output.deliver(&analysis, format, path.as_deref(), global)?,
        Some(program) => output.deliver_text(path.as_deref(), global, |_, out| {
            let value = rocinsight::value(&analysis, trace.as_ref(), program.version(), options.rows);
            write_json(&value, out)
        })?,
    }
    let code = arguments.document.end(trace.as_ref(), &analysis, global)?;
    Ok(asked.exit_code(if code == DONE && is_unchecked { PARTIAL } else { code }))
}

/// Runs a session in place of one analysis: over the inputs, or for a program to profile.
fn run_interactive(
    arguments: &AnalyzeArguments,
    line: &str,
    registry: &Registry,
    command: &CommandLine<'_>,
    global: &GlobalArguments,
) -> Result<u8, Failure> {
    let unused = [
        (arguments.output.format.is_some(), "--format"),
        (arguments.output.output.is_some(), "--output"),
        (arguments.output.directory.is_some(), "--dir"),
        (arguments.json_compat.is_some(), "--json-compat"),
        (arguments.baseline.is_some(), "--baseline"),
        (arguments.engine.is_given(), "--engine"),
        (arguments.prompt.is_some(), "--prompt"),
        (!arguments.input.filters()?.command_line().is_empty(), "filters"),
    ];
    if let Some((_, option)) = unused.iter().find(|(is_given, _)| *is_given) {
        refuse!("--interactive writes no document; leave out {option}");
    }
    let mut named = arguments.input.named().unwrap_or_default();
    // Users of rocpd put the program after the option, without `=`.
    let place = named.iter().position(|word| line.trim().is_empty() && is_program(word));
    let program = place.map(|place| named.remove(place));
    let application = match program.as_deref().unwrap_or(line).trim() {
        "" => Vec::new(),
        line => {
            Application::of_line(line).map_err(Failure::usage)?;
            words(line).ok_or_else(|| Failure::Usage(format!("a quote in `{line}` does not end; end it")))?
        }
    };
    let kind = if application.is_empty() { SessionKind::Interactive } else { SessionKind::Workflow };
    let inputs = named.into_iter().map(PathBuf::from).chain(arguments.tiers.att_dir()).collect();
    let resume = arguments.resume_session.clone();
    let request = LoopRequest { kind, inputs, application, resume, ..LoopRequest::default() };
    let changes = ChangeArguments::of_source(arguments.tiers.source_dir());
    run_loop(request, &changes, &arguments.store, &arguments.face, &arguments.llm, registry, command, global)
}

/// Inserts the changes since the baseline before the other sections.
fn add_comparison(analysis: &mut Analysis, trace: &Trace, baseline: Digest, rows: usize) -> anyhow::Result<()> {
    let base = Side { runs: vec![baseline] };
    let new = Side { runs: vec![take_digest(trace, &[], &TakeOptions::default())?] };
    let section = baseline_section(&compare(&base, &new, &CompareOptions::default()), rows)?;
    analysis.document.sections.insert(0, section);
    Ok(())
}
