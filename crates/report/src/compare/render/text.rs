//! A comparison for the terminal.

use std::io::Write;

use anyhow::Result;

use super::columns::{changed, moved, note, note_with_reason, ratio, rest, waterfall};
use crate::compare::comparability::Level;
use crate::compare::document::{Comparison, CounterRow, OneSided, PathRow, SideFacts};
use crate::compare::summary::{signed, signed_pct, time};
use wavesieve_engine::findings::{counted, duration, shortened};
use wavesieve_model::text::hidden::escape_hidden;

/// Maximum number of listed kernels of each kind.
const MAX_ROWS: usize = 20;
/// Maximum number of listed parts of the critical path.
const MAX_PATH_ROWS: usize = 8;
/// Maximum length of the name of a kernel.
const LONGEST_NAME: usize = 100;

/// Writes the verdict, the checks, the changed parts of the span, and the changed kernels.
///
/// # Errors
/// When writing fails.
pub fn write(comparison: &Comparison, out: &mut dyn Write) -> Result<()> {
    let comparison = &comparison.readable(&comparison.readable_names());
    writeln!(out, "{}: {}\n", comparison.verdict, escape_hidden(&comparison.reason))?;
    let unit = match (comparison.basis.kind, comparison.basis.unit.as_str()) {
        ("range", _) => "range".to_owned(),
        // No steady part is claimed of repetitions.
        (_, "repetition") => "repetition".to_owned(),
        // Iterations are counted even if the figures are about the whole run.
        (_, "run") => "steady iteration".to_owned(),
        (_, unit) => format!("steady {unit}"),
    };
    writeln!(out, "base  {}", side(&comparison.base, &unit))?;
    writeln!(out, "new   {}", side(&comparison.new, &unit))?;
    let basis = &comparison.basis;
    writeln!(
        out,
        "Times are per {}, averaged over GPUs ({} against {}).",
        basis.unit, basis.base_units, basis.new_units
    )?;
    let checks = || comparison.comparability.iter().filter(|check| check.level != Level::Info);
    if checks().next().is_some() {
        writeln!(out, "\nComparability")?;
        for check in checks() {
            let values =
                if check.base.is_empty() { String::new() } else { format!(" ({} against {})", check.base, check.new) };
            writeln!(out, "  {:<8}  {}{}", check.level.word(), check.message, escape_hidden(&values))?;
        }
    }
    writeln!(out, "\nWhere the span changed\n  {:>10}  {:>10}  {:>10}  part", "base", "new", "change")?;
    for (depth, row) in waterfall(comparison) {
        let indent = "  ".repeat(depth);
        writeln!(
            out,
            "  {:>10}  {:>10}  {:>10}  {indent}{}",
            time(row.base_ns),
            time(row.new_ns),
            signed(row.delta_ns),
            row.part
        )?;
    }
    let rows = changed(comparison);
    if !rows.is_empty() {
        writeln!(out, "\nChanged kernels\n  {:>10}  {:<24}  {:>10}  kernel", "change", "duration", "resolution")?;
        for kernel in rows.iter().take(MAX_ROWS) {
            let resolution = kernel.resolution_pct.map_or_else(String::new, |pct| format!("{pct:.1}%"));
            writeln!(
                out,
                "  {:>10}  {:<24}  {:>10}  {}",
                signed(kernel.delta_ns),
                ratio(kernel),
                resolution,
                name(&kernel.key)
            )?;
            let note = note(kernel);
            if !note.is_empty() {
                writeln!(out, "  {:>10}  {note}", "")?;
            }
        }
        more(rows.len(), out)?;
    }
    let rows = moved(comparison);
    if !rows.is_empty() {
        writeln!(out, "\nOther changes of kernels\n  {:>10}  kernel", "change")?;
        for kernel in rows.iter().take(MAX_ROWS) {
            writeln!(
                out,
                "  {:>10}  {}\n  {:>10}  {}",
                signed(kernel.delta_ns),
                name(&kernel.key),
                "",
                note_with_reason(kernel)
            )?;
        }
        more(rows.len(), out)?;
    }
    one_sided("New kernels", &comparison.added, out)?;
    one_sided("Gone kernels", &comparison.gone, out)?;
    if !comparison.renamed.is_empty() {
        writeln!(out, "\nRenamed kernels")?;
        for renamed in comparison.renamed.iter().take(MAX_ROWS) {
            writeln!(out, "  {}\n  → {}", name(&renamed.base), name(&renamed.new))?;
        }
        more(comparison.renamed.len(), out)?;
    }
    if !comparison.replaced.is_empty() {
        writeln!(out, "\nKernels in place of others\n  {:>10}  {:>10}  {:>10}  kernels", "base", "new", "change")?;
        for interval in comparison.replaced.iter().take(MAX_ROWS) {
            let [base_ns, new_ns] = [interval.base_ns, interval.new_ns].map(|ns| duration(ns as f64));
            writeln!(
                out,
                "  {base_ns:>10}  {new_ns:>10}  {:>10}  {}",
                signed(interval.delta_ns),
                names(&interval.base)
            )?;
            writeln!(out, "  {:>34}→ {}", "", names(&interval.new))?;
        }
        more(comparison.replaced.len(), out)?;
    }
    let path: Vec<&PathRow> = comparison.path.iter().filter(|row| row.delta_ns != 0).collect();
    if !path.is_empty() {
        writeln!(out, "\nWhere the critical path changed\n  {:>10}  {:<14}  of", "change", "part")?;
        for row in path.iter().take(MAX_PATH_ROWS) {
            let of = row.kernel.as_deref().map(name).unwrap_or_default();
            writeln!(out, "  {:>10}  {:<14}  {of}", signed(row.delta_ns), row.kind)?;
        }
    }
    let counters: Vec<&CounterRow> =
        comparison.counters.iter().filter(|row| matches!(row.verdict, "higher" | "lower")).collect();
    if !comparison.counters.is_empty() {
        writeln!(out, "\nCounters ({} changed of {})", counters.len(), comparison.counters.len())?;
        for row in counters.iter().take(MAX_ROWS) {
            let change = row.ratio.map(|ratio| signed_pct((ratio - 1.0) * 100.0)).unwrap_or_default();
            writeln!(out, "  {change:>10}  {:<28}  {}", row.counter, name(&row.kernel))?;
        }
        more(counters.len(), out)?;
    }
    writeln!(out, "\n{}", rest(comparison))?;
    for (word, results) in [("failed", &comparison.gate.failed), ("undecided", &comparison.gate.undecided)] {
        for result in results {
            writeln!(out, "{word}: {}: {}", result.rule, escape_hidden(&result.reason))?;
        }
    }
    Ok(())
}

