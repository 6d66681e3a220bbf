//! A comparison as a document, for the page.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::{Column, DataFrame, DataType, df};

use super::columns::{note, rest, waterfall};
use super::tables::frames;
use crate::charts::{Axis, Bar, Change, Chart, Line, Role};
use crate::compare::comparability::Level;
use crate::compare::document::{Comparison, IterationRow, KernelRow, SideFacts};
use crate::compare::places::Aligned;
use crate::compare::summary::signed_pct;
use crate::document::{Block, Document, Drawn, Figure, Input, Note, Provenance, Section, Status, Table};
use crate::full_tables::FullTable;
use wavesieve_engine::findings::{RunViews, shortened};
use wavesieve_engine::{ColumnUnit, OutputColumn};
use wavesieve_export::cell::Cell;
use wavesieve_model::analysis::categories::COMMUNICATION;

/// Maximum number of bars in a chart.
const MAX_BARS: usize = 15;
/// Maximum length of the name of a bar.
const LONGEST_LABEL: usize = 60;
/// Meanings of table columns, by name; other meanings follow from the ends of the names.
const DOCS: [(&str, &str); 15] = [
    ("base_ns", "time on the base side, per unit of the basis and averaged over GPUs"),
    ("new_ns", "the same on the new side"),
    ("delta_ns", "new minus base"),
    ("ratio", "typical duration on the new side over that on the base side"),
    ("resolution_pct", "smallest change that would have been flagged"),
    ("calls_effect_ns", "part of the change by the number of calls"),
    ("speed_effect_ns", "part of the change by durations of the same shapes"),
    ("mix_effect_ns", "part of the change by other proportions of the shapes"),
    ("selection_effect_ns", "part of the change by another kernel in its place"),
    ("p_holm", "probability of such a change by chance, adjusted for all kernels"),
    ("path_delta_ns", "part of the change that is on the critical path"),
    ("verdict", "slower, faster, same, unclear, too_few, untested, new, gone or replaced; of counters higher or lower"),
    ("share_pct", "share of the kernel time on the side where it is larger"),
    ("unit", "what single values of the evidence are"),
    ("samples", "number of values on the side with fewer"),
];
/// Columns of the kernels that the page shows, in order.
const KERNEL_COLUMNS: [&str; 16] = [
    "key",
    "category",
    "verdict",
    "delta_ns",
    "base_total_ns",
    "new_total_ns",
    "base_calls",
    "new_calls",
    "ratio",
    "ci_low",
    "ci_high",
    "resolution_pct",
    "calls_effect_ns",
    "speed_effect_ns",
    "mix_effect_ns",
    "selection_effect_ns",
];

/// The document of a comparison.
///
/// # Errors
/// When a table cannot be built, which is a defect.
pub fn document(comparison: &Comparison) -> Result<Document> {
    let names = comparison.readable_names();
    let shown = comparison.readable(&names);
    let mut sections = vec![span(&shown)?, kernels(comparison, &shown, 0)?];
    sections.extend(iterations(comparison));
    sections.extend(alignment(comparison)?);
    sections.extend(others(comparison)?);
    Ok(Document {
        title: "Comparison of two runs".to_owned(),
        summary: format!("{}: {}.", shown.verdict, shown.reason),
        head: Vec::new(),
        notes: notes(&shown),
        views: RunViews::default(),
        is_judged: false,
        tier: 1,
        figures: figures(comparison),
        findings: Vec::new(),
        sections,
        provenance: provenance(comparison),
        names,
        timeline: None,
    })
}

