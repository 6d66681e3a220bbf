//! Definitions and launches of kernels in C tokens.

use std::ops::Range;

use super::c_scan::{CodePart, template_end};
use super::file_matches::{FileMatches, KernelSite, Mention};
use super::tokens::{Stream, TokenKind};

/// Maximum number of tokens between `__global__` and the name, and in the arguments of a launch.
const MAX_TOKENS: usize = 400;
/// Maximum distance in tokens to an assignment of a variable.
const MAX_BACK: usize = 1500;
/// Maximum number of such assignments.
const MAX_NAMES: usize = 16;
const NO_NAMES: [&str; 22] = [
    "if", "for", "while", "switch", "else", "return", "do", "void", "auto", "int", "float", "double", "char", "bool",
    "const", "static", "inline", "extern", "template", "decltype", "operator", "sizeof",
];

fn is_name(word: &[u8]) -> bool {
    !NO_NAMES.iter().any(|keyword| keyword.as_bytes() == word)
}

/// Attributes that are written like calls.
pub(crate) fn is_attribute(word: &[u8]) -> bool {
    let is_reserved = word.starts_with(b"__") && word.ends_with(b"__");
    is_reserved
        || matches!(
            word,
            b"alignas" | b"__declspec" | b"requires" | b"noexcept" | b"explicit" | b"reqd_work_group_size"
        )
}

/// Finds the kernel after a word that starts one. Its name comes before the parentheses of its parameters. Attributes
/// and attribute macros, before or after `void`, have parentheses as well, but a name follows them.
pub fn definition(part: &CodePart<'_>, begin: usize, pattern: usize, found: &mut FileMatches) {
    let stream = part.stream;
    let mut name: Option<(Range<usize>, usize)> = None;
    let mut at = begin + 1;
    let mut ends_with = None;
    let limit = begin + MAX_TOKENS;
    while at < limit {
        match stream.bytes(at) {
            b"" | b"}" | b")" | b"," | b"=" => break,
            end @ (b";" | b"{") => {
                ends_with = Some(end);
                break;
            }
            b"[" => {
                let Some(close) = part.structure.close(at) else { break };
                at = close;
            }
            b"(" => {
                // A function pointer.
                if name.is_none() {
                    break;
                }
                let Some(close) = part.structure.close(at) else { break };
                at = close;
            }
            b"__global__" | b"__kernel" => break,
            word if stream.kind(at) == Some(TokenKind::Word) => {
                let end = if stream.is_mark(at + 1, "<") {
                    let Some(end) = template_end(part, at + 1) else { break };
                    end
                } else {
                    at
                };
                if stream.is_mark(end + 1, "(") {
                    let Some(close) = part.structure.close(end + 1) else { break };
                    if is_attribute(word) {
                        at = close;
                    } else if is_name(word) && stream.is_mark(close + 1, "(") {
                        // A macro that builds the name.
                        let Some(second) = part.structure.close(close + 1) else { break };
                        name = Some((at..close + 1, at));
                        at = second;
                    } else if is_name(word) {
                        name = Some((at..at + 1, at));
                        at = close;
                    } else {
                        break;
                    }
                } else {
                    at = end;
                }
            }
            _ => {}
        }
        at += 1;
    }
    let (Some((words, at)), Some(end)) = (name, ends_with) else { return };
    // A macro that defines kernels with several names.
    if words
        .clone()
        .any(|at| stream.word(at).is_some_and(|word| part.parameters.contains(word)) || stream.is_mark(at, "##"))
    {
        return;
    }
    let is_pasted = words.start.checked_sub(1).is_some_and(|before| stream.is_mark(before, "##"));
    if is_pasted || stream.is_mark(words.end, "##") {
        return;
    }
    let name: String = words.map(|at| stream.text(at)).collect();
    let line = stream.line(at);
    let mention = if end == b"{" { Mention::Definition } else { Mention::Declaration };
    found.hit(pattern, line, false);
    found.kernels.push(KernelSite { name, line, pattern, mention, in_loop: false, substitutes: Vec::new() });
}

/// Returns whether `<<<` starts at a token, without more brackets of its kind next to it.
pub(crate) fn opens_launch(stream: Stream<'_>, at: usize) -> bool {
    let is_open = |at: usize| stream.is_mark(at, "<");
    if !(is_open(at) && is_open(at + 1) && is_open(at + 2)) {
        return false;
    }
    let touches_before = at.checked_sub(1).is_some_and(|before| is_open(before) && stream.touches_next(before));
    let touches_after = is_open(at + 3) && stream.touches_next(at + 2);
    stream.touches_next(at) && stream.touches_next(at + 1) && !touches_before && !touches_after
}

