//! Lexer for Python, with logical lines.

use super::text::Text;
use super::tokens::{Token, TokenKind, begins_word, continues_word};

/// Maximum nesting depth of fields in formatted literals.
const DEEPEST: usize = 8;
/// Columns between tab stops.
const TAB: usize = 8;

/// A logical line: it continues while a bracket is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Column of its first token.
    pub indent: usize,
    pub tokens: std::ops::Range<usize>,
}

/// The tokens of a file.
#[derive(Debug, Default)]
pub struct Lexed {
    /// Tokens in their order.
    pub tokens: Vec<Token>,
    /// Lines with tokens, in order.
    pub lines: Vec<Line>,
}

/// Splits a text into tokens. Any text is accepted: an unclosed token extends to the end of its line, or of the text.
pub fn lex(text: &Text<'_>) -> Lexed {
    let text: &[u8] = &text.bytes;
    let mut lexed = Lexed::default();
    let (mut at, mut line) = (0, 1_u32);
    let (mut begin, mut indent, mut column, mut open) = (0, 0, 0, 0_usize);
    while let Some(byte) = text.get(at).copied() {
        let rest = text.get(at..).unwrap_or_default();
        let is_first = lexed.tokens.len() == begin;
        let (kind, length) = match byte {
            b'\n' => {
                if open == 0 && !is_first {
                    lexed.lines.push(Line { indent, tokens: begin..lexed.tokens.len() });
                    begin = lexed.tokens.len();
                }
                column = 0;
                (None, 1)
            }
            b'\\' if rest.get(1) == Some(&b'\n') => (None, 2),
            b'\t' => {
                column = (column / TAB + 1) * TAB;
                (None, 1)
            }
            _ if byte.is_ascii_whitespace() || byte == 0x0b => {
                // A form feed resets the column.
                column = if byte == b' ' { column + 1 } else { 0 };
                (None, 1)
            }
            b'#' => (None, memchr::memchr(b'\n', rest).unwrap_or(rest.len())),
            b'"' | b'\'' => (Some(TokenKind::Text), literal(rest, false, 0)),
            _ if byte.is_ascii_digit() => {
                let digits = |byte: &&u8| continues_word(**byte) || **byte == b'.';
                (Some(TokenKind::Number), rest.iter().take_while(digits).count())
            }
            _ if begins_word(byte) => {
                let length = rest.iter().take_while(|byte| continues_word(**byte)).count();
                let (word, after) = rest.split_at(length);
                let is_prefix = length <= 2 && word.iter().all(|byte| b"rRbBuUfFtT".contains(byte));
                if is_prefix && matches!(after.first(), Some(b'"' | b'\'')) {
                    let is_formatted = word.iter().any(|byte| b"fFtT".contains(byte));
                    (Some(TokenKind::Text), length + literal(after, is_formatted, 0))
                } else {
                    (Some(TokenKind::Word), length)
                }
            }
            _ => {
                match byte {
                    b'(' | b'[' | b'{' => open += 1,
                    b')' | b']' | b'}' => open = open.saturating_sub(1),
                    _ => {}
                }
                (Some(TokenKind::Mark), if rest.starts_with(b"->") { 2 } else { 1 })
            }
        };
        let length = length.max(1);
        if let Some(kind) = kind {
            if is_first {
                indent = column;
            }
            let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            lexed.tokens.push(Token { kind, start: place(at), end: place((at + length).min(text.len())), line });
        }
        let passed = rest.get(..length).unwrap_or(rest);
        let newlines =
            if length == 1 { usize::from(byte == b'\n') } else { memchr::memchr_iter(b'\n', passed).count() };
        line = line.saturating_add(u32::try_from(newlines).unwrap_or(u32::MAX));
        at += length;
    }
    if lexed.tokens.len() > begin {
        lexed.lines.push(Line { indent, tokens: begin..lexed.tokens.len() });
    }
    lexed
}

/// Length of a literal from its quote on. Fields of a formatted literal may contain the same quotes.
fn literal(rest: &[u8], is_formatted: bool, depth: usize) -> usize {
    let Some(quote) = rest.first() else { return 0 };
    let triple = [*quote; 3];
    let is_long = rest.starts_with(&triple);
    let mut at = if is_long { 3 } else { 1 };
    let mut fields = 0_usize;
    while let Some(byte) = rest.get(at) {
        let ends_long = is_long && rest.get(at..).is_some_and(|rest| rest.starts_with(&triple));
        match byte {
            b'\n' if !is_long => return at,
            b'\\' => at += 2,
            _ if ends_long => return at + 3,
            _ if byte == quote && !is_long && fields == 0 => return at + 1,
            b'{' if is_formatted && fields == 0 && rest.get(at + 1) == Some(&b'{') => at += 2,
            b'{' if is_formatted => {
                fields += 1;
                at += 1;
            }
            b'}' if is_formatted => {
                fields = fields.saturating_sub(1);
                at += 1;
            }
            b'"' | b'\'' if fields > 0 && depth < DEEPEST => {
                let inner = rest.get(at..).unwrap_or_default();
                at += literal(inner, false, depth + 1).max(1);
            }
            _ => at += 1,
        }
    }
    rest.len()
}
