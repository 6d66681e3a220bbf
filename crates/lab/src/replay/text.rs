//! Outcomes as texts for the terminal.

use std::fmt::{self, Write};
use std::path::Path;

use super::compare::{Comparison, RegionComparison};
use super::outcome::{AddressRow, AddressState, Outcome, Replayed, Status};
use super::statistics::Timing;
use wavesieve_model::text::hidden::escape_hidden;

/// An outcome as lines of text.
pub fn text(outcome: &Outcome) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_outcome(outcome, &mut text);
    text
}

fn write_outcome(outcome: &Outcome, text: &mut String) -> fmt::Result {
    match &outcome.replayed {
        Some(replayed) => write_replayed(outcome, replayed, text)?,
        None => {
            writeln!(text, "{}", shown_path(&outcome.capture))?;
            outcome.addresses.iter().try_for_each(|row| write_address(row, text))?;
            if !outcome.addresses.is_empty() {
                write_address_summary(&outcome.addresses, text)?;
            }
        }
    }
    if outcome.status != Status::Ok
        && let Some(message) = &outcome.message
    {
        let verdict = match outcome.status {
            Status::Differs => "differs",
            Status::Partial => "partly compared",
            Status::Taken => "address taken",
            Status::Unsupported => "not possible here",
            Status::Ok | Status::Failed => "failed",
        };
        writeln!(text, "  {verdict}: {}", escape_hidden(message))?;
    }
    Ok(())
}

fn write_address(row: &AddressRow, text: &mut String) -> fmt::Result {
    let state = match row.state {
        AddressState::Exact => "OK",
        AddressState::Relocated => "RELOCATED",
        AddressState::Failed => "FAILED",
    };
    write!(text, "  {:#014x}  {:>10}  {state}", row.base, shown_bytes(row.size))?;
    if let Some(found) = row.found {
        write!(text, " to {found:#x}")?;
    }
    if let Some(reason) = &row.reason {
        write!(text, ": {}", escape_hidden(reason))?;
    }
    writeln!(text)
}

fn write_address_summary(rows: &[AddressRow], text: &mut String) -> fmt::Result {
    let exact = rows.iter().filter(|row| row.state == AddressState::Exact).count();
    let regions: usize = rows.iter().map(|row| row.regions).sum();
    let bytes = shown_bytes(rows.iter().map(|row| row.size).sum());
    writeln!(text, "  {exact} of {} ranges exact: {regions} regions, {bytes} in whole pages", rows.len())
}

fn write_replayed(outcome: &Outcome, replayed: &Replayed, text: &mut String) -> fmt::Result {
    let Replayed { kernel, execution, timing, memory, variables, comparison, environment } = replayed;
    writeln!(text, "{} of {}", escape_hidden(&kernel.name), shown_path(&outcome.capture))?;
    writeln!(text, "  code          {}", shown_path(&kernel.hsaco_path))?;
    writeln!(text, "  GPU           {} ({})", escape_hidden(&environment.gpu_agent), escape_hidden(&environment.isa))?;
    let [grid, block] = [kernel.grid, kernel.block].map(|[x, y, z]| format!("{x}x{y}x{z}"));
    let dynamic = match kernel.dynamic_group_segment_size {
        0 => String::new(),
        dynamic => format!(", {dynamic} of them dynamic"),
    };
    writeln!(
        text,
        "  launch        {grid} work-items in groups of {block}, {} B LDS{dynamic}",
        kernel.group_segment_size
    )?;
    let speed = memory.bytes as f64 / memory.restore_seconds.max(1e-9) / 1e9;
    let speed = if memory.bytes < 1 << 20 { String::new() } else { format!(", restored at {speed:.1} GB/s") };
    writeln!(text, "  memory        {} regions, {}{speed}", memory.regions, shown_bytes(memory.bytes))?;
    if variables.restored > 0 {
        writeln!(text, "  variables     {} restored", variables.restored)?;
    }
    for skipped in &variables.skipped {
        writeln!(text, "                not restored: {}", escape_hidden(skipped))?;
    }
    let warm_up = match execution.warm_up {
        0 => String::new(),
        warm_up => format!(" after {warm_up} to warm up"),
    };
    writeln!(text, "  iterations    {}, {}{warm_up}", execution.iterations, execution.mode)?;
    write_timing(timing, text)?;
    comparison.as_ref().map_or(Ok(()), |comparison| write_comparison(comparison, text))
}

fn write_timing(timing: &Timing, text: &mut String) -> fmt::Result {
    let Timing { median, average, min, max, .. } = timing;
    write!(text, "  GPU time      median {median:.3} µs")?;
    if let Some([low, high]) = timing.median_interval {
        write!(text, " (95%: {low:.3} to {high:.3})")?;
    }
    writeln!(text, ", mean {average:.3}, min {min:.3}, max {max:.3}")
}

fn write_comparison(comparison: &Comparison, text: &mut String) -> fmt::Result {
    let verdict = match (comparison.equal, comparison.is_whole()) {
        (false, _) => "not as in",
        (true, false) => "partly compared with",
        (true, true) => "as in",
    };
    let variables = match comparison.variables.len() {
        0 => String::new(),
        1 => " and 1 variable".to_owned(),
        several => format!(" and {several} variables"),
    };
    let (regions, expected) = (comparison.regions.len(), shown_path(&comparison.expected));
    writeln!(text, "  memory after  {verdict} {expected} ({regions} regions{variables} compared)")?;
    for region in comparison.regions.iter().filter(|region| region.different > 0) {
        write_region(&format!("{:#x}", region.base), region, text)?;
    }
    for variable in comparison.variables.iter().filter(|variable| variable.bytes.different > 0) {
        write_region(&escape_hidden(&variable.name), &variable.bytes, text)?;
    }
    let mut rest = comparison.not_compared.iter();
    rest.try_for_each(|reason| writeln!(text, "    not compared: {}", escape_hidden(reason)))
}

fn write_region(name: &str, region: &RegionComparison, text: &mut String) -> fmt::Result {
    let RegionComparison { different, mismatched, .. } = region;
    let (what, all) = match &region.tolerance {
        Some(tolerance) => (tolerance.element.name(), region.size / tolerance.element.bytes() as u64),
        None => ("bytes".to_owned(), region.size),
    };
    write!(text, "    {name}: {different} of {all} {what} differ")?;
    if let Some(tolerance) = &region.tolerance {
        let (relative, absolute) = (tolerance.relative, tolerance.absolute);
        write!(text, ", {mismatched} by more than {absolute:e} + {relative:e} of the value")?;
    }
    if let Some(largest) = region.max_absolute {
        write!(text, "; by {largest:e} at most")?;
    }
    writeln!(text)?;
    for mismatch in &region.mismatches {
        writeln!(text, "      +{:#x}: {} instead of {}", mismatch.offset, mismatch.found, mismatch.expected)?;
    }
    Ok(())
}

/// A path without characters that a terminal would take as commands.
pub(super) fn shown_path(path: &Path) -> String {
    escape_hidden(&path.display().to_string()).into_owned()
}

/// A number of bytes in the largest unit in which it is at least 1.
pub(crate) fn shown_bytes(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let unit = units.iter().find(|(_, shift)| bytes >= 1 << shift);
    unit.map_or_else(
        || format!("{bytes} B"),
        |(name, shift)| format!("{:.1} {name}", bytes as f64 / f64::from(1 << shift)),
    )
}
