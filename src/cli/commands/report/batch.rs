//! `report --group-by`: a document for each run, and an index of them.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::outputs::{Outputs, Place, is_foreign};
use crate::cli::exit::{DONE, EXCEEDED, Failure, NO_DATA, PARTIAL, SOME_FAILED, refuse};
use crate::cli::options::document_arguments::DocumentArguments;
use crate::cli::options::filters::print_unmatched;
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::input::{CacheArguments, InputArguments, Opening};
use crate::cli::output::delivery::print_written;
use crate::cli::output::document_output::{DocumentFormat, DocumentOutput};
use crate::cli::output::messages;
use crate::cli::output::progress::Progress;
use wavesieve_engine::Registry;
use wavesieve_export::atomic::{make_directory, replace_entries, write_file};
use wavesieve_input::InputError;
use wavesieve_report::analysis::AnalysisOptions;
use wavesieve_report::batch::{
    Grouping, Index, Outcome, Run, RunComparison, RunEntry, RunFigures, index_questions, runs,
};
use wavesieve_report::batch::{write_json, write_page};
use wavesieve_report::compare::{
    CompareOptions, Comparison, Digest, Side, TakeOptions, compare, document, take_digest,
};
use wavesieve_report::document::Document;
use wavesieve_report::html;
use wavesieve_report::timeline::{SideTimeline, Timeline, TimelineInputs, TimelineReader, compared};
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::jobs::Jobs;

/// Default directory.
const DIRECTORY: &str = "reports";
/// Default heading of the index, and start of the headings of documents.
const TITLE: &str = "GPU trace analysis";

/// Verdict for sides that differ too much.
const NOT_COMPARABLE: &str = "not_comparable";

/// The reports to write.
pub(crate) struct Batch<'a> {
    /// The traces.
    pub input: &'a InputArguments,
    /// The place for converted files.
    pub cache: &'a CacheArguments,
    /// The place and format of the documents.
    pub output: &'a DocumentOutput,
    /// Their content.
    pub document: &'a DocumentArguments,
    /// How files are grouped into runs.
    pub grouping: &'a Grouping,
    /// Name of the baseline run.
    pub baseline: Option<&'a str>,
    pub format: DocumentFormat,
}

/// The outcome of a run.
struct RunOutcome {
    outcome: Outcome,
    code: u8,
    filters: Vec<(String, String)>,
    /// The digest for the comparison with the baseline, and what the time line shows of the run; `None` without a comparison.
    compared: Option<(Digest, SideTimeline)>,
}

/// Writes the documents and the index.
pub(crate) fn run(batch: &Batch<'_>, registry: &Registry, global: &GlobalArguments) -> Result<u8, Failure> {
    if batch.output.output.is_some() {
        refuse!(
            "-o names one file, but --group-by writes one of each run; name their directory with -d, and the format with -f"
        );
    }
    let directory = batch.output.directory.clone().unwrap_or_else(|| PathBuf::from(DIRECTORY));
    let mut options = batch.document.options(registry, batch.output, batch.format)?;
    options.questions.extend(index_questions());
    let inputs = batch.input.named()?;
    let grouped = runs(&inputs, Some(&directory), batch.grouping)?;
    if !global.quiet {
        let line = |path: &PathBuf| format!("warning: {}: belongs to no run and is left out", path.display());
        messages::print_notes(&grouped.unmatched.iter().map(line).collect::<Vec<String>>(), "warning: ", global);
    }
    if grouped.runs.is_empty() {
        return Err(InputError::NoTrace { reasons: Vec::new() }.into());
    }
    if let Some(name) = batch.baseline.filter(|name| grouped.runs.iter().all(|run| run.name != **name)) {
        let names: Vec<&str> = grouped.runs.iter().map(|run| run.name.as_str()).collect();
        refuse!("--baseline {name} is not a run; choose among {}", names.join(", "));
    }
    let outputs = Outputs::new(&directory, &grouped.runs, batch.format)?;
    let stems: Vec<Option<&str>> = outputs.places().map(|place| Some(place.stem)).collect();
    batch.document.check_charts(&options.layout, batch.input, outputs.all(), &stems)?;
    let mut charts = stems.iter().filter_map(|stem| batch.document.charts_of(*stem));
    if let Some(directory) = charts.find(|directory| outputs.is_input(directory)) {
        let reason = "is an input, which is never written; name another directory with --charts";
        refuse!("{} {reason}", directory.display());
    }
    let _made = make_directory(&directory)?;
    let fill = |directory: &Path| write(batch, &grouped.runs, &outputs.within(directory), &options, global);
    // A link is written through; an exchange of directories would replace it.
    let (made, index) = match outputs.has_link() {
        true => fill(&directory)?,
        false => replace_entries(&directory, &outputs.listed_names(), &is_foreign, fill)?,
    };
    let written = outputs.documents.iter().zip(&index.entries).filter(|(_, entry)| entry.file().is_some());
    let compared = outputs.comparisons.iter().zip(&index.entries).filter(|(_, entry)| entry.comparison.is_some());
    written.clone().for_each(|(path, _)| print_written(path, global));
    outputs.remove_stale(&written.chain(compared).map(|(path, _)| path.as_path()).collect(), global);
    global.outbox.add(outputs.index_page.parent().unwrap_or(&outputs.index_page));
    let failed = index.failed().count();
    if !global.quiet {
        let documents = grouped.runs.len() - failed;
        let noun = if made.len() == 1 { "run" } else { "runs" };
        messages::print_note(format_args!(
            "wrote {}: {documents} of {} {noun}",
            outputs.index_page.display(),
            made.len()
        ));
    }
    Ok(code(&made, failed))
}

