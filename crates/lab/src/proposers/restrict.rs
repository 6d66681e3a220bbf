//! `__restrict__` on the pointers of a kernel.

use super::code::{Code, edited};
use super::transform::{Refusal, Transformed};
use wavesieve_source::kernels::SourceKernel;

/// Promises that no two pointers lead to the same memory. The source cannot prove that; checks of the results must show
/// it.
pub(super) fn apply(text: &str, kernel: &SourceKernel) -> Result<Transformed, Refusal> {
    let pointers: Vec<&str> = kernel
        .parameters
        .iter()
        .filter(|parameter| parameter.kind.ends_with('*'))
        .map(|parameter| parameter.name.as_deref().ok_or_else(|| Refusal::new("a pointer has no name")))
        .collect::<Result<_, _>>()?;
    if pointers.len() < 2 {
        return Err(Refusal::new("fewer than two pointers cannot lead to the same memory"));
    }
    if kernel.parameters.iter().filter(|one| one.kind.ends_with('*')).all(|one| one.is_restrict) {
        return Err(Refusal::new("all pointers are __restrict__"));
    }
    let body = Code::new(text, &kernel.body)?;
    if let Some(word) = body.forbidden(0..body.len(), &["asm", "__asm__", "volatile"]) {
        return Err(Refusal::new(format!("the kernel has {word}, so that others may read or write the same memory")));
    }
    // A pointer that is assigned or compared may alias another one.
    for place in 0..body.len() {
        let is_pointer =
            pointers.contains(&body.at(place)) && !matches!(body.at(place.wrapping_sub(1)), "." | "->" | "::");
        let is_compared = |mark: &str, next: &str| matches!((mark, next), ("=", _) | ("!", "=") | ("<", _) | (">", _));
        if is_pointer && is_compared(body.at(place + 1), body.at(place + 2)) {
            return Err(Refusal::new(format!("{} is set or compared", body.at(place))));
        }
    }
    let signature = Code::new(text, &kernel.signature)?;
    let mut changes = Vec::new();
    for parameter in kernel.parameters.iter().filter(|one| one.kind.ends_with('*') && !one.is_restrict) {
        let name = parameter.name.as_deref().unwrap_or_default();
        let is_it = |place: &usize| {
            signature.at(*place) == name
                && matches!(signature.at(place.wrapping_sub(1)), "*" | "const")
                && matches!(signature.at(place + 1), "," | ")" | "=")
        };
        let place = (1..signature.len()).rev().find(is_it);
        let place = place.ok_or_else(|| Refusal::new(format!("{name} is not declared as a plain pointer")))?;
        let at = signature.range(place).start;
        let is_close = text.get(..at).is_some_and(|before| before.ends_with('*'));
        changes.push((at..at, format!("{}__restrict__ ", if is_close { " " } else { "" })));
    }
    let text = edited(text, changes)?;
    let reason = format!(
        "promises that {} lead to different memory, so that loads can be reordered and kept; only results show whether that is true",
        pointers.join(", ")
    );
    Ok(Transformed { text, reason })
}
