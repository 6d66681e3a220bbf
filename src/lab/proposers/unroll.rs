//! `#pragma unroll N` before the innermost loop.

use super::code::{Code, edited};
use super::facts::KernelFacts;
use super::loops::innermost;
use super::transform::{Refusal, Transformed};
use crate::source::kernels::SourceKernel;

/// Words that end a loop early, or whose order unrolling could change.
const FORBIDDEN: [&str; 5] = ["break", "return", "goto", "asm", "__asm__"];

/// How often a loop body is repeated: 4, and up to 8 the more the kernel waits (rocm-perf-lab's rule).
pub(super) fn factor(stall: f64) -> u32 {
    (4.0 + 4.0 * stall).clamp(2.0, 8.0) as u32
}

/// Unrolls the first innermost loop that may be.
pub(super) fn apply(text: &str, kernel: &SourceKernel, facts: &KernelFacts) -> Result<Transformed, Refusal> {
    let code = Code::new(text, &kernel.body)?;
    let factor = factor(facts.stall.unwrap_or(0.0));
    let mut refusal = Refusal::new("the kernel has no loop");
    for one in innermost(&code) {
        if let Some(word) = code.forbidden(one.head.start..one.body.end, &FORBIDDEN) {
            refusal = Refusal::new(format!("the loop has {word}"));
            continue;
        }
        let pragma = format!("#pragma unroll {factor}");
        let start = code.range(one.keyword).start;
        let (line, indent) = line_before(text, start);
        let change = if line.trim_start().starts_with("#pragma") {
            if line.trim() == pragma {
                refusal = Refusal::new(format!("the loop is unrolled by {factor} already"));
                continue;
            }
            if !line.trim_start().starts_with("#pragma unroll") {
                refusal = Refusal::new(format!("the loop has a pragma of its own: {}", line.trim()));
                continue;
            }
            let from = start - indent.len() - line.len() - 1;
            (from..from + line.len(), format!("{}{pragma}", leading_blanks(line)))
        } else if code.begins_line(one.keyword) {
            (start..start, format!("{pragma}\n{indent}"))
        } else {
            (start..start, format!("\n{pragma}\n"))
        };
        let text = edited(text, vec![change])?;
        let reason = format!("unrolls a loop by {factor}, so that more loads are on their way at once");
        return Ok(Transformed { text, reason });
    }
    Err(refusal)
}

/// The line before that of a place, and the blanks before the place; none if something else stands before it on its line.
fn line_before(text: &str, place: usize) -> (&str, &str) {
    let before = text.get(..place).unwrap_or_default();
    let Some((rest, indent)) = before.rsplit_once('\n') else { return ("", "") };
    if !indent.trim().is_empty() {
        return ("", "");
    }
    (rest.rsplit('\n').next().unwrap_or_default(), indent)
}

fn leading_blanks(line: &str) -> &str {
    line.strip_suffix(line.trim_start()).unwrap_or_default()
}
