//! Lexer for C, C++, HIP, CUDA and OpenCL.

use super::text::Text;
use super::tokens::{Token, TokenKind, begins_word, continues_word};

/// A preprocessor directive.
#[derive(Debug, Default)]
pub struct Directive {
    /// Its index among the other tokens.
    pub at: usize,
    /// Its tokens without the `#`.
    pub tokens: Vec<Token>,
}

/// The tokens of a file.
#[derive(Debug, Default)]
pub struct Lexed {
    /// Tokens of the language itself.
    pub code: Vec<Token>,
    /// Preprocessor directives, in order.
    pub directives: Vec<Directive>,
}

struct Lexer<'a> {
    text: &'a [u8],
    joins: &'a [u32],
    at: usize,
    line: u32,
    /// Number of joins before `at`.
    joined: usize,
    lexed: Lexed,
    directive: Option<Directive>,
    /// Whether only blanks and comments come before `at` on its line.
    begins_line: bool,
}

/// Splits a text into tokens. Any text is accepted: an unclosed token extends to the end of its line, or of the text.
pub fn lex(text: &Text<'_>) -> Lexed {
    let mut lexer = Lexer {
        text: &text.bytes,
        joins: &text.joins,
        at: 0,
        line: 1,
        joined: 0,
        lexed: Lexed::default(),
        directive: None,
        begins_line: true,
    };
    while lexer.step() {}
    lexer.end_directive();
    lexer.lexed
}

impl Lexer<'_> {
    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    /// Advances to an offset, and counts the lines on the way.
    fn advance(&mut self, to: usize) {
        let to = to.min(self.text.len());
        let passed = self.text.get(self.at..to).unwrap_or_default();
        let newlines = if passed.len() < 8 {
            passed.iter().filter(|byte| **byte == b'\n').count()
        } else {
            memchr::memchr_iter(b'\n', passed).count()
        };
        self.line = self.line.saturating_add(u32::try_from(newlines).unwrap_or(u32::MAX));
        while self.joins.get(self.joined).is_some_and(|join| (*join as usize) <= to) {
            self.joined += 1;
            self.line = self.line.saturating_add(1);
        }
        self.at = to;
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        let end = (self.at + length).min(self.text.len());
        let token = Token {
            kind,
            start: u32::try_from(self.at).unwrap_or(u32::MAX),
            end: u32::try_from(end).unwrap_or(u32::MAX),
            line: self.line,
        };
        match &mut self.directive {
            Some(directive) => directive.tokens.push(token),
            None => self.lexed.code.push(token),
        }
        self.begins_line = false;
        self.advance(end);
    }

    fn end_directive(&mut self) {
        self.lexed.directives.extend(self.directive.take());
    }

    fn step(&mut self) -> bool {
        let Some(byte) = self.peek(0) else { return false };
        match byte {
            b'\n' => {
                self.end_directive();
                self.begins_line = true;
                self.advance(self.at + 1);
            }
            _ if byte.is_ascii_whitespace() || byte == 0x0b => {
                let blanks = self.rest().iter().take_while(|byte| matches!(byte, b' ' | b'\t' | 0x0b | 0x0c)).count();
                self.advance(self.at + blanks.max(1));
            }
            b'/' if self.peek(1) == Some(b'/') => {
                let length = memchr::memchr(b'\n', self.rest()).unwrap_or(self.rest().len());
                self.advance(self.at + length);
            }
            b'/' if self.peek(1) == Some(b'*') => {
                let inner = self.rest().get(2..).unwrap_or_default();
                let length = memchr::memmem::find(inner, b"*/").map_or(self.rest().len(), |at| at + 4);
                self.advance(self.at + length);
            }
            b'#' if self.begins_line => {
                self.begins_line = false;
                self.directive = Some(Directive { at: self.lexed.code.len(), tokens: Vec::new() });
                self.advance(self.at + 1);
            }
            b'"' | b'\'' => self.push(TokenKind::Text, quoted(self.rest())),
            b'<' if self.names_header() => {
                let line = memchr::memchr2(b'\n', b'>', self.rest());
                self.push(TokenKind::Text, line.map_or(self.rest().len(), |at| at + 1));
            }
            _ if byte.is_ascii_digit() || (byte == b'.' && self.peek(1).is_some_and(|next| next.is_ascii_digit())) => {
                self.push(TokenKind::Number, number(self.rest()));
            }
            _ if begins_word(byte) => self.word(),
            _ => {
                let is_pair =
                    matches!((byte, self.peek(1)), (b'-', Some(b'>')) | (b':', Some(b':')) | (b'#', Some(b'#')));
                self.push(TokenKind::Mark, if is_pair { 2 } else { 1 });
            }
        }
        true
    }

    /// Returns whether a header name follows, which is not code.
    fn names_header(&self) -> bool {
        let Some(directive) = &self.directive else { return false };
        let [token] = directive.tokens.as_slice() else { return false };
        let word = self.text.get(token.start as usize..token.end as usize).unwrap_or_default();
        matches!(word, b"include" | b"include_next" | b"import")
    }

    fn word(&mut self) {
        let length = self.rest().iter().take_while(|byte| continues_word(**byte)).count();
        let (word, after) = self.rest().split_at(length);
        let is_raw = matches!(word, b"R" | b"LR" | b"uR" | b"UR" | b"u8R") && after.first() == Some(&b'"');
        let is_prefix = matches!(word, b"L" | b"u" | b"U" | b"u8") && matches!(after.first(), Some(b'"' | b'\''));
        if is_raw {
            self.push(TokenKind::Text, length + raw(after));
        } else if is_prefix {
            self.push(TokenKind::Text, length + quoted(after));
        } else {
            self.push(TokenKind::Word, length);
        }
    }
}

/// Length of a quoted literal; the line end closes it if nothing else does.
fn quoted(rest: &[u8]) -> usize {
    let Some(quote) = rest.first() else { return 0 };
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\n' => return at,
            b'\\' if rest.get(at + 1) != Some(&b'\n') => at += 2,
            _ if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Length of a raw literal from its quote on.
fn raw(rest: &[u8]) -> usize {
    let delimiter: Vec<u8> = rest
        .iter()
        .skip(1)
        .take(17)
        .take_while(|byte| !matches!(byte, b'(' | b')' | b'\\' | b'"') && !byte.is_ascii_whitespace())
        .copied()
        .collect();
    if rest.get(1 + delimiter.len()) != Some(&b'(') {
        return quoted(rest);
    }
    let end = [b")", delimiter.as_slice(), b"\""].concat();
    memchr::memmem::find(rest, &end).map_or(rest.len(), |at| at + end.len())
}

fn number(rest: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        let before = rest.get(at - 1).copied().unwrap_or_default();
        let next = rest.get(at + 1).copied().unwrap_or_default();
        let goes_on = match byte {
            b'+' | b'-' => {
                matches!(before, b'e' | b'E' | b'p' | b'P') && !rest.starts_with(b"0x") && !rest.starts_with(b"0X")
            }
            b'\'' => next.is_ascii_alphanumeric() && before.is_ascii_alphanumeric(),
            _ => continues_word(*byte) || *byte == b'.',
        };
        if !goes_on {
            break;
        }
        at += 1;
    }
    at
}
