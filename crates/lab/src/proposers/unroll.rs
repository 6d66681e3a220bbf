//! `#pragma unroll N` before the innermost loop.

use std::ops::Range;

use super::code::{Code, edited};
use super::facts::KernelFacts;
use super::loops::innermost;
use super::transform::{Refusal, Transformed};
use wavesieve_source::kernels::SourceKernel;

/// Words that end a loop early, or whose order unrolling could change.
const FORBIDDEN: [&str; 5] = ["break", "return", "goto", "asm", "__asm__"];

/// The unroll factor: 4, and up to 8 the more the kernel waits (rocm-perf-lab's rule).
pub(super) fn factor(stall: f64) -> u32 {
    (4.0 + 4.0 * stall).clamp(2.0, 8.0) as u32
}

/// Unrolls the first innermost loop that allows it.
pub(super) fn apply(text: &str, kernel: &SourceKernel, facts: &KernelFacts) -> Result<Transformed, Refusal> {
    let code = Code::new(text, &kernel.body)?;
    let factor = factor(facts.stall.unwrap_or(0.0));
    let mut refusal = Refusal::new("the kernel has no loop");
    for one in innermost(&code) {
        if let Some(word) = code.forbidden(one.head.start..one.body.end, &FORBIDDEN) {
            refusal = Refusal::new(format!("the loop has {word}"));
            continue;
        }
        if code.is_in_parentheses(one.keyword) {
            refusal = Refusal::new("the loop stands in parentheses, perhaps of a macro");
            continue;
        }
        let pragma = format!("#pragma unroll {factor}");
        let start = code.range(one.keyword).start;
        let indent = indent_of(text, start);
        let change = match directive_before(text, start) {
            Some(range) => {
                let line = text.get(range.clone()).unwrap_or_default();
                let words: Vec<&str> = line.trim_start_matches(['#', ' ', '\t']).split_whitespace().collect();
                match words.as_slice() {
                    ["pragma", "unroll", number] if *number == factor.to_string() => {
                        refusal = Refusal::new(format!("the loop is unrolled by {factor} already"));
                        continue;
                    }
                    ["pragma", "unroll", ..] => (range, pragma),
                    ["pragma", ..] => {
                        refusal = Refusal::new(format!("the loop has a pragma of its own: {line}"));
                        continue;
                    }
                    _ => (start..start, format!("{pragma}\n{indent}")),
                }
            }
            None if code.begins_line(one.keyword) => (start..start, format!("{pragma}\n{indent}")),
            None => {
                let before = text.get(..start).unwrap_or_default();
                (before.trim_end_matches([' ', '\t']).len()..start, format!("\n{indent}{pragma}\n{indent}"))
            }
        };
        let text = edited(text, vec![change])?;
        let reason = format!("unrolls a loop by {factor}, so that more loads are on their way at once");
        return Ok(Transformed { text, reason });
    }
    Err(refusal)
}

/// The blanks at the start of the line at an offset.
fn indent_of(text: &str, place: usize) -> &str {
    let before = text.get(..place).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.strip_suffix(line.trim_start()).unwrap_or_default()
}

/// The directive before the line at an offset, without its indentation. Comments and empty lines may be between them.
/// `None` if anything else is between them, or before the offset on its line.
fn directive_before(text: &str, place: usize) -> Option<Range<usize>> {
    let before = text.get(..place)?;
    let (mut rest, line) = before.rsplit_once('\n')?;
    if !line.trim().is_empty() {
        return None;
    }
    loop {
        let start = rest.rfind('\n').map_or(0, |at| at + 1);
        let line = rest.get(start..)?;
        let trimmed = line.trim();
        if trimmed.starts_with('#') {
            let indent = line.len() - line.trim_start().len();
            return Some(start + indent..start + line.trim_end().len());
        }
        let is_skipped =
            trimmed.is_empty() || trimmed.starts_with("//") || trimmed.starts_with("/*") || trimmed.ends_with("*/");
        if !is_skipped || start == 0 {
            return None;
        }
        rest = rest.get(..start - 1)?;
    }
}
