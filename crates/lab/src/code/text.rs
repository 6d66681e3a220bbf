//! The listing as text.

use std::fmt::{Result, Write};

use super::comparison::Comparison;
use super::listing::{Listed, ListedObject, Listing};
use wavesieve_model::text::hidden::escape_hidden;
use wavesieve_source::objects::{Fact, KernelArgument};

const HEADS: [&str; 9] = ["vgpr", "agpr", "sgpr", "spills", "lds", "scratch", "group", "waves/simd", "limited by"];

/// The listing for a terminal. Names come last in a line, as they may be long.
pub fn text(listing: &Listing) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_listing(&mut text, listing);
    text
}

fn write_listing(text: &mut String, listing: &Listing) -> Result {
    for (number, file) in listing.files.iter().enumerate() {
        if number > 0 {
            writeln!(text)?;
        }
        for object in &file.code_objects {
            writeln!(text, "{}: {}, {}", escape_hidden(&file.file), escape_hidden(&object.target), counted(object))?;
            if !object.kernels.is_empty() {
                write_object(text, object)?;
            }
        }
    }
    match &listing.comparison {
        Some(comparison) => write_comparison(text, comparison),
        None => Ok(()),
    }
}

fn counted(object: &ListedObject) -> String {
    let kernels =
        if object.kernel_count == 1 { "1 kernel".to_owned() } else { format!("{} kernels", object.kernel_count) };
    if object.kernels.len() == object.kernel_count {
        return format!("{kernels}, {} B", object.bytes);
    }
    format!("{} of {kernels}, {} B", object.kernels.len(), object.bytes)
}

fn write_object(text: &mut String, object: &ListedObject) -> Result {
    writeln!(text)?;
    let rows: Vec<[String; 9]> = object.kernels.iter().map(row).collect();
    let widths: Vec<usize> = HEADS
        .iter()
        .enumerate()
        .map(|(at, head)| rows.iter().filter_map(|row| row.get(at)).map(String::len).max().unwrap_or(0).max(head.len()))
        .collect();
    let line = |cells: Vec<&str>| {
        let cells = cells.into_iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
        cells.collect::<Vec<_>>().join("  ")
    };
    writeln!(text, "{}  kernel", line(HEADS.to_vec()))?;
    for (row, listed) in rows.iter().zip(&object.kernels) {
        let cells = row.iter().map(String::as_str).collect();
        writeln!(text, "{}  {}", line(cells), escape_hidden(&listed.demangled))?;
    }
    for listed in &object.kernels {
        writeln!(text, "\n{}", escape_hidden(&listed.demangled))?;
        write_details(text, listed)?;
    }
    Ok(())
}

fn row(listed: &Listed) -> [String; 9] {
    let kernel = &listed.kernel;
    let (group, waves, limit) = match &listed.occupancy {
        Some(fits) => (fits.work_items.to_string(), short(fits.waves_per_simd), fits.limited_by.to_owned()),
        None => (String::new(), "-".to_owned(), String::new()),
    };
    [
        kernel.vgpr.to_string(),
        kernel.accum_vgpr.to_string(),
        kernel.sgpr.to_string(),
        u64::from(kernel.vgpr_spills).saturating_add(kernel.sgpr_spills.into()).to_string(),
        kernel.lds_bytes.to_string(),
        kernel.scratch_bytes.to_string(),
        group,
        waves,
        limit,
    ]
}

/// A number with at most two decimals.
fn short(figure: f64) -> String {
    let text = format!("{figure:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn write_details(text: &mut String, listed: &Listed) -> Result {
    let kernel = &listed.kernel;
    for place in listed.source.iter().flatten() {
        let torn = if place.is_torn { " (shared by alternatives of the preprocessor)" } else { "" };
        writeln!(text, "  {}:{}{torn}", escape_hidden(&place.file), place.line)?;
    }
    if listed.source.as_ref().is_some_and(Vec::is_empty) {
        writeln!(text, "  not in the source files")?;
    }
    if let Some(reason) = &listed.occupancy_unknown {
        writeln!(text, "  occupancy unknown: {reason}")?;
    }
    if let Some(fits) = &listed.occupancy
        && let (Some(less), Some(then)) = (fits.saved_for_more, fits.waves_per_simd_then)
    {
        let unit = if fits.limited_by == "lds" { " B" } else { "" };
        writeln!(text, "  {} waves/simd with {less}{unit} less {}", short(then), fits.limited_by)?;
    }
    if let Some([x, y, z]) = kernel.required_work_items {
        writeln!(text, "  only runs in workgroups of {x}x{y}x{z}")?;
    }
    if kernel.uses_dynamic_stack {
        writeln!(text, "  uses a stack of dynamic size: a launch may need more scratch")?;
    }
    let hidden = kernel.arguments.iter().filter(|argument| argument.is_hidden()).count();
    let beside = if hidden == 0 { String::new() } else { format!(", {hidden} of them hidden") };
    let count = match kernel.arguments.len() {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        several => format!("{several} arguments"),
    };
    let bytes = if kernel.kernarg_bytes == 0 { String::new() } else { format!(", {} B", kernel.kernarg_bytes) };
    writeln!(text, "  {count}{beside}{bytes}")?;
    kernel.own_arguments().try_for_each(|argument| write_argument(text, argument))
}

fn write_argument(text: &mut String, argument: &KernelArgument) -> Result {
    write!(text, "  {:>5}  {:>4} B  {}", argument.offset, argument.bytes, escape_hidden(&argument.kind))?;
    for (word, is_there) in
        [("const", argument.is_const), ("restrict", argument.is_restrict), ("volatile", argument.is_volatile)]
    {
        if is_there {
            write!(text, " {word}")?;
        }
    }
    for more in [&argument.address_space, &argument.actual_access, &argument.name].into_iter().flatten() {
        write!(text, "  {}", escape_hidden(more))?;
    }
    writeln!(text)
}

fn write_comparison(text: &mut String, comparison: &Comparison) -> Result {
    writeln!(text, "\nCompared with {}:", escape_hidden(&comparison.against))?;
    for kernel in &comparison.kernels {
        writeln!(text, "\n{} ({})", escape_hidden(&kernel.demangled), escape_hidden(&kernel.target))?;
        match (&kernel.interface_difference, &kernel.kernarg_difference) {
            (Some(difference), _) => writeln!(text, "  interface differs: {}", escape_hidden(difference))?,
            (None, Some(difference)) => {
                writeln!(text, "  same interface; recorded arguments do not serve: {}", escape_hidden(difference))?;
            }
            (None, None) => writeln!(text, "  same interface")?,
        }
        if let Some(difference) = &kernel.launch_difference {
            writeln!(text, "  launches differ: {difference}")?;
        }
        let changed: Vec<&Fact> = kernel.facts.iter().filter(|fact| fact.before != fact.after).collect();
        if changed.is_empty() {
            writeln!(text, "  same resources")?;
        }
        for fact in changed {
            let shown = |figure: Option<f64>| figure.map_or_else(|| "unknown".to_owned(), short);
            let worse = if fact.is_worse() { "  worse" } else { "" };
            writeln!(text, "  {}: {} -> {}{worse}", fact.name, shown(fact.before), shown(fact.after))?;
        }
    }
    for kernel in &comparison.missing {
        let (name, target) = (escape_hidden(&kernel.demangled), escape_hidden(&kernel.target));
        let reason = if kernel.has_target { String::new() } else { format!(": there is no code for {target}") };
        writeln!(text, "\n{name} ({target})\n  missing{reason}")?;
    }
    Ok(())
}
