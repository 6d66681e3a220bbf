//! A part of a source text as tokens.

use std::ops::Range;

use super::transform::Refusal;
use wavesieve_source::scan::c_lexer::lex;
use wavesieve_source::scan::text::Text;
use wavesieve_source::scan::tokens::{Token, TokenKind};

/// Tokens of a part of a text; byte offsets count from the start of the whole text.
pub(super) struct Code<'a> {
    text: &'a str,
    start: usize,
    tokens: Vec<Token>,
}

/// Lowercase parts of names that order the memory accesses of work-items.
const ORDERING: [&str; 4] = ["sync", "barrier", "atomic", "fence"];

impl<'a> Code<'a> {
    /// Lexes a range of a text.
    pub(super) fn new(text: &'a str, range: &Range<usize>) -> Result<Self, Refusal> {
        let part = text.get(range.clone()).ok_or_else(|| Refusal::new("the kernel is not in the text"))?;
        if part.contains('\r') || part.lines().any(|line| line.trim_end().ends_with('\\')) {
            return Err(Refusal::new("the kernel has joined lines, or line ends of two kinds"));
        }
        let tokens = lex(&Text::new(part.as_bytes())).code;
        Ok(Self { text, start: range.start, tokens })
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The text of a token; empty past the end.
    pub(super) fn at(&self, place: usize) -> &'a str {
        self.tokens.get(place).and_then(|_| self.text.get(self.range(place))).unwrap_or_default()
    }

    pub(super) fn range(&self, place: usize) -> Range<usize> {
        self.tokens.get(place).map_or(0..0, |token| self.start + token.start as usize..self.start + token.end as usize)
    }

    pub(super) fn is_word(&self, place: usize) -> bool {
        self.tokens.get(place).is_some_and(|token| token.kind == TokenKind::Word)
    }

    pub(super) fn text(&self, first: usize, last: usize) -> &'a str {
        self.text.get(self.range(first).start..self.range(last).end).unwrap_or_default()
    }

    pub(super) fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for place in open..self.len() {
            match self.at(place) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(place);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// The first name in a range of tokens that orders memory accesses, or is one of these words.
    pub(super) fn forbidden(&self, places: Range<usize>, words: &[&str]) -> Option<&'a str> {
        let is_forbidden = |word: &&str| {
            let small = word.to_lowercase();
            ORDERING.iter().any(|part| small.contains(part)) || words.contains(word)
        };
        places.filter(|place| self.is_word(*place)).map(|place| self.at(place)).find(is_forbidden)
    }

    /// Returns whether a token is in parentheses.
    pub(super) fn is_in_parentheses(&self, place: usize) -> bool {
        let mut depth = 0_i64;
        for before in 0..place {
            match self.at(before) {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
        }
        depth > 0
    }

    /// Returns whether the text before a token on its line is blank.
    pub(super) fn begins_line(&self, place: usize) -> bool {
        let before = self.text.get(..self.range(place).start).unwrap_or_default();
        before.rsplit('\n').next().is_none_or(|line| line.trim().is_empty())
    }
}

/// A text with insertions and replacements.
pub(super) fn edited(text: &str, mut changes: Vec<(Range<usize>, String)>) -> Result<String, Refusal> {
    changes.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut result, mut done) = (String::with_capacity(text.len() + 64), 0);
    for (range, new) in changes {
        let between = text.get(done..range.start).ok_or_else(|| Refusal::new("two changes overlap"))?;
        result.push_str(between);
        result.push_str(&new);
        done = range.end;
    }
    result.push_str(text.get(done..).unwrap_or_default());
    Ok(result)
}
