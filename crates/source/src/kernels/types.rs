//! Parameters and their types in a normalized spelling.

use super::model::Parameter;
use super::pieces::{Piece, close, is_angle, joined, split, text};

/// Words that qualify a type or a pointer.
const QUALIFIERS: [&str; 7] =
    ["const", "volatile", "restrict", "__restrict", "__restrict__", "register", "__grid_constant__"];
/// Words that may stand before a type without changing it.
const ELABORATIONS: [&str; 5] = ["struct", "class", "union", "enum", "typename"];
/// Words of built-in types.
const BUILT_IN: [&str; 12] =
    ["void", "bool", "char", "short", "int", "long", "unsigned", "signed", "float", "double", "auto", "wchar_t"];

fn is_one_of(piece: &Piece, words: &[&str]) -> bool {
    words.contains(&piece.text.as_str())
}

/// Parses a parameter of a function. `names` are the parameters of its template.
pub(super) fn parameter(pieces: &[Piece], names: &[String]) -> Parameter {
    let pieces = without_attributes(pieces);
    let mut parts = split(&pieces, "=").into_iter();
    let declared = parts.next().unwrap_or_default();
    let default = parts.next().map(joined);
    let place = name_place(declared);
    let kind: Vec<Piece> =
        declared.iter().enumerate().filter(|(at, _)| Some(*at) != place).map(|(_, piece)| piece.clone()).collect();
    let (spelling, is_restrict) = spelling(&kind, names);
    Parameter {
        kind: spelling,
        written: joined(&kind),
        name: place.map(|place| text(declared, place).to_owned()),
        default,
        is_restrict,
    }
}

/// Pieces without `[[…]]`.
fn without_attributes(pieces: &[Piece]) -> Vec<Piece> {
    let mut kept = Vec::new();
    let mut at = 0;
    while let Some(piece) = pieces.get(at) {
        if piece.is("[") && text(pieces, at + 1) == "[" {
            match close(pieces, at) {
                Some(end) => at = end,
                None => break,
            }
        } else {
            kept.push(piece.clone());
        }
        at += 1;
    }
    kept
}

/// The start of the array dimensions that end a declaration.
fn dimensions(pieces: &[Piece]) -> usize {
    let mut end = pieces.len();
    for at in (0..pieces.len()).rev() {
        if text(pieces, at) == "[" {
            if close(pieces, at).is_some_and(|close| close + 1 == end) {
                end = at;
            } else {
                break;
            }
        } else if end == at + 1 && text(pieces, at) != "]" {
            break;
        }
    }
    end
}

/// The start of the parentheses in `(*name)(int)` or `(&name)[4]`.
fn declarator(pieces: &[Piece]) -> Option<usize> {
    let mut at = 0;
    while at < pieces.len() {
        if text(pieces, at) == "(" {
            if matches!(text(pieces, at + 1), "*" | "&") {
                return Some(at);
            }
            at = close(pieces, at)?;
        } else if is_angle(pieces, at) {
            at = close(pieces, at)?;
        }
        at += 1;
    }
    None
}

/// The index of a parameter's name, if it has one.
fn name_place(pieces: &[Piece]) -> Option<usize> {
    let is_name = |at: usize| pieces.get(at).is_some_and(|piece| piece.is_word() && !is_one_of(piece, &QUALIFIERS));
    if let Some(open) = declarator(pieces) {
        let end = close(pieces, open)?;
        return (open..end).find(|at| is_name(*at));
    }
    let last = dimensions(pieces).checked_sub(1)?;
    let is_type = pieces.get(last).is_some_and(|piece| is_one_of(piece, &BUILT_IN));
    if !is_name(last) || is_type {
        return None;
    }
    let before = pieces.get(..last)?;
    let follows_scope = before.last().is_some_and(|piece| piece.is("::"));
    let has_type = before.iter().any(|piece| !is_one_of(piece, &QUALIFIERS) && !is_one_of(piece, &ELABORATIONS));
    (has_type && !follows_scope).then_some(last)
}

/// A type in its normalized spelling, and whether it is a `restrict` pointer itself.
fn spelling(pieces: &[Piece], names: &[String]) -> (String, bool) {
    let mut pieces: Vec<Piece> = pieces.to_vec();
    if let Some(open) = declarator(&pieces) {
        let (result, _) = simple(pieces.get(..open).unwrap_or_default(), names, false);
        let rest = pieces.get(open..).unwrap_or_default();
        return (format!("{result}{}", joined(&numbered(rest, names))), false);
    }
    let is_pack = pieces.iter().filter(|piece| piece.is(".")).count() == 3;
    pieces.retain(|piece| !piece.is("."));
    let end = dimensions(&pieces);
    let after: Vec<Piece> = pieces.split_off(end);
    let dots = if is_pack { "..." } else { "" };
    if after.is_empty() {
        let (spelling, is_restrict) = simple(&pieces, names, true);
        return (format!("{spelling}{dots}"), is_restrict);
    }
    // An array is passed as a pointer to its elements.
    let (element, _) = simple(&pieces, names, false);
    let inner = close(&after, 0).and_then(|first| after.get(first + 1..)).unwrap_or_default();
    let spelling = if inner.is_empty() {
        format!("{element}*{dots}")
    } else {
        format!("{element}(*){}{dots}", joined(&numbered(inner, names)))
    };
    (spelling, false)
}

