//! `ask QUESTION INPUT…`: an answer in words.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::command_line::CommandLine;
use crate::cli::exit::{DONE, Failure, NO_DATA, PARTIAL, UNEXPECTED, refuse};
use crate::cli::options::filters::explain_unmatched;
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::input::{InputArguments, Opening};
use crate::cli::options::llm::{LlmArguments, check_own};
use crate::cli::output::document_output::{DocumentFormat, DocumentOutput};
use crate::cli::output::messages::{self, note};
use crate::cli::output::model_progress::ModelProgress;
use wavesieve_agent::ask::{
    Answered, Dialogue, Inputs, Search, Suggested, Toolkit, ToolkitOptions, Unaided, Unassisted, add_answer,
    add_failure, unassisted,
};
use wavesieve_agent::filters::{FilterArguments, named};
use wavesieve_agent::llm::{LlmError, Narrator, model, shown_model};
use wavesieve_engine::Registry;
use wavesieve_engine::findings::QueryRequest;
use wavesieve_model::analysis::counter_plan::quoted;
use wavesieve_report::analysis::{Analysis, AnalysisOptions};
use wavesieve_report::document::Layout;
use wavesieve_report::overview::Overview;
use wavesieve_tables::trace::Trace;

/// File name if only a directory is given.
const STEM: &str = "analysis";

/// Ask a question in words
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "With --llm, a language model calls tools on the inputs until it can answer. Its numbers and names are looked for in the results, and each result has the command that prints it. Without --llm, runs the named query that fits the question best and shows its rows, or reports what was not recorded.

Examples:
  wavesieve ask 'Which kernel takes most time?' traces/
  wavesieve ask 'Is communication overlapped?' traces/ -f markdown
  wavesieve ask 'Why are the GPUs idle?' traces/ --llm local:qwen3 --llm-dry-run"
)]
pub(crate) struct AskArguments {
    /// The question
    #[arg(value_name = "QUESTION")]
    question: String,
    /// Files, directories (searched recursively) and glob patterns; all of them are one trace
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<String>,
    /// Run before a change, which the model can compare with the inputs; repeatable
    #[arg(long, value_name = "INPUT", help_heading = "Question")]
    baseline: Vec<String>,
    /// Tool calls that the model may make
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=50),
          help_heading = "Question")]
    steps: u8,
    /// Seconds that a tool call may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400),
          help_heading = "Question")]
    time_limit: u64,
    #[command(flatten)]
    filters: FilterArguments,
    #[command(flatten)]
    output: DocumentOutput,
    #[command(flatten)]
    llm: LlmArguments,
}

pub(crate) fn run(
    arguments: &AskArguments,
    registry: &Registry,
    command: &CommandLine<'_>,
    global: &GlobalArguments,
) -> Result<u8, Failure> {
    let question = arguments.question.trim();
    if question.is_empty() {
        refuse!("the question is empty; write it in quotes, before the inputs");
    }
    let input = InputArguments::plain(arguments.inputs.clone(), arguments.filters.clone());
    let format = arguments.output.format().unwrap_or_default();
    let questions = arguments.output.questions(format)?;
    let path = arguments.output.file(&input, format, STEM)?;
    let filters = input.filters()?;
    let chosen = filters.command_line();
    if !arguments.baseline.is_empty() && !chosen.is_empty() {
        refuse!("--baseline compares whole runs; leave out the filters");
    }
    let narrator = arguments.llm.narrator(global)?;
    let inputs = Inputs::new(&arguments.inputs);
    // Reports missing inputs now, not later from the commands.
    let trace = input.open(global, &Opening::default())?;
    let words: Vec<String> = [inputs.words()].into_iter().chain(chosen.iter().map(|word| quoted(word))).collect();
    let suggest = || suggested(registry, &trace, question, &words.join(" "));
    messages::warn(&trace, global);
    let Some(narrator) = narrator else {
        let asked = Unaided { question, words: &words.join(" "), rows: arguments.output.rows(format) };
        return without_model(arguments, &trace, registry, &asked, (format, path), global);
    };
    let names = ["kernel_summary", "range_summary", "api_summary"].map(QueryRequest::new);
    let layout = Layout::builtin().map_err(anyhow::Error::from)?.only(&[]);
    let options = AnalysisOptions {
        registry: registry.clone(),
        layout: layout.map_err(anyhow::Error::from)?,
        rows: arguments.output.rows(format),
        questions: questions.into_iter().chain(names).collect(),
        prompt: Some(question.to_owned()),
        ..AnalysisOptions::builtin()?
    };
    let mut analysis = options.analyze(&trace)?;
    let baseline = match arguments.baseline.as_slice() {
        [] => None,
        named => {
            let base = InputArguments::plain(named.to_vec(), arguments.filters.clone());
            Some((Inputs::new(named), base.open(global, &Opening::default())?))
        }
    };
    let tools = Toolkit::new(ToolkitOptions {
        inputs,
        baseline: baseline.as_ref().map(|(inputs, _)| inputs.clone()),
        filters: named(&filters),
        time_limit: Duration::from_secs(arguments.time_limit),
        process_options: global.words(),
    });
    let base = baseline.as_ref().map(|(_, trace)| trace);
    let mut dialogue = Dialogue::new(&narrator, &analysis, registry, tools, base, usize::from(arguments.steps))?;
    if narrator.options().thinking.is_some() {
        note!(global, "note: --llm-thinking is not used where a model calls tools");
    }
    let progress = ModelProgress::new(global);
    let answered = dialogue.ask(question, &progress);
    progress.finish();
    if let Err(LlmError::DryRun) = &answered.reply {
        messages::print(dialogue.shown())?;
        return Ok(DONE);
    }
    let check = |words: &[String]| check_own(command, words);
    add_answer(&mut analysis.document, question, &answered, &dialogue, registry, &check, options.rows)?;
    let code = conclude(&narrator, answered, &mut analysis, &suggest, global)?;
    arguments.output.deliver(&analysis, format, path.as_deref(), global)?;
    let is_damaged = messages::report_damage(&trace, global);
    Ok(if code == DONE && is_damaged { PARTIAL } else { code })
}

