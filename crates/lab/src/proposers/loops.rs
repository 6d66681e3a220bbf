//! Loops of a kernel.

use std::ops::Range;

use super::code::Code;

/// A `for` loop, by token indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    pub keyword: usize,
    pub head: Range<usize>,
    pub body: Range<usize>,
}

/// Loops without a loop in them, in order.
pub(super) fn innermost(code: &Code<'_>) -> Vec<Loop> {
    let all: Vec<Loop> = (0..code.len()).filter_map(|place| loop_at(code, place)).collect();
    let is_loop = |place: usize| matches!(code.at(place), "for" | "while" | "do") && code.is_word(place);
    all.into_iter().filter(|one| !one.body.clone().any(is_loop)).collect()
}

fn loop_at(code: &Code<'_>, keyword: usize) -> Option<Loop> {
    if code.at(keyword) != "for" || !code.is_word(keyword) || code.at(keyword + 1) != "(" {
        return None;
    }
    let close = code.closing(keyword + 1)?;
    let first = close + 1;
    let end = statement_end(code, first)?;
    Some(Loop { keyword, head: keyword + 2..close, body: first..end })
}

/// The token index after a statement.
fn statement_end(code: &Code<'_>, first: usize) -> Option<usize> {
    match code.at(first) {
        "{" => Some(code.closing(first)? + 1),
        "if" | "for" | "while" | "switch" if code.is_word(first) => {
            let open = (first + 1..code.len()).find(|place| code.at(*place) == "(")?;
            let end = statement_end(code, code.closing(open)? + 1)?;
            if code.at(first) == "if" && code.at(end) == "else" { statement_end(code, end + 1) } else { Some(end) }
        }
        "do" if code.is_word(first) => simple_end(code, statement_end(code, first + 1)?),
        _ => simple_end(code, first),
    }
}

/// The token index after the next semicolon outside of brackets.
fn simple_end(code: &Code<'_>, first: usize) -> Option<usize> {
    let mut place = first;
    while place < code.len() {
        match code.at(place) {
            ";" => return Some(place + 1),
            "(" | "[" | "{" => place = code.closing(place)?,
            ")" | "]" | "}" => return None,
            _ => {}
        }
        place += 1;
    }
    None
}