/// A launch `name<<<...>>>(...)` whose `<<<` starts at a token.
pub(crate) fn angle_launch(part: &CodePart<'_>, open: usize, pattern: usize, found: &mut FileMatches) {
    let stream = part.stream;
    if !is_followed_by_arguments(part, open) {
        return;
    }
    let Some(before) = open.checked_sub(1) else { return };
    let name_end = if stream.is_mark(before, ">") {
        let Some(begin) = template_begin(part, before).and_then(|begin| begin.checked_sub(1)) else { return };
        begin
    } else {
        before
    };
    let name = match stream.bytes(name_end) {
        b"operator" => return,
        b")" => part.structure.open(name_end).and_then(|open| {
            let inner = named(part, open + 1..name_end);
            let outer = open.checked_sub(1).and_then(|word| stream.word(word));
            match outer {
                Some(b"HIP_KERNEL_NAME" | b"KERNEL_NAME") | None => inner,
                Some(word) if is_name(word) && stream.is_mark(open, "(") => {
                    Some((open - 1..=name_end).map(|at| stream.text(at)).collect())
                }
                Some(_) => None,
            }
        }),
        word if stream.kind(name_end) == Some(TokenKind::Word) && is_name(word) => Some(stream.text(name_end)),
        b"]" => None,
        // Not a launchable expression.
        _ => return,
    };
    let is_pasted = name_end.checked_sub(1).is_some_and(|before| stream.is_mark(before, "##"));
    let (line, in_loop) = (stream.line(name_end), part.structure.is_in_loop(name_end));
    found.hit(pattern, line, in_loop);
    if let Some(name) = name.filter(|name| !is_pasted && !part.parameters.contains(name.as_bytes())) {
        let substitutes = given_to(part, open, &name);
        found.kernels.push(KernelSite { name, line, pattern, mention: Mention::Launch, in_loop, substitutes });
    }
}

fn is_followed_by_arguments(part: &CodePart<'_>, open: usize) -> bool {
    let stream = part.stream;
    let mut at = open + 3;
    let limit = open + MAX_TOKENS;
    while at < limit {
        match stream.bytes(at) {
            b"" | b";" | b"}" => return false,
            b"(" | b"[" | b"{" => match part.structure.close(at) {
                Some(close) => at = close,
                None => return false,
            },
            b">" if stream.is_mark(at + 1, ">")
                && stream.is_mark(at + 2, ">")
                && stream.touches_next(at)
                && stream.touches_next(at + 1)
                && stream.is_mark(at + 3, "(") =>
            {
                return true;
            }
            _ => {}
        }
        at += 1;
    }
    false
}

/// The opening bracket of the template arguments that end at a token.
fn template_begin(part: &CodePart<'_>, end: usize) -> Option<usize> {
    let stream = part.stream;
    let (mut depth, mut at) = (0_usize, end);
    for _ in 0..MAX_TOKENS {
        match stream.bytes(at) {
            b">" => depth += 1,
            // Two adjacent ones are a shift, if there are operands on both sides.
            b"<" if at
                .checked_sub(1)
                .is_some_and(|before| stream.is_mark(before, "<") && stream.touches_next(before)) =>
            {
                at -= 1;
            }
            b"<" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at);
                }
            }
            b")" | b"]" | b"}" => at = part.structure.open(at)?,
            b";" | b"(" | b"[" | b"{" => return None,
            _ => {}
        }
        at = at.checked_sub(1)?;
    }
    None
}

/// The kernel name in an argument: without casts, `&`, namespaces and template arguments.
pub fn named(part: &CodePart<'_>, argument: Range<usize>) -> Option<String> {
    let stream = part.stream;
    let (mut at, mut end) = (argument.start, argument.end);
    for _ in 0..8 {
        let word = stream.word(at);
        let is_cast = matches!(word, Some(b"reinterpret_cast" | b"static_cast" | b"const_cast"));
        let inner = if is_cast {
            template_end(part, at + 1).map(|close| close + 1)
        } else {
            matches!(word, Some(b"HIP_KERNEL_NAME" | b"KERNEL_NAME")).then_some(at + 1)
        };
        if let Some(open) = inner.filter(|open| stream.is_mark(*open, "(")) {
            end = part.structure.close(open).filter(|close| *close <= end)?;
            at = open + 1;
        } else if stream.is_mark(at, "(") {
            let close = part.structure.close(at).filter(|close| *close < end)?;
            if close + 1 == end {
                end = close;
                at += 1;
            } else {
                at = close + 1;
            }
        } else if stream.is_mark(at, "&") || stream.is_mark(at, "*") || stream.is_mark(at, "::") {
            at += 1;
        } else {
            break;
        }
    }
    let mut name = None;
    while at < end {
        if stream.is_mark(at, "<") {
            let close = template_end(part, at)?;
            at = close + 1;
        } else if stream.is_mark(at, "::") {
            at += 1;
        } else if name.is_none() || at.checked_sub(1).is_some_and(|before| stream.is_mark(before, "::")) {
            name = Some(stream.word(at).filter(|word| is_name(word))?);
            at += 1;
        } else {
            return None;
        }
    }
    name.map(|name| String::from_utf8_lossy(name).into_owned())
}

/// The values assigned to a name before an index: `name = &kernel<T>;`, `auto name = kernel;`.
pub(crate) fn given_to(part: &CodePart<'_>, place: usize, name: &str) -> Vec<String> {
    let stream = part.stream;
    let mut names = Vec::new();
    for at in place.saturating_sub(MAX_BACK)..place {
        if !(stream.is_mark(at + 1, "=") && stream.is_word(at, name)) {
            continue;
        }
        let mut end = at + 2;
        while end < place && !matches!(stream.bytes(end), b";" | b"{" | b"}" | b"?") {
            end = part.structure.close(end).filter(|_| stream.is_mark(end, "(")).unwrap_or(end) + 1;
        }
        if let Some(kernel) =
            named(part, at + 2..end.min(place)).filter(|kernel| kernel != name && !names.contains(kernel))
        {
            names.push(kernel);
        }
        if names.len() >= MAX_NAMES {
            break;
        }
    }
    names
}