/// Writes all files of a batch.
fn write(
    batch: &Batch<'_>,
    runs: &[Run],
    outputs: &Outputs,
    options: &AnalysisOptions,
    global: &GlobalArguments,
) -> Result<(Vec<RunOutcome>, Index)> {
    let made = make_all(batch, runs, outputs, options, global);
    let entries: Vec<RunEntry> = runs.iter().zip(&made).map(|(run, made)| entry(run, made)).collect();
    let title = options.title.clone().unwrap_or_else(|| match made.len() {
        1 => format!("{TITLE} of 1 run"),
        runs => format!("{TITLE} of {runs} runs"),
    });
    let filters = made.iter().map(|made| made.filters.clone()).find(|filters| !filters.is_empty()).unwrap_or_default();
    let mut index = Index::new(title, entries, batch.baseline).with_filters(filters);
    write_comparisons(&mut index, &made, outputs)?;
    write_file(&outputs.index_json, |out| write_json(&index, out))?;
    write_file(&outputs.index_page, |out| write_page(&index, out))?;
    Ok((made, index))
}

/// The exit code of the first run if all failed; otherwise the code with the highest precedence.
fn code(made: &[RunOutcome], failed: usize) -> u8 {
    let has = |code: u8| made.iter().any(|made| made.code == code);
    match made.first() {
        Some(first) if failed == made.len() => first.code,
        // A missing run does not hide an exceeded threshold.
        _ if has(EXCEEDED) => EXCEEDED,
        _ if failed > 0 => SOME_FAILED,
        _ if has(PARTIAL) => PARTIAL,
        _ if has(NO_DATA) => NO_DATA,
        _ => DONE,
    }
}

fn entry(run: &Run, made: &RunOutcome) -> RunEntry {
    RunEntry { name: run.name.clone(), places: run.places.clone(), outcome: made.outcome.clone(), comparison: None }
}

/// Compares every run with the baseline, and writes a page of each comparison.
fn write_comparisons(index: &mut Index, made: &[RunOutcome], outputs: &Outputs) -> Result<()> {
    let place = index.entries.iter().position(|entry| Some(&entry.name) == index.baseline.as_ref());
    let baseline = place.and_then(|place| made.get(place)?.compared.as_ref());
    let Some((baseline, base_line)) = baseline else { return Ok(()) };
    let base = Side { runs: vec![baseline.clone()] };
    for (at, ((entry, made), path)) in index.entries.iter_mut().zip(made).zip(&outputs.comparisons).enumerate() {
        let Some((digest, line)) = made.compared.as_ref().filter(|_| Some(at) != place) else { continue };
        let found = compare(&base, &Side { runs: vec![digest.clone()] }, &CompareOptions::default());
        let picture = compared(base_line.clone(), line.clone(), &found.matched_names(), &found.readable_names())?;
        let inputs = TimelineInputs::sides(&baseline.facts.inputs, &digest.facts.inputs);
        let page = Document { timeline: Some(Timeline { picture, inputs }), ..document(&found)? };
        write_file(path, |out| html::write(&page, out))?;
        entry.comparison = Some(run_comparison(path, &found));
    }
    Ok(())
}

