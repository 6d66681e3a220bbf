//! The words of a declaration, independent of their positions.

use crate::scan::tokens::{Stream, Token, TokenKind};

/// A word, number, literal or punctuation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub kind: TokenKind,
    pub text: String,
}

impl Piece {
    /// Returns whether it is a name or keyword.
    pub(super) fn is_word(&self) -> bool {
        self.kind == TokenKind::Word
    }

    /// Returns whether it is this punctuation or word.
    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text
    }
}

/// Converts tokens into pieces.
pub(super) fn pieces(text: &[u8], tokens: &[Token]) -> Vec<Piece> {
    let stream = Stream { text, tokens };
    tokens.iter().enumerate().map(|(at, token)| Piece { kind: token.kind, text: stream.text(at) }).collect()
}

/// Pieces as one text, in which equal pieces always have the same spaces.
pub(super) fn joined(pieces: &[Piece]) -> String {
    let mut text = String::new();
    let mut before: Option<&Piece> = None;
    for piece in pieces {
        let is_apart = before
            .is_some_and(|before| before.is(",") || (before.kind != TokenKind::Mark && piece.kind != TokenKind::Mark));
        if is_apart {
            text.push(' ');
        }
        text += &piece.text;
        before = Some(piece);
    }
    text
}

/// The text of the piece at an index; empty past the end.
pub(super) fn text(pieces: &[Piece], at: usize) -> &str {
    pieces.get(at).map_or("", |piece| piece.text.as_str())
}

/// The bracket that closes the one at an index. Angle brackets count as template brackets.
pub(super) fn close(pieces: &[Piece], open: usize) -> Option<usize> {
    let mut waiting: Vec<&str> = Vec::new();
    for (at, piece) in pieces.iter().enumerate().skip(open) {
        match piece.text.as_str() {
            "(" => waiting.push(")"),
            "[" => waiting.push("]"),
            "{" => waiting.push("}"),
            // Only the requested one, and those nested in it: elsewhere it is a comparison.
            "<" if at == open || waiting.last() == Some(&">") => waiting.push(">"),
            closing @ (")" | "]" | "}" | ">") => {
                if waiting.last() == Some(&closing) {
                    waiting.pop();
                } else if closing != ">" {
                    return None;
                }
                if waiting.is_empty() {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Pieces split at a punctuation outside of all brackets.
pub(super) fn split<'a>(pieces: &'a [Piece], mark: &str) -> Vec<&'a [Piece]> {
    let mut parts = Vec::new();
    let (mut from, mut at) = (0, 0);
    while at < pieces.len() {
        let opens = matches!(text(pieces, at), "(" | "[" | "{") || is_angle(pieces, at);
        if opens && let Some(end) = close(pieces, at) {
            at = end;
        } else if text(pieces, at) == mark {
            parts.push(pieces.get(from..at).unwrap_or_default());
            from = at + 1;
        }
        at += 1;
    }
    let last = pieces.get(from..).unwrap_or_default();
    if !(parts.is_empty() && last.is_empty()) {
        parts.push(last);
    }
    parts
}

/// Returns whether template arguments or parameters start at an index.
pub(super) fn is_angle(pieces: &[Piece], at: usize) -> bool {
    let after_word = at.checked_sub(1).and_then(|before| pieces.get(before)).is_some_and(Piece::is_word);
    text(pieces, at) == "<" && after_word
}