/// Reports the cost of the answer, or the reason for a failure; the document gets the reason too.
fn conclude(
    narrator: &Narrator,
    answered: Answered,
    analysis: &mut Analysis,
    suggest: &dyn Fn() -> Result<Vec<Suggested>, Failure>,
    global: &GlobalArguments,
) -> Result<u8, Failure> {
    match answered.reply {
        Ok(reply) => {
            if !global.quiet {
                let line = answered.usage.line(&model(&reply.model));
                messages::print_note(format_args!("asked {} of {}: {line}", shown_model(&reply.model), reply.provider));
                let warnings = answered.kept.warnings.iter();
                warnings.for_each(|text| messages::print_note(format_args!("warning: {text}")));
            }
            let Some(error) = answered.kept.not_kept else { return Ok(DONE) };
            messages::print_note(format_args!("error: {error}"));
            Ok(UNEXPECTED)
        }
        Err(LlmError::Usage(text)) => Err(Failure::Usage(text)),
        Err(error) => {
            let who: Vec<&str> = narrator.options().providers.iter().map(String::as_str).collect();
            let text = format!("no answer of {}: {error}", who.join(", "));
            messages::print_note(format_args!("error: {text}"));
            add_failure(&mut analysis.document, text, &suggest()?);
            Ok(UNEXPECTED)
        }
    }
}

/// The queries that fit a question best, among those that have or may find rows in this trace.
fn suggested(registry: &Registry, trace: &Trace, question: &str, words: &str) -> Result<Vec<Suggested>, Failure> {
    let (with_rows, if_found) = Overview::of(trace)?.queries(trace, registry)?;
    let offered: BTreeSet<&str> = with_rows.iter().chain(&if_found).map(|query| query.name.as_str()).collect();
    Ok(Search::new(registry).find(question, words, &|name| offered.contains(name)))
}

/// Runs the query that fits best and writes its rows.
fn without_model(
    arguments: &AskArguments,
    trace: &Trace,
    registry: &Registry,
    asked: &Unaided<'_>,
    (format, path): (DocumentFormat, Option<PathBuf>),
    global: &GlobalArguments,
) -> Result<u8, Failure> {
    note!(
        global,
        "note: no model is asked; for an answer in words name one with --llm, such as --llm local for Ollama"
    );
    let (document, reason) = match unassisted(trace, registry, asked)? {
        Unassisted::Answered(document) => (document, None),
        Unassisted::NoRows { document, reason } => (document, Some(reason)),
        Unassisted::NotUnderstood { examples } => {
            let text = "no query is about this question; `wavesieve table --list` lists all queries";
            let examples: Vec<String> = examples.iter().map(|example| format!("\n  {example}")).collect();
            let can = if examples.is_empty() { "" } else { "; these inputs can answer questions such as" };
            messages::print_note(format_args!("{text}{can}{}", examples.concat()));
            return Ok(NO_DATA);
        }
    };
    let analysis = Analysis::of_document(*document, asked.question);
    arguments.output.deliver(&analysis, format, path.as_deref(), global)?;
    let is_unmatched = explain_unmatched(trace, false, global)?;
    if messages::report_damage(trace, global) {
        return Ok(PARTIAL);
    }
    if let Some(reason) = &reason
        && !is_unmatched
    {
        note!(global, "no rows: {reason}");
    }
    Ok(if reason.is_some() || is_unmatched { NO_DATA } else { DONE })
}