/// The comparison as a section of an analysis, with this number of kernels, 0 for all.
///
/// # Errors
/// When a table cannot be built, which is a defect.
pub fn baseline_section(comparison: &Comparison, rows: usize) -> Result<Section> {
    let shown = comparison.readable(&comparison.readable_names());
    let mut blocks: Vec<Block> = notes(&shown).into_iter().map(Block::Note).collect();
    blocks.extend(span(&shown)?.blocks);
    blocks.extend(kernels(comparison, &shown, rows)?.blocks);
    for block in &mut blocks {
        match block {
            Block::Chart(drawn) => drawn.id.insert_str(0, "baseline_"),
            Block::Table(table) => table.id.insert_str(0, "baseline_"),
            Block::Note(_) => {}
        }
    }
    let about = format!("{}: {}. {}", shown.verdict, shown.reason, rest(comparison));
    Ok(Section::new("baseline", "Compared with the baseline", &about, blocks))
}

fn notes(comparison: &Comparison) -> Vec<Note> {
    let checks = comparison.comparability.iter().filter(|one| one.level != Level::Info).map(|one| {
        let values = if one.base.is_empty() { String::new() } else { format!(" ({} against {})", one.base, one.new) };
        Note { is_warning: true, text: format!("{}{values}.", capitalized(one.message.as_str())) }
    });
    let failed = comparison.gate.failed.iter().map(|result| ("Failed", result));
    let gates = failed.chain(comparison.gate.undecided.iter().map(|result| ("Undecided", result)));
    let gates = gates
        .map(|(word, result)| Note { is_warning: true, text: format!("{word}: {}: {}.", result.rule, result.reason) });
    let basis = &comparison.basis;
    let about =
        format!("Times are per {}, averaged over GPUs ({} against {}).", basis.unit, basis.base_units, basis.new_units);
    let span = comparison.totals.iter().find(|total| total.metric == "span").and_then(|span| span.verdict_why);
    let untested = span.map(|why| Note { is_warning: false, text: format!("The span was not judged: {why}.") });
    [Note { is_warning: false, text: about }].into_iter().chain(untested).chain(gates).chain(checks).collect()
}

/// A text with a capital first letter.
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn figures(comparison: &Comparison) -> Vec<Figure> {
    let status = |verdict: Option<&str>| match verdict {
        Some("slower") => Status::Critical,
        Some("faster") => Status::Good,
        _ => Status::Neutral,
    };
    let change = |metric: &str, label: &str| {
        let total = comparison.totals.iter().find(|total| total.metric == metric)?;
        let (id, doc) = (format!("change_of_{metric}"), format!("change of the {metric} time"));
        let figure = Figure::new(&id, label, &doc, Cell::Text(signed_pct(total.pct?)), ColumnUnit::Text);
        Some(Figure { status: status(total.verdict), ..figure })
    };
    let with = |verdict: &str| comparison.kernels.iter().filter(|kernel| kernel.verdict == verdict).count();
    let parts = [
        ("span", "Span"),
        ("busy", "Busy"),
        ("idle", "Idle"),
        ("compute", "Compute"),
        ("exposed_comm", "Exposed communication"),
    ];
    let mut figures: Vec<Figure> = parts.into_iter().filter_map(|(metric, label)| change(metric, label)).collect();
    figures.push(Figure::count("slower", "Slower kernels", "kernels that surely got slower", with("slower")));
    figures.push(Figure::count("faster", "Faster kernels", "kernels that surely got faster", with("faster")));
    figures
}

pub(super) fn drawn(id: &str, chart: Chart) -> Option<Block> {
    (!chart.is_empty())
        .then(|| Block::Chart(Box::new(Drawn { id: id.to_owned(), question: None, command: None, chart })))
}

