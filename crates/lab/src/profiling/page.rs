//! The profile as the first part of the analysis' document.

use anyhow::Result;
use polars::df;
use polars::prelude::DataFrame;

use super::bottlenecks::{Known, Ranked};
use super::collecting::Recorded;
use super::documents::Parts;
use super::summary::lines;
use crate::measuring::RunTimes;
use wavesieve_engine::{ColumnUnit, OutputColumn};
use wavesieve_export::cell::Cell;
use wavesieve_report::document::{Block, Document, Figure, Note, Section, Status, Table};

/// Turns the document of an analysis into the document of the profile.
pub(super) fn add_profile(document: &mut Document, recorded: &Recorded, parts: &Parts) -> Result<()> {
    document.title = format!("Profile of {}", parts.kernel.name);
    document.summary = format!(
        "Time of the kernel: {}. What limits it: {}. {}",
        wavesieve_engine::findings::duration(recorded.stability.median),
        parts.verdict.primary,
        document.summary
    );
    document.figures.splice(0..0, figures_of(recorded, parts));
    let figures: Vec<(&str, String)> = lines(recorded, parts);
    let texts = |of: &dyn Fn(&(&str, String)) -> String| figures.iter().map(of).collect::<Vec<_>>();
    let overview = table(
        "profile",
        "Profile",
        "What was found of the dominant kernel, and why what is absent is.",
        df!["what" => texts(&|one| one.0.to_owned()), "found" => texts(&|one| one.1.clone())]?,
        &[(ColumnUnit::Text, "what it is about"), (ColumnUnit::Text, "what was found")],
    );
    let sections = [
        Section {
            id: "lab_profile".to_owned(),
            title: "Profile".to_owned(),
            about: "The kernel of the program with most time over all runs, without kernels of the runtime.".to_owned(),
            blocks: overview.into_iter().chain(runs(recorded)?).chain(passes(recorded)).collect(),
        },
        Section {
            id: "lab_bottlenecks".to_owned(),
            title: "What limits the kernel".to_owned(),
            about:
                "All bottlenecks, the most likely first. The score is how far the weakest evidence reaches its bound."
                    .to_owned(),
            blocks: bottlenecks(parts)?.into_iter().collect(),
        },
    ];
    document.sections.splice(0..0, sections);
    Ok(())
}

fn figures_of(recorded: &Recorded, parts: &Parts) -> Vec<Figure> {
    let path = parts.path.as_ref().ok();
    let on_path = path.and_then(|path| path.symbol_fractions.get(&recorded.dominant).copied());
    let occupancy = parts.occupancy.as_ref().ok().map(|one| one.theoretical);
    let of_roof = parts.roofline.as_ref().ok().and_then(|one| one.efficiency);
    let share = |id, label, doc, found: Option<f64>| (id, label, doc, found.map(|share| 100.0 * share));
    let time = "median over the runs of the time of the dominant kernel";
    let figures = [
        ("lab_time", "Kernel time", time, Some(recorded.stability.median)),
        share("lab_occupancy", "Occupancy", "wavefront slots that fit", occupancy),
        share("lab_roof", "Of the roof", "time of the roof over the time", of_roof),
        share("lab_path", "Of the critical path", "time of the kernel on the path", on_path),
    ];
    let figure = |(id, label, doc, value): (&str, &str, &str, Option<f64>)| {
        Some(Figure {
            id: id.to_owned(),
            label: label.to_owned(),
            doc: doc.to_owned(),
            value: Cell::Float(value?),
            unit: if id == "lab_time" { ColumnUnit::Nanoseconds } else { ColumnUnit::Percent },
            status: Status::Neutral,
        })
    };
    figures.into_iter().filter_map(figure).collect()
}

fn runs(recorded: &Recorded) -> Result<Option<Block>> {
    let runs = &recorded.measured.runs;
    let own = |run: &RunTimes| run.kernel(&recorded.dominant).cloned();
    let numbers = |of: &dyn Fn(&RunTimes) -> Option<i64>| runs.iter().map(of).collect::<Vec<_>>();
    let count = i64::try_from(runs.len()).unwrap_or(i64::MAX);
    let frame = df![
        "run" => (1..=count).collect::<Vec<i64>>(),
        "total_ns" => numbers(&|run| Some(own(run)?.total_ns)),
        "longest_ns" => numbers(&|run| Some(own(run)?.longest_ns)),
        "dispatches" => numbers(&|run| i64::try_from(own(run)?.dispatches).ok()),
        "span_ns" => numbers(&|run| Some(run.span_ns)),
    ]?;
    let columns = [
        (ColumnUnit::Id, "number of the run"),
        (ColumnUnit::Nanoseconds, "sum of the dispatches of the kernel"),
        (ColumnUnit::Nanoseconds, "the longest of them"),
        (ColumnUnit::Count, "dispatches of the kernel"),
        (ColumnUnit::Nanoseconds, "from the first to the last activity of a GPU, of several the longest"),
    ];
    let about = "Time of the dominant kernel in each run, and the span of the GPU work.";
    Ok(table("lab_runs", "Runs", about, frame, &columns))
}

fn passes(recorded: &Recorded) -> Vec<Block> {
    let failed = recorded.passes.iter().filter_map(|pass| {
        let reason = pass.failed.as_ref()?;
        Some(Block::Note(Note { is_warning: true, text: format!("A counter pass failed: {reason}") }))
    });
    failed.collect()
}

fn bottlenecks(parts: &Parts) -> Result<Option<Block>> {
    let all = &parts.bottlenecks;
    let evidence = |one: &Ranked| one.evidence.iter().map(Known::text).collect::<Vec<_>>().join("; ");
    let texts = |of: &dyn Fn(&Ranked) -> String| all.iter().map(of).collect::<Vec<_>>();
    let frame = df![
        "bottleneck" => texts(&|one| one.verdict.clone()),
        "state" => texts(&|one| one.state.clone()),
        "score" => all.iter().map(|one| one.score).collect::<Vec<_>>(),
        "evidence" => texts(&evidence),
        "missing" => all.iter().map(|one| one.missing.clone()).collect::<Vec<_>>(),
    ]?;
    let columns = [
        (ColumnUnit::Text, "what limits it"),
        (ColumnUnit::Text, "yes, no or unknown"),
        (ColumnUnit::Number, "how far its weakest evidence reaches its bound"),
        (ColumnUnit::Text, "metrics and the bounds from which they count"),
        (ColumnUnit::Text, "what is needed and was not collected"),
    ];
    let about = "A bottleneck is there if all of its evidence holds.";
    Ok(table("lab_bottlenecks", "Bottlenecks", about, frame, &columns))
}

/// A table with its first column as key. Each column has a unit and an explanation.
fn table(id: &str, title: &str, about: &str, frame: DataFrame, columns: &[(ColumnUnit, &str)]) -> Option<Block> {
    let names: Vec<String> = frame.get_column_names().into_iter().map(ToString::to_string).collect();
    let declared = names.iter().zip(columns).map(|(name, (unit, doc))| OutputColumn {
        name: name.clone(),
        unit: *unit,
        doc: (*doc).to_owned(),
    });
    (frame.height() > 0).then(|| {
        Block::Table(Box::new(Table {
            id: id.to_owned(),
            title: title.to_owned(),
            about: about.to_owned(),
            question: None,
            command: None,
            columns: declared.collect(),
            total_rows: frame.height(),
            frame,
            key: names.first().cloned().into_iter().collect(),
        }))
    })
}