fn side(facts: &SideFacts, unit: &str) -> String {
    let runs = if facts.runs == 1 { String::new() } else { format!("{} runs, ", facts.runs) };
    let arch = if facts.arch.is_empty() { "unknown architecture".to_owned() } else { facts.arch.join(" ") };
    let inputs = escape_hidden(&facts.inputs.join(" ")).into_owned();
    let count = |count: usize, noun: &str| counted(count as f64, noun);
    let (ranks, gpus) = (count(facts.ranks, "rank"), count(facts.gpus, "GPU"));
    format!("{inputs} ({runs}{ranks}, {gpus}, {arch}, {})", count(facts.iterations, unit))
}

fn name(kernel: &str) -> String {
    escape_hidden(&shortened(kernel, LONGEST_NAME)).into_owned()
}

fn names(kernels: &[String]) -> String {
    kernels.iter().map(|kernel| name(kernel)).collect::<Vec<String>>().join(" + ")
}

fn one_sided(title: &str, kernels: &[OneSided], out: &mut dyn Write) -> Result<()> {
    if kernels.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}\n  {:>10}  {:>10}  kernel", "time", "calls")?;
    for kernel in kernels.iter().take(MAX_ROWS) {
        let calls = if kernel.calls < 0.05 { format!("{:.1e}", kernel.calls) } else { format!("{:.1}", kernel.calls) };
        writeln!(out, "  {:>10}  {calls:>10}  {}", duration(kernel.total_ns as f64), name(&kernel.kernel))?;
    }
    more(kernels.len(), out)
}

fn more(count: usize, out: &mut dyn Write) -> Result<()> {
    if count > MAX_ROWS {
        writeln!(out, "  … and {} more; -f json lists all", count - MAX_ROWS)?;
    }
    Ok(())
}