/// The change of the span: both sides, and the causes in both directions.
fn span(comparison: &Comparison) -> Result<Section> {
    let of_side = |name: &str, base: bool| {
        let time = |part: &str| {
            let row = comparison.decomposition.iter().find(|row| row.gpu.is_none() && row.part == part);
            row.map_or(0.0, |row| if base { row.base_ns } else { row.new_ns } as f64)
        };
        (name.to_owned(), [time("compute"), time("exposed_comm"), time("exposed_copy"), time("idle")])
    };
    let sides = Chart::time_by_rank("How the span divides", [of_side("base", true), of_side("new", false)]);
    // As in the verdict, these add up to the change of the span.
    let mut causes: Vec<(String, i64, Role)> = comparison
        .kernels
        .iter()
        .filter(|kernel| kernel.category != COMMUNICATION)
        .map(|kernel| (shortened(&kernel.key, LONGEST_LABEL), kernel.delta_ns, Role::of_name(&kernel.category)))
        .collect();
    let is_cause =
        |part: &str| part.starts_with("idle_") || matches!(part, "overlap_compute" | "exposed_comm" | "exposed_copy");
    let parts = comparison.decomposition.iter().filter(|row| row.gpu.is_none() && is_cause(&row.part));
    causes.extend(parts.map(|row| (row.part.replacen('_', " ", 1), row.delta_ns, Role::of_name(&row.part))));
    let bars = |longer: bool| {
        let mut chosen: Vec<&(String, i64, Role)> =
            causes.iter().filter(|(_, delta_ns, _)| if longer { *delta_ns > 0 } else { *delta_ns < 0 }).collect();
        chosen.sort_by(|one, other| other.1.abs().cmp(&one.1.abs()).then_with(|| one.0.cmp(&other.0)));
        let title = if longer { "What takes longer" } else { "What takes less" };
        let bar = |(name, delta_ns, role): &&(String, i64, Role)| {
            let role = if *role == Role::Other { Role::Compute } else { *role };
            Bar::new(name.clone(), delta_ns.unsigned_abs() as f64).with_role(role)
        };
        Chart::bars(title, Axis::time("change per unit"), chosen.iter().take(MAX_BARS).map(bar).collect::<Vec<Bar>>())
    };
    let mut blocks: Vec<Block> = [("sides", sides), ("longer", bars(true)), ("shorter", bars(false))]
        .into_iter()
        .filter_map(|(id, chart)| drawn(id, chart))
        .collect();
    let rows = waterfall(comparison);
    let texts = |of: &dyn Fn(&(usize, &crate::compare::document::PartRow)) -> String| {
        rows.iter().map(of).collect::<Vec<String>>()
    };
    let numbers = |of: &dyn Fn(&crate::compare::document::PartRow) -> i64| {
        rows.iter().map(|(_, row)| of(row)).collect::<Vec<i64>>()
    };
    let frame = df!(
        "part" => texts(&|(depth, row)| format!("{}{}", "· ".repeat(*depth), row.part)),
        "base_ns" => numbers(&|row| row.base_ns),
        "new_ns" => numbers(&|row| row.new_ns),
        "delta_ns" => numbers(&|row| row.delta_ns),
    )?;
    let about = "Every part is the sum of the parts below it.";
    blocks.push(table("span", "The span, part by part", about, frame, 0, &["part"]));
    let about = "The span of a GPU divides into compute, exposed communication, exposed copies and idle time; parts that overlap others, or are hidden by them, are subtracted.";
    Ok(Section::new("span", "Where the span changed", about, blocks))
}