fn run_comparison(path: &Path, found: &Comparison) -> RunComparison {
    let total = |metric: &str| {
        let total = found.totals.iter().find(|total| total.metric == metric)?;
        total.verdict.filter(|_| found.verdict != NOT_COMPARABLE).map(ToOwned::to_owned)
    };
    let has = |verdict: &str| found.kernels.iter().any(|kernel| kernel.verdict == verdict);
    let kernels = match (has("slower"), has("faster")) {
        _ if found.verdict == NOT_COMPARABLE => None,
        (true, false) => Some("slower"),
        (false, true) => Some("faster"),
        _ => None,
    };
    RunComparison {
        file: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        verdict: found.verdict.to_owned(),
        reason: found.reason.clone(),
        kernels: kernels.map(ToOwned::to_owned),
        idle: total("idle"),
        exposed_comm: total("exposed_comm"),
    }
}

/// Makes the documents, several at a time; the available jobs and memory are divided among them.
fn make_all(
    batch: &Batch<'_>,
    runs: &[Run],
    outputs: &Outputs,
    options: &AnalysisOptions,
    global: &GlobalArguments,
) -> Vec<RunOutcome> {
    let all = global.jobs();
    let at_once = all.count.clamp(1, runs.len().max(1));
    let each = Jobs { count: (all.count / at_once).max(1), memory_bytes: all.memory_bytes / at_once as u64 };
    let progress = Progress::of_runs(runs.len(), global);
    let items: Vec<(&Run, Place<'_>)> = runs.iter().zip(outputs.places()).collect();
    let work = |(run, place): &(&Run, Place<'_>)| -> Result<RunOutcome, Infallible> {
        let made = make(batch, run, *place, options, (each, runs.len() > 1), global).unwrap_or_else(|failure| {
            let reason = outputs.as_named(&failure.message());
            messages::print_note(format_args!("error: {}: {reason}", run.name));
            let outcome = Outcome::Failed { reason };
            RunOutcome { outcome, code: failure.exit_code(), filters: Vec::new(), compared: None }
        });
        progress.made(&run.name);
        Ok(made)
    };
    let Ok(made) = Jobs { count: at_once, memory_bytes: u64::MAX }.run(&items, |_| 0, work);
    progress.finish();
    made
}

/// Makes the document of a run.
fn make(
    batch: &Batch<'_>,
    run: &Run,
    place: Place<'_>,
    options: &AnalysisOptions,
    (jobs, is_compared): (Jobs, bool),
    global: &GlobalArguments,
) -> Result<RunOutcome, Failure> {
    let opening = Opening { cache: Some(batch.cache), run: Some(run), jobs: Some(jobs), ..Opening::default() };
    let trace = batch.input.open(global, &opening)?;
    messages::warn(&trace, global);
    let title = options.title.as_deref().unwrap_or(TITLE);
    let mut analysis =
        AnalysisOptions { title: Some(format!("{title}: {}", run.name)), ..options.clone() }.analyze(&trace)?;
    messages::detail(global, format_args!("analysed {}", run.name));
    let is_damaged = messages::report_damage(&trace, global);
    let is_unmatched = print_unmatched(&trace, &analysis.unmatched, analysis.is_empty, global);
    if is_unmatched && analysis.is_empty {
        let reason = (run.places.join(", "), "nothing is left by the filters".to_owned());
        return Err(InputError::NoTrace { reasons: vec![reason] }.into());
    }
    batch.document.take_charts(&mut analysis.document, batch.format, Some(place.stem), global)?;
    batch.output.write_to(&analysis, batch.format, place.document)?;
    let file = place.document.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let has_failed = batch.document.print_failed(&analysis.document, Some(&run.name), global);
    let code = match (has_failed, is_damaged, is_unmatched) {
        (true, _, _) => EXCEEDED,
        (false, true, _) => PARTIAL,
        (false, false, true) => NO_DATA,
        (false, false, false) => DONE,
    };
    let outcome = Outcome::Done { file, figures: Box::new(RunFigures::new(&analysis)) };
    let compared = if is_compared { Some(digest_and_timeline(&trace, run)?) } else { None };
    Ok(RunOutcome { outcome, code, filters: analysis.document.provenance.filters, compared })
}

fn digest_and_timeline(trace: &Trace, run: &Run) -> Result<(Digest, SideTimeline)> {
    let reader = TimelineReader::new(trace);
    let options = TakeOptions { timeline: Some(&reader), ..TakeOptions::default() };
    let digest = take_digest(trace, &run.places, &options)?;
    Ok((digest, SideTimeline::new(trace, reader)?))
}
