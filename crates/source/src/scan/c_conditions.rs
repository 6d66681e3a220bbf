//! Lines of the preprocessor that choose between lines of code.

use super::c_lexer::Lexed;
use super::tokens::{Stream, Token};

/// The effect of a line on the code after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Alternatives start.
    Begin,
    /// The next alternative starts; the flag reports whether the previous one was included.
    Next(bool),
    /// The alternatives end.
    End,
}

/// Code without what `#if 0` leaves out.
#[derive(Debug, Default)]
pub struct Live {
    /// The remaining tokens.
    pub code: Vec<Token>,
    /// Choices with their indices in `code`, ascending.
    pub choices: Vec<(usize, Choice)>,
    /// Indices of the remaining directives.
    pub directives: Vec<usize>,
}

/// The state of a choice.
struct Open {
    /// Whether the surrounding code is excluded.
    outside: bool,
    /// Whether the current alternative is excluded.
    dead: bool,
    /// Whether an earlier alternative is always taken.
    taken: bool,
}

/// Excludes code after `#if 0`, `#if false`, and after the `#else` of `#if 1`.
pub fn live(text: &[u8], lexed: &Lexed) -> Live {
    let mut live = Live::default();
    let mut open: Vec<Open> = Vec::new();
    let mut from = 0;
    for (number, directive) in lexed.directives.iter().enumerate() {
        let is_dead = open.last().is_some_and(|open| open.outside || open.dead);
        if !is_dead {
            live.code.extend_from_slice(lexed.code.get(from..directive.at).unwrap_or_default());
        }
        from = directive.at;
        let words = Stream { text, tokens: &directive.tokens };
        let is_constant =
            |value: &[&str]| words.len() == 2 && value.iter().any(|value| words.bytes(1) == value.as_bytes());
        let (never, always) = (is_constant(&["0", "false"]), is_constant(&["1", "true"]));
        let choice = match words.word(0).unwrap_or_default() {
            b"if" | b"ifdef" | b"ifndef" => {
                let is_if = words.is_word(0, "if");
                open.push(Open { outside: is_dead, dead: is_if && never, taken: is_if && always });
                Choice::Begin
            }
            b"elif" | b"else" | b"elifdef" | b"elifndef" => {
                let was_there = open.last().is_some_and(|open| !open.dead);
                if let Some(open) = open.last_mut() {
                    let is_elif = words.is_word(0, "elif");
                    open.dead = open.taken || (is_elif && never);
                    open.taken |= is_elif && always;
                }
                Choice::Next(was_there)
            }
            b"endif" => {
                open.pop();
                Choice::End
            }
            _ => {
                if !is_dead {
                    live.directives.push(number);
                }
                continue;
            }
        };
        live.choices.push((live.code.len(), choice));
    }
    if !open.last().is_some_and(|open| open.outside || open.dead) {
        live.code.extend_from_slice(lexed.code.get(from..).unwrap_or_default());
    }
    live
}