/// The kernels: a chart with readable names, and a table.
fn kernels(comparison: &Comparison, shown: &Comparison, rows: usize) -> Result<Section> {
    let all = frames(comparison)?.into_iter().find(|table| table.name == "kernels").map(|table| table.frame);
    let pct = |ratio: f64| (ratio - 1.0) * 100.0;
    let change = |kernel: &KernelRow| {
        Some(Change {
            name: shortened(&kernel.key, LONGEST_LABEL),
            pct: pct(kernel.ratio?),
            low_pct: pct(kernel.ci_low?),
            high_pct: pct(kernel.ci_high?),
            weight_pct: kernel.share_pct,
            is_sure: matches!(kernel.verdict, "slower" | "faster"),
        })
    };
    let changes = shown.kernels.iter().filter_map(change).collect();
    let title = "Change of the typical duration of each kernel";
    let chart = Chart::changes(title, "share of the kernel time", comparison.settings.effect_pct, changes);
    let mut blocks: Vec<Block> = drawn("changes", chart).into_iter().collect();
    if let Some(frame) = all {
        let notes: BTreeMap<&str, String> =
            comparison.kernels.iter().map(|kernel| (kernel.key.as_str(), note(kernel))).collect();
        let keys = frame.column("key")?.str()?;
        let notes: Vec<Option<&str>> =
            keys.iter().map(|key| notes.get(key?).map(String::as_str).filter(|note| !note.is_empty())).collect();
        let mut frame = frame.select(KERNEL_COLUMNS)?;
        frame.with_column(Column::new("note".into(), notes))?;
        blocks.push(table("kernels", "All kernels", "", frame, rows, &["key"]));
    }
    Ok(Section::new("kernels", "Kernels", &rest(comparison), blocks))
}

/// Steady iterations of both sides, one line for each side and GPU.
fn iterations(comparison: &Comparison) -> Option<Section> {
    let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    let mut add = |row: &IterationRow| {
        let name = format!("{}{}", row.side, if row.run > 0 { format!(" run {}", row.run + 1) } else { String::new() });
        let point = (row.iteration as f64, row.duration_ns as f64);
        match lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => lines.push((name, vec![point])),
        }
    };
    let first = comparison.iterations.first().map(|row| (row.rank, row.gpu))?;
    comparison.iterations.iter().filter(|row| (row.rank, row.gpu) == first).for_each(&mut add);
    let lines = lines.into_iter().map(|(name, points)| Line { name, points }).collect();
    let unit = if comparison.basis.kind == "iteration" { comparison.basis.unit.as_str() } else { "iteration" };
    // No steady part is claimed of repetitions.
    let steady = if unit == "repetition" { "" } else { "steady " };
    let title = format!("Durations of the {unit}s of rank {} GPU {}", first.0, first.1);
    let chart = Chart::pace(title, Axis::count(format!("{steady}{unit}")), Axis::time("duration"), lines);
    let about = capitalized(&format!("{steady}{unit}s of both sides over their ordinal."));
    Some(Section::new("iterations", &capitalized(&format!("{unit}s")), &about, vec![drawn("iterations", chart)?]))
}

/// Differences between typical iterations of both sides.
fn alignment(comparison: &Comparison) -> Result<Option<Section>> {
    let all = &comparison.alignment;
    if all.is_empty() {
        return Ok(None);
    }
    let place = |aligned: &Aligned| i64::try_from(aligned.after).unwrap_or(i64::MAX);
    let frame = df!(
        "equal_kernels_before" => all.iter().map(place).collect::<Vec<i64>>(),
        "base" => all.iter().map(|aligned| aligned.base.clone()).collect::<Vec<Option<String>>>(),
        "new" => all.iter().map(|aligned| aligned.new.clone()).collect::<Vec<Option<String>>>(),
    )?;
    let block = table("alignment", "Typical units of work side by side", "", frame, 0, &["equal_kernels_before"]);
    let about = "The kernels of a typical unit of work of the first common GPU in order, without those that both sides have in the same order.";
    Ok(Some(Section::new("sequence", "Order of the kernels", about, vec![block])))
}

