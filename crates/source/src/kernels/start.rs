//! Finds the start of a kernel's declaration.

use crate::scan::c_kernels::is_attribute;
use crate::scan::c_structure::Structure;
use crate::scan::tokens::{Stream, TokenKind};

/// Maximum number of tokens before the kernel keyword.
const MAX_BACK: usize = 400;
/// Words that belong to a declaration anywhere before its keyword.
const SPECIFIERS: [&str; 16] = [
    "static",
    "inline",
    "extern",
    "constexpr",
    "friend",
    "virtual",
    "explicit",
    "__device__",
    "__host__",
    "__forceinline__",
    "__noinline__",
    "__inline__",
    "void",
    "auto",
    "requires",
    "__cluster_dims__",
];

/// The first token of the declaration with its keyword at an index. Unknown words belong to it if they are on its first
/// line, or after `template <…>`.
pub(super) fn declaration_start(stream: Stream<'_>, structure: &Structure, keyword: usize) -> usize {
    let (mut start, mut at) = (keyword, keyword);
    while let Some(before) = at.checked_sub(1).filter(|before| keyword - before < MAX_BACK) {
        let (from, belongs) = match stream.bytes(before) {
            b";" | b"{" | b"}" | b":" | b"=" | b"," | b"(" | b"[" => break,
            b">" => {
                let Some(open) = template_open(stream, structure, before) else { break };
                match open.checked_sub(1).and_then(|word| stream.word(word)) {
                    Some(b"template") => (open - 1, true),
                    _ => (open, false),
                }
            }
            b")" => {
                let Some(open) = structure.open(before) else { break };
                // Without a word before them, the parentheses are part of a constraint.
                match open.checked_sub(1).filter(|word| stream.word(*word).is_some()) {
                    Some(word) => {
                        let is_known = is_attribute(stream.bytes(word));
                        (word, is_known || stream.line(before) == stream.line(at))
                    }
                    None => (open, false),
                }
            }
            b"]" => {
                let Some(open) = structure.open(before) else { break };
                (open, stream.is_mark(open + 1, "["))
            }
            _ if stream.kind(before) == Some(TokenKind::Text) => {
                let is_linkage = before.checked_sub(1).is_some_and(|word| stream.is_word(word, "extern"));
                if !is_linkage {
                    break;
                }
                (before - 1, true)
            }
            bytes if stream.word(before).is_some() => {
                let is_known = SPECIFIERS.iter().any(|word| word.as_bytes() == bytes);
                (before, is_known || stream.line(before) == stream.line(at))
            }
            // Part of a constraint.
            b"::" | b"&" | b"|" | b"!" | b"." => (before, false),
            _ => break,
        };
        at = from;
        if belongs {
            start = from;
        }
    }
    start
}

/// The opening bracket of the template parameters or arguments that end at an index.
fn template_open(stream: Stream<'_>, structure: &Structure, end: usize) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, end);
    for _ in 0..MAX_BACK {
        match stream.bytes(at) {
            b">" => depth += 1,
            b"<" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at);
                }
            }
            b")" | b"]" | b"}" => at = structure.open(at)?,
            b";" | b"{" | b"(" | b"[" => return None,
            _ => {}
        }
        at = at.checked_sub(1)?;
    }
    None
}
