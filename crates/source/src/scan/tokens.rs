//! Tokens of a source text, without comments.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or keyword.
    Word,
    Number,
    /// A string or character literal with its prefix and quotes.
    Text,
    /// Punctuation: one byte, except for `->`, `::` and `##`.
    Mark,
}

/// A token with its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    /// Offset of the first byte in the lexed text.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
    /// Line of its first byte in the file, from 1.
    pub line: u32,
}

/// A text and its tokens.
#[derive(Clone, Copy, Debug)]
pub struct Stream<'a> {
    /// The text that was lexed.
    pub text: &'a [u8],
    /// The tokens in their order.
    pub tokens: &'a [Token],
}

impl<'a> Stream<'a> {
    /// Number of tokens.
    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The bytes of a token; empty past the end.
    pub fn bytes(&self, at: usize) -> &'a [u8] {
        self.tokens
            .get(at)
            .and_then(|token| self.text.get(token.start as usize..token.end as usize))
            .unwrap_or_default()
    }

    /// Returns whether a token is this punctuation.
    pub fn is_mark(&self, at: usize, mark: &str) -> bool {
        self.kind(at) == Some(TokenKind::Mark) && self.bytes(at) == mark.as_bytes()
    }

    /// The bytes of a name or keyword; `None` for other tokens.
    pub fn word(&self, at: usize) -> Option<&'a [u8]> {
        (self.kind(at) == Some(TokenKind::Word)).then(|| self.bytes(at))
    }

    /// Returns whether a token is this name or keyword.
    pub fn is_word(&self, at: usize, word: &str) -> bool {
        self.word(at) == Some(word.as_bytes())
    }

    /// The kind of a token; `None` past the end.
    pub fn kind(&self, at: usize) -> Option<TokenKind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    pub fn line(&self, at: usize) -> u32 {
        self.tokens.get(at).map_or(0, |token| token.line)
    }

    /// Returns whether a token is directly followed by the next one.
    pub(crate) fn touches_next(&self, at: usize) -> bool {
        match (self.tokens.get(at), self.tokens.get(at + 1)) {
            (Some(one), Some(next)) => one.end == next.start,
            _ => false,
        }
    }

    pub fn text(&self, at: usize) -> String {
        String::from_utf8_lossy(self.bytes(at)).into_owned()
    }

    /// The content of a literal, without prefix and quotes.
    pub fn literal(&self, at: usize) -> Option<&'a [u8]> {
        if self.kind(at) != Some(TokenKind::Text) {
            return None;
        }
        let bytes = self.bytes(at);
        let open = bytes.iter().position(|byte| matches!(byte, b'"' | b'\''))?;
        let quote = *bytes.get(open)?;
        let inner = bytes.get(open..)?;
        let triple = [quote; 3];
        let quotes = if inner.starts_with(&triple) && inner.len() >= 6 { 3 } else { 1 };
        let inner = inner.get(quotes..)?;
        Some(inner.strip_suffix(triple.get(..quotes)?).unwrap_or(inner))
    }
}

/// Returns whether a byte starts a name. All non-ASCII bytes do.
pub fn begins_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Returns whether a byte continues a name.
pub(crate) fn continues_word(byte: u8) -> bool {
    begins_word(byte) || byte.is_ascii_digit()
}