fn others(comparison: &Comparison) -> Result<Vec<Section>> {
    let titles = [
        ("totals", "Times with their tests", "metric"),
        ("categories", "Kernel time by category", "name"),
        ("replaced", "Kernels in place of others", "base"),
        ("renamed", "Renamed kernels", "base"),
        ("path", "Critical path", "kernel"),
        ("counters", "Counters", "kernel"),
        ("ranges", "Kernel time of ROCTx ranges", "name"),
        ("new_kernels", "New kernels", "kernel"),
        ("gone", "Gone kernels", "kernel"),
        ("ranks", "GPUs", "rank"),
    ];
    let mut blocks = Vec::new();
    for table_of in frames(comparison)? {
        if let Some((_, title, key)) = titles.iter().find(|(name, _, _)| *name == table_of.name) {
            // The reason for a missing verdict is shown above the parts of the span.
            let mut frame = table_of.frame.drop_many(["verdict_why", "matched_by"]);
            if frame.column("pct").is_ok() {
                frame.rename("pct", "change_pct".into())?;
            }
            blocks.push(table(table_of.name, title, "", frame, 0, &[key]));
        }
    }
    let about = "Totals, categories, kernels of one side, and each GPU.";
    Ok(if blocks.is_empty() { Vec::new() } else { vec![Section::new("details", "Details", about, blocks)] })
}

/// A table that shows its first rows, 0 for all.
pub(super) fn table(id: &str, title: &str, about: &str, frame: DataFrame, rows: usize, key: &[&str]) -> Block {
    Block::Table(Box::new(Table::new((id, title, about), output_columns(&frame), frame, rows, key)))
}

/// The comparison as sheets of a workbook: the verdict, then a sheet for each of its tables.
///
/// # Errors
/// When a table cannot be built, which is a defect.
pub fn sheets(comparison: &Comparison) -> Result<Vec<FullTable>> {
    let verdict = df!("verdict" => [comparison.verdict], "reason" => [comparison.reason.as_str()])?;
    let tables = frames(comparison)?.into_iter().map(|table| (table.name, table.frame));
    let sheet = |(name, frame): (&str, DataFrame)| {
        FullTable::new(name, &name.replace('_', " "), "", output_columns(&frame), frame)
    };
    Ok([("verdict", verdict)].into_iter().chain(tables).map(sheet).collect())
}

fn output_columns(frame: &DataFrame) -> Vec<OutputColumn> {
    let column = |column: &Column| {
        let mut declared = output_column(column.name());
        if column.dtype() == &DataType::Float64 && declared.unit == ColumnUnit::Name {
            declared.unit = ColumnUnit::Number;
        }
        if column.dtype() == &DataType::String && declared.unit != ColumnUnit::Name {
            declared.unit = ColumnUnit::Text;
        }
        declared
    };
    frame.columns().iter().map(column).collect()
}

fn output_column(name: &str) -> OutputColumn {
    let unit = match name {
        _ if name.ends_with("_ns") => ColumnUnit::Nanoseconds,
        _ if name.ends_with("_pct") || name == "pct" => ColumnUnit::Percent,
        "ratio" | "ci_low" | "ci_high" | "p_holm" | "base_calls" | "new_calls" | "calls" => ColumnUnit::Number,
        "samples" | "base_dispatches" | "new_dispatches" => ColumnUnit::Count,
        "delta" => ColumnUnit::Number,
        "equal_kernels_before" => ColumnUnit::Count,
        "rank" | "gpu" | "run" | "iteration" => ColumnUnit::Id,
        "key" | "kernel" | "base_name" | "new_name" | "base" | "new" => ColumnUnit::Name,
        _ => ColumnUnit::Text,
    };
    let doc = DOCS.iter().find(|(known, _)| *known == name);
    OutputColumn::new(name, unit, doc.map_or_else(|| name.replace('_', " "), |(_, doc)| (*doc).to_owned()))
}

fn provenance(comparison: &Comparison) -> Provenance {
    let inputs = |side: &SideFacts, name: &str| {
        let input = |path: &String| Input {
            path: path.clone(),
            format: name.to_owned(),
            schema_version: None,
            rank: 0,
            hostname: None,
            gpus: side.arch.clone(),
            is_thread_trace: false,
        };
        side.inputs.iter().map(input).collect::<Vec<Input>>()
    };
    Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        inputs: [inputs(&comparison.base, "base"), inputs(&comparison.new, "new")].concat(),
        processes: comparison.base.ranks + comparison.new.ranks,
        ..Provenance::default()
    }
}
