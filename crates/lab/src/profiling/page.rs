//! The profile as the first part of the analysis' document.

use anyhow::Result;
use polars::prelude::{Column, DataFrame};

use super::collecting::Recorded;
use super::documents::Parts;
use super::summary::lines;
use wavesieve_engine::{ColumnUnit, OutputColumn};
use wavesieve_export::cell::Cell;
use wavesieve_report::document::{Block, Document, Figure, Note, Section, Status, Table};

/// Makes the document of an analysis one of the profile.
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
        vec![
            (Column::new("what".into(), texts(&|one| one.0.to_owned())), ColumnUnit::Text, "what it is about"),
            (Column::new("found".into(), texts(&|one| one.1.clone())), ColumnUnit::Text, "what was found"),
        ],
        &["what"],
    )?;
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
    let shares = [
        (
            "lab_occupancy",
            "Occupancy",
            "wavefront slots that fit",
            parts.occupancy.as_ref().ok().map(|one| one.theoretical),
        ),
        (
            "lab_roof",
            "Of the roof",
            "time of the roof over the time",
            parts.roofline.as_ref().ok().and_then(|one| one.efficiency),
        ),
        ("lab_path", "Of the critical path", "time of the kernel on the path", on_path),
    ];
    let figure = |id: &str, label: &str, doc: &str, value: f64, unit| Figure {
        id: id.to_owned(),
        label: label.to_owned(),
        doc: doc.to_owned(),
        value: Cell::Float(value),
        unit,
        status: Status::Neutral,
    };
    let time = figure(
        "lab_time",
        "Kernel time",
        "median over the runs of the time of the dominant kernel",
        recorded.stability.median,
        ColumnUnit::Nanoseconds,
    );
    let share = |(id, label, doc, share): (&str, &str, &str, Option<f64>)| {
        Some(figure(id, label, doc, 100.0 * share?, ColumnUnit::Percent))
    };
    std::iter::once(time).chain(shares.into_iter().filter_map(share)).collect()
}

fn runs(recorded: &Recorded) -> Result<Option<Block>> {
    let runs = &recorded.measured.runs;
    let own = |run: &crate::measuring::RunTimes| run.kernel(&recorded.dominant).cloned();
    let numbers = |of: &dyn Fn(&crate::measuring::RunTimes) -> Option<i64>| runs.iter().map(of).collect::<Vec<_>>();
    let count = i64::try_from(runs.len()).unwrap_or(i64::MAX);
    table(
        "lab_runs",
        "Runs",
        "Time of the dominant kernel in each run, and the span of the GPU work.",
        vec![
            (Column::new("run".into(), (1..=count).collect::<Vec<i64>>()), ColumnUnit::Id, "number of the run"),
            (
                Column::new("total_ns".into(), numbers(&|run| Some(own(run)?.total_ns))),
                ColumnUnit::Nanoseconds,
                "sum of the dispatches of the kernel",
            ),
            (
                Column::new("longest_ns".into(), numbers(&|run| Some(own(run)?.longest_ns))),
                ColumnUnit::Nanoseconds,
                "the longest of them",
            ),
            (
                Column::new("dispatches".into(), numbers(&|run| i64::try_from(own(run)?.dispatches).ok())),
                ColumnUnit::Count,
                "dispatches of the kernel",
            ),
            (
                Column::new("span_ns".into(), numbers(&|run| Some(run.span_ns))),
                ColumnUnit::Nanoseconds,
                "from the first to the last activity of a GPU, of several the longest",
            ),
        ],
        &["run"],
    )
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
    let evidence = |one: &super::bottlenecks::Ranked| {
        let said = one
            .evidence
            .iter()
            .map(|known| format!("{} {:.1} {} ({})", known.title, known.value, known.unit, known.bound));
        said.collect::<Vec<_>>().join("; ")
    };
    let texts = |of: &dyn Fn(&super::bottlenecks::Ranked) -> String| all.iter().map(of).collect::<Vec<_>>();
    table(
        "lab_bottlenecks",
        "Bottlenecks",
        "A bottleneck is there if all of its evidence holds.",
        vec![
            (Column::new("bottleneck".into(), texts(&|one| one.verdict.clone())), ColumnUnit::Text, "what limits it"),
            (Column::new("state".into(), texts(&|one| one.state.clone())), ColumnUnit::Text, "yes, no or unknown"),
            (
                Column::new("score".into(), all.iter().map(|one| one.score).collect::<Vec<Option<f64>>>()),
                ColumnUnit::Number,
                "how far its weakest evidence reaches its bound",
            ),
            (
                Column::new("evidence".into(), texts(&evidence)),
                ColumnUnit::Text,
                "metrics and the bounds from which they count",
            ),
            (
                Column::new(
                    "missing".into(),
                    all.iter().map(|one| one.missing.clone()).collect::<Vec<Option<String>>>(),
                ),
                ColumnUnit::Text,
                "what is needed and was not collected",
            ),
        ],
        &["bottleneck"],
    )
}

type Declared = (Column, ColumnUnit, &'static str);

fn table(id: &str, title: &str, about: &str, columns: Vec<Declared>, key: &[&str]) -> Result<Option<Block>> {
    let declared = columns.iter().map(|(column, unit, doc)| OutputColumn {
        name: column.name().to_string(),
        unit: *unit,
        doc: (*doc).to_owned(),
    });
    let declared: Vec<OutputColumn> = declared.collect();
    let frame = DataFrame::new_infer_height(columns.into_iter().map(|(column, ..)| column).collect())?;
    let total_rows = frame.height();
    Ok((total_rows > 0).then(|| {
        Block::Table(Box::new(Table {
            id: id.to_owned(),
            title: title.to_owned(),
            about: about.to_owned(),
            question: None,
            columns: declared,
            frame,
            total_rows,
            key: key.iter().map(|name| (*name).to_owned()).collect(),
        }))
    }))
}
