//! `report INPUT…`: documents to share, one for all inputs or one for each run.

use std::path::PathBuf;

use clap::Args;
use regex::Regex;

use super::batch;
use super::batch::Batch;
use crate::cli::command_line::CommandLine;
use crate::cli::exit::{DONE, Failure, refuse};
use crate::cli::options::document_arguments::DocumentArguments;
use crate::cli::options::engine::EngineArguments;
use crate::cli::options::extra_inputs::ExtraInputs;
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::input::{CacheArguments, InputArguments, Opening};
use crate::cli::options::llm::{Asked, LlmArguments, narrate};
use crate::cli::output::document_output::{DocumentFormat, DocumentOutput};
use crate::cli::output::messages;
use wavesieve_agent::llm::Narrator;
use wavesieve_engine::Registry;
use wavesieve_report::batch::Grouping;
use wavesieve_report::html::is_page;

/// Default file name.
const STEM: &str = "report";

/// Write shareable reports, for all inputs or per run
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "By default the file is report.html in this directory, with --group-by the directory is reports/. A run that cannot be read does
not stop the others: the index gives the reason, and the exit code is 6; if all fail, it is the exit code of the first failed run.

Examples:
  wavesieve report traces/
  wavesieve report traces/ --title Nightly --without gaps,launches --charts charts/
  wavesieve report traces/ --group-by folder -d reports
  wavesieve report fixtures/ --group-by 'fixtures/(two_nodes[^/]*)/' --baseline two_nodes"
)]
pub(crate) struct ReportArguments {
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
    /// Write one document per run. A run is a folder (a dataset is a run by itself), an input, or all paths with the same
    /// text in the first group (or the whole match) of a regular expression
    #[arg(long, value_name = "folder|input|REGEX", value_parser = grouping, help_heading = "Runs")]
    group_by: Option<Grouping>,
    /// Baseline run of the index, by name [default: the first]
    #[arg(long, value_name = "RUN", requires = "group_by", help_heading = "Runs")]
    baseline: Option<String>,
    /// Your question in words, for the model of --llm
    #[arg(long, value_name = "TEXT", help_heading = "Analysis")]
    prompt: Option<String>,
    #[command(flatten)]
    llm: LlmArguments,
}

fn grouping(text: &str) -> Result<Grouping, String> {
    match text {
        "folder" => Ok(Grouping::Folder),
        "input" => Ok(Grouping::Input),
        "" => Err("it is empty, and would match every path with nothing; write folder, input or a regular expression"
            .to_owned()),
        pattern => Regex::new(pattern).map(Grouping::Pattern).map_err(|error| {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            format!("it is neither folder nor input, and no regular expression ({reason})")
        }),
    }
}

pub(crate) fn run(
    arguments: &ReportArguments,
    registry: &Registry,
    command: &CommandLine<'_>,
    global: &GlobalArguments,
) -> Result<u8, Failure> {
    arguments.engine.refuse(arguments.group_by.is_some(), "--group-by")?;
    let narrator = arguments.llm.narrator(global)?;
    if arguments.group_by.is_some() && narrator.is_some() {
        messages::print_note("warning: no model is asked about the runs of --group-by; report on one run with --llm");
    }
    let format = arguments.output.format().unwrap_or(DocumentFormat::Html);
    match &arguments.group_by {
        Some(_) if arguments.tiers.is_given() => {
            refuse!("--group-by writes documents of traces; leave out --source-dir and --att-dir, or --group-by")
        }
        Some(grouping) => batch::run(
            &Batch {
                input: &arguments.input,
                cache: &arguments.cache,
                output: &arguments.output,
                document: &arguments.document,
                grouping,
                baseline: arguments.baseline.as_deref(),
                format,
            },
            registry,
            global,
        ),
        None => one(arguments, format, narrator.as_ref(), (registry, command), global),
    }
}

fn one(
    arguments: &ReportArguments,
    format: DocumentFormat,
    narrator: Option<&Narrator>,
    (registry, command): (&Registry, &CommandLine<'_>),
    global: &GlobalArguments,
) -> Result<u8, Failure> {
    let mut output = arguments.output.clone();
    let is_named = output.output.is_some() || output.directory.is_some();
    if !is_named {
        let name = if format.is_folder() { STEM.to_owned() } else { format!("{STEM}.{}", format.extension()) };
        output.output = Some(PathBuf::from(name));
    }
    let mut options = arguments.document.options(registry, &output, format)?;
    options.prompt.clone_from(&arguments.prompt);
    options.rocm = arguments.input.rocm_version();
    options.whole_run |= arguments.engine.covers_whole_run(options.whole_run, global);
    let inputs = arguments.tiers.inputs(&arguments.input, global)?;
    let named = inputs.as_ref().unwrap_or(&arguments.input);
    let path = output.file(named, format, STEM)?;
    if let Some(page) = path.as_deref().filter(|page| !is_named && format == DocumentFormat::Html && page.exists())
        && !is_page(page)
    {
        let shown = page.display();
        refuse!("{shown} is there and no earlier report; move it away, or name a file with -o, which is written over");
    }
    arguments.document.check_charts(&options.layout, named, path.iter().map(PathBuf::as_path), &[None])?;
    let opening = Opening { cache: Some(&arguments.cache), engine: Some(&arguments.engine), ..Opening::default() };
    let trace = inputs.map(|inputs| inputs.open(global, &opening)).transpose()?;
    let mut analysis = arguments.tiers.analyze(trace.as_ref(), &options, global)?;
    messages::detail(global, "analysed");
    let asked = narrate(narrator, &mut analysis, registry, command, global)?;
    if matches!(asked, Asked::Shown) {
        return Ok(DONE);
    }
    arguments.document.take_charts(&mut analysis.document, format, None, global)?;
    output.deliver(&analysis, format, path.as_deref(), global)?;
    messages::detail(global, "written");
    Ok(asked.exit_code(arguments.document.end(trace.as_ref(), &analysis, global)?))
}
