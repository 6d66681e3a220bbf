//! The result as text and as CSV.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::Result;

use super::document::{Document, Ranked};
use wavesieve_export::delimited::Formulas;

/// Maximum characters of a value in a table.
const CELL: usize = 24;
const FAILURES: usize = 5;

/// Writes the rows as CSV, with unrounded numbers.
///
/// # Errors
/// When it cannot be written.
pub fn write_csv(document: &Document, formulas: Formulas, out: &mut dyn Write) -> Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    let names = names(document);
    let own = ["runtime_ms", "value", "low", "high", "runs", "behind_pct", "predicted"];
    let safe = |text: &str| formulas.written(text).into_owned();
    writer.write_record(["rank"].into_iter().chain(names.iter().copied()).chain(own).map(safe))?;
    for row in &document.top {
        let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
        let mut cells = vec![row.rank.to_string()];
        cells.extend(row.parameters.values().map(|value| safe(&value.to_string())));
        cells.extend([number(row.runtime_ms), number(Some(row.value))]);
        cells.extend([number(row.interval.map(|[low, _]| low)), number(row.interval.map(|[_, high]| high))]);
        cells.extend([row.runs.to_string(), number(Some(row.behind_pct)), number(row.predicted)]);
        writer.write_record(cells)?;
    }
    Ok(writer.flush()?)
}

/// The result as text for the terminal.
pub fn text(document: &Document) -> String {
    let mut text = String::new();
    let mut line = |words: std::fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{words}");
    };
    let unit = document.objective.unit.map(|unit| format!(" {unit}")).unwrap_or_default();
    match &document.best_config {
        Some(best) => {
            let interval = best.interval.map(|[low, high]| format!(" ({} to {})", short(low), short(high)));
            let interval = interval.unwrap_or_default();
            line(format_args!("Best: {}: {}{unit}{interval}, {}", settings(best), short(best.value), runs(best.runs)));
        }
        None => line(format_args!("No configuration worked")),
    }
    line(format_args!(
        "Measured {} of {} configurations in {}; {} failed",
        document.evaluated_configs,
        document.search_space_size,
        runs(document.runs),
        document.failed_configs
    ));
    if document.best_config.is_some() {
        let noise = document.noise_pct.map(|noise| format!(", single runs scatter by {noise:.1}%")).unwrap_or_default();
        line(format_args!("{}{noise}", verdict(document)));
    }
    if let Some(model) = &document.model {
        let trust = if model.is_trusted { "" } else { "; too low to leave configurations out" };
        line(format_args!(
            "Model: cross-validated R² {:.2}{trust} ({} samples, {} terms, residuals of {}{unit})",
            model.r2,
            model.samples,
            model.terms,
            short(model.residual_std)
        ));
    }
    let table = table(document);
    if !document.top.is_empty() {
        line(format_args!("\n{table}"));
    }
    for failure in document.failures.iter().take(FAILURES) {
        let parameters: Vec<String> =
            failure.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        line(format_args!("failed: {}: {}", parameters.join(" "), failure.reason));
    }
    let more = document.failed_configs.saturating_sub(FAILURES);
    if more > 0 {
        line(format_args!("failed: … {more} more; -f json lists them"));
    }
    text
}

fn verdict(document: &Document) -> String {
    match (document.verdict, document.tied_with.len()) {
        ("separated", _) if document.evaluated_configs == document.failed_configs + 1 => {
            "The best is the only one that worked".to_owned()
        }
        ("separated", _) => "The best is better than the others by more than noise".to_owned(),
        ("tied", 1) => "Another cannot be distinguished from the best".to_owned(),
        ("undecided", _) if document.undecided_reason == Some("each_ran_once") => {
            "Undecided: each configuration ran once, so that nothing is known of noise; raise --repeats".to_owned()
        }
        ("tied", count) => format!("{count} others cannot be distinguished from the best"),
        _ => "The search is not finished: whether the best is better than the others is not known".to_owned(),
    }
}

fn names(document: &Document) -> Vec<&str> {
    document.top.first().map_or_else(Vec::new, |row| row.parameters.keys().map(String::as_str).collect())
}

fn settings(row: &Ranked) -> String {
    row.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

fn runs(count: usize) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{count} runs") }
}

fn table(document: &Document) -> String {
    let value = if document.objective.unit.is_some() { "time_ms" } else { "value" };
    let mut header = vec!["rank".to_owned()];
    header.extend(names(document).into_iter().map(cell));
    header.extend([value, "low", "high", "runs", "behind", "predicted"].map(ToOwned::to_owned));
    let mut rows = vec![header];
    for row in &document.top {
        let number = |number: Option<f64>| number.map_or_else(|| "-".to_owned(), short);
        let mut cells = vec![row.rank.to_string()];
        cells.extend(row.parameters.values().map(|value| cell(&value.to_string())));
        cells.push(short(row.value));
        cells.push(number(row.interval.map(|[low, _]| low)));
        cells.push(number(row.interval.map(|[_, high]| high)));
        cells.extend([row.runs.to_string(), percent(row.behind_pct), number(row.predicted)]);
        rows.push(cells);
    }
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
        cells.join("  ")
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A text cut to the column width. Long texts often differ at their ends.
fn cell(text: &str) -> String {
    let count = text.chars().count();
    if count <= CELL {
        return text.to_owned();
    }
    let start: String = text.chars().take(CELL / 2).collect();
    let end: String = text.chars().skip(count + 1 + CELL / 2 - CELL).collect();
    format!("{start}…{end}")
}

fn percent(number: f64) -> String {
    if number.abs() < 1e6 { format!("{number:.1}%") } else { format!("{number:.1e}%") }
}

/// A number with four significant digits.
pub fn short(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let before = libm::floor(libm::log10(number.abs())) as i32;
    let decimals = usize::try_from(3 - before).unwrap_or(0);
    if decimals > 9 || before > 9 { format!("{number:.3e}") } else { format!("{number:.decimals$}") }
}
