//! A comparison as a comment on a merge request: short, with a marker by which the next run finds it.

use std::io::Write;

use anyhow::Result;

use super::columns::{changed, moved, note_with_reason, ratio, rest, waterfall};
use crate::compare::comparability::Level;
use crate::compare::document::{Comparison, KernelRow};
use crate::compare::summary::{signed, time};
use crate::markdown::prose as markdown_text;
use wavesieve_engine::findings::{duration, shortened};

/// Maximum number of characters of a comment on code hosts, without the end of the comment.
const MAX_CHARACTERS: usize = 65_535 - 500 - LONGEST_COMMAND;
/// Maximum number of kernels that are shown without unfolding.
const FEW: usize = 10;
const LONGEST_NAME: usize = 120;
/// Maximum length of a command; a longer one would be most of the comment.
const LONGEST_COMMAND: usize = 2_000;

/// Writes the comment. `name` distinguishes it from other comments on the same request, and `command` repeats the
/// comparison.
///
/// # Errors
/// When writing fails.
pub fn write(comparison: &Comparison, name: &str, command: &str, out: &mut dyn Write) -> Result<()> {
    let comparison = &comparison.readable(&comparison.readable_names());
    let marker: String = name.chars().filter(|letter| letter.is_alphanumeric() || "-_.".contains(*letter)).collect();
    let mut text = format!("<!-- wavesieve-compare:{marker} -->\n");
    text.push_str(&format!("**{}:** {}\n\n", comparison.verdict, markdown_text(&comparison.reason)));
    let basis = &comparison.basis;
    text.push_str(&format!(
        "Times are per {}, averaged over GPUs ({} against {}).\n",
        basis.unit, basis.base_units, basis.new_units
    ));
    for check in comparison.comparability.iter().filter(|check| check.level != Level::Info) {
        text.push_str(&format!("\n> **{}:** {}\n", check.level.word(), markdown_text(&check.message)));
    }
    for (word, results) in [("Failed", &comparison.gate.failed), ("Undecided", &comparison.gate.undecided)] {
        for result in results {
            text.push_str(&format!("\n**{word}:** `{}`: {}\n", result.rule, markdown_text(&result.reason)));
        }
    }
    text.push_str("\n| part of the span | base | new | change |\n| --- | ---: | ---: | ---: |\n");
    for (depth, row) in waterfall(comparison).into_iter().filter(|(depth, _)| *depth < 3) {
        let indent = "&nbsp;&nbsp;".repeat(depth);
        text.push_str(&format!(
            "| {indent}{} | {} | {} | {} |\n",
            row.part,
            time(row.base_ns),
            time(row.new_ns),
            signed(row.delta_ns)
        ));
    }
    let changed = changed(comparison);
    if !changed.is_empty() {
        text.push_str(&heading(&format!("Changed kernels ({})", changed.len())));
        rows(&changed, FEW, &mut text);
    }
    text.push_str(&format!("\n{}\n", rest(comparison)));
    let folded: Vec<&KernelRow> = changed.iter().skip(FEW).copied().chain(moved(comparison)).collect();
    let names = |kernels: &[crate::compare::document::OneSided]| {
        kernels.iter().map(|kernel| (kernel.kernel.clone(), kernel.total_ns)).collect::<Vec<_>>()
    };
    let lists = [("New kernels", names(&comparison.added)), ("Gone kernels", names(&comparison.gone))];
    if !folded.is_empty() || lists.iter().any(|(_, list)| !list.is_empty()) {
        text.push_str("\n<details><summary>More</summary>\n");
        if !folded.is_empty() {
            text.push_str(&heading("More kernels"));
            rows(&folded, folded.len(), &mut text);
        }
        for (title, list) in lists.iter().filter(|(_, list)| !list.is_empty()) {
            text.push_str(&format!("\n| {title} | time |\n| --- | ---: |\n"));
            for (place, (kernel, total_ns)) in list.iter().enumerate() {
                if is_full(&text) {
                    text.push_str(&format!("| … and {} more | |\n", list.len() - place));
                    break;
                }
                text.push_str(&format!("| {} | {} |\n", cell(kernel), duration(*total_ns as f64)));
            }
        }
        text.push_str("\n</details>\n");
    }
    if command.chars().count() < LONGEST_COMMAND && !command.contains('`') {
        text.push_str(&format!("\nRepeat with `{command}`\n"));
    }
    Ok(out.write_all(text.as_bytes())?)
}

fn heading(title: &str) -> String {
    format!("\n| {title} | change | duration | resolution | |\n| --- | ---: | ---: | ---: | --- |\n")
}

fn rows(kernels: &[&KernelRow], most: usize, text: &mut String) {
    for (place, kernel) in kernels.iter().take(most).enumerate() {
        if is_full(text) {
            text.push_str(&format!("| … and {} more; `-f json` lists all | | | | |\n", kernels.len() - place));
            return;
        }
        let resolution = kernel.resolution_pct.map_or_else(String::new, |pct| format!("{pct:.1}%"));
        let (name, note) = (cell(&kernel.key), markdown_text(&note_with_reason(kernel)));
        text.push_str(&format!(
            "| {name} | {} | {} | {resolution} | {note} |\n",
            signed(kernel.delta_ns),
            ratio(kernel)
        ));
    }
}

/// Whether the comment has no room for another row. Bytes are counted, and there are at least as many bytes as
/// characters.
fn is_full(text: &str) -> bool {
    text.len() + 4 * LONGEST_NAME + 200 > MAX_CHARACTERS
}

fn cell(kernel: &str) -> String {
    let name = shortened(kernel, LONGEST_NAME).replace('|', "\\|").replace('`', "'");
    format!("`{}`", name.split_whitespace().collect::<Vec<_>>().join(" "))
}