/// The pieces, with parameters of the template numbered.
fn numbered(pieces: &[Piece], names: &[String]) -> Vec<Piece> {
    let mut follows_scope = false;
    pieces
        .iter()
        .map(|piece| {
            let number = names.iter().position(|name| piece.is_word() && !follows_scope && *name == piece.text);
            follows_scope = piece.is("::");
            number.map_or_else(|| piece.clone(), |number| Piece { text: format!("${number}"), ..piece.clone() })
        })
        .collect()
}

/// Normalizes a type of words and pointers. At the outermost level of a parameter, its own qualifiers are omitted.
fn simple(pieces: &[Piece], names: &[String], is_outermost: bool) -> (String, bool) {
    let (base, signs) = pieces.split_at(first_sign(pieces));
    let (mut words, mut constant, mut volatile) = (Vec::new(), false, false);
    let mut at = 0;
    while let Some(piece) = base.get(at) {
        // Pieces in brackets stay as they are.
        let end = if is_angle(base, at) || piece.is("(") { close(base, at).unwrap_or(at) } else { at };
        match piece.text.as_str() {
            "const" => constant = true,
            "volatile" => volatile = true,
            _ if is_one_of(piece, &ELABORATIONS) || is_one_of(piece, &QUALIFIERS) => {}
            _ => words.extend_from_slice(base.get(at..=end).unwrap_or_default()),
        }
        at = end + 1;
    }
    let mut pointers: Vec<(String, [bool; 3])> = Vec::new();
    for sign in signs {
        let place = match sign.text.as_str() {
            "const" => 0,
            "volatile" => 1,
            "restrict" | "__restrict" | "__restrict__" => 2,
            other => {
                pointers.push((other.to_owned(), [false; 3]));
                continue;
            }
        };
        if let Some(flag) = pointers.last_mut().and_then(|(_, flags)| flags.get_mut(place)) {
            *flag = true;
        }
    }
    let mut is_restrict = false;
    if is_outermost {
        match pointers.last_mut() {
            Some((_, flags)) => {
                is_restrict = flags.last() == Some(&true);
                *flags = [false; 3];
            }
            None => (constant, volatile) = (false, false),
        }
    }
    let mut spelling = String::new();
    for (is_there, word) in [(constant, "const "), (volatile, "volatile ")] {
        spelling += if is_there { word } else { "" };
    }
    spelling += &built_in(&words).unwrap_or_else(|| joined(&numbered(&words, names)));
    for (sign, flags) in pointers {
        spelling += &sign;
        for (is_there, word) in flags.into_iter().zip([" const", " volatile", " __restrict__"]) {
            spelling += if is_there { word } else { "" };
        }
    }
    (spelling, is_restrict)
}

/// The index of the first `*` or `&` outside of brackets.
fn first_sign(pieces: &[Piece]) -> usize {
    let mut at = 0;
    while at < pieces.len() {
        match text(pieces, at) {
            "*" | "&" => return at,
            "(" => at = close(pieces, at).unwrap_or(at),
            _ if is_angle(pieces, at) => at = close(pieces, at).unwrap_or(at),
            _ => {}
        }
        at += 1;
    }
    at
}

/// Turns `long unsigned int` into `unsigned long`, and so on.
fn built_in(words: &[Piece]) -> Option<String> {
    if words.is_empty() || !words.iter().all(|piece| is_one_of(piece, &BUILT_IN)) {
        return None;
    }
    let count = |word: &str| words.iter().filter(|piece| piece.is(word)).count();
    let has = |word: &str| count(word) > 0;
    let sign = if has("unsigned") { "unsigned " } else { "" };
    Some(match count("long") {
        _ if has("char") => format!("{}char", if has("signed") { "signed " } else { sign }),
        _ if has("short") => format!("{sign}short"),
        1 if has("double") => "long double".to_owned(),
        1 => format!("{sign}long"),
        2.. => format!("{sign}long long"),
        _ if has("int") || has("unsigned") || has("signed") => format!("{sign}int"),
        _ => joined(words),
    })
}
