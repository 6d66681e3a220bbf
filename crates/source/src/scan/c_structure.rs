//! Brackets and loops of a stream of C tokens.

use super::c_conditions::Choice;
use super::tokens::Stream;

/// Maximum nesting depth of statements without braces.
const DEEPEST: usize = 100;
/// Maximum number of open brackets that are dropped when another one closes.
const MAX_GIVEN_UP: usize = 16;
const NONE: u32 = u32::MAX;

/// The matching brackets, and the tokens in loops.
#[derive(Debug)]
pub struct Structure {
    closes: Vec<u32>,
    opens: Vec<u32>,
    loops: Vec<bool>,
}

impl Structure {
    /// Finds brackets and loops. Preprocessor alternatives start with the same open brackets; after them, the state of
    /// the first one counts.
    pub fn new(stream: Stream<'_>, choices: &[(usize, Choice)]) -> Self {
        let mut found = brackets(stream, choices);
        found.loops = Loops { stream, structure: &found }.marks();
        found
    }

    /// The bracket that closes the one at an index.
    pub fn close(&self, at: usize) -> Option<usize> {
        self.closes.get(at).filter(|close| **close != NONE).map(|close| *close as usize)
    }

    /// The bracket that opens the one at an index.
    pub fn open(&self, at: usize) -> Option<usize> {
        self.opens.get(at).filter(|open| **open != NONE).map(|open| *open as usize)
    }

    /// Returns whether a token runs repeatedly in a loop.
    pub fn is_in_loop(&self, at: usize) -> bool {
        self.loops.get(at).copied().unwrap_or(false)
    }
}

/// An open bracket on top of others. The others are shared, so that alternatives cost nothing.
#[derive(Clone, Copy)]
struct Open {
    below: u32,
    token: u32,
    bracket: u8,
}

fn brackets(stream: Stream<'_>, choices: &[(usize, Choice)]) -> Structure {
    let mut closes = vec![NONE; stream.len()];
    let mut opens = vec![NONE; stream.len()];
    let mut all: Vec<Open> = Vec::new();
    let mut top = NONE;
    // Open brackets before a choice, and after its first alternative.
    let mut waiting: Vec<(u32, Option<u32>)> = Vec::new();
    let mut choices = choices.iter().peekable();
    for at in 0..=stream.len() {
        while let Some((_, choice)) = choices.next_if(|(place, _)| *place <= at) {
            match choice {
                Choice::Begin => waiting.push((top, None)),
                Choice::Next(was_there) => {
                    if let Some((before, after)) = waiting.last_mut() {
                        if *was_there {
                            after.get_or_insert(top);
                        }
                        top = *before;
                    }
                }
                Choice::End => {
                    if let Some((_, Some(after))) = waiting.pop() {
                        top = after;
                    }
                }
            }
        }
        let [byte] = stream.bytes(at) else { continue };
        let opening = match byte {
            b'(' | b'[' | b'{' => {
                all.push(Open { below: top, token: u32::try_from(at).unwrap_or(NONE), bracket: *byte });
                top = u32::try_from(all.len() - 1).unwrap_or(NONE);
                continue;
            }
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            _ => continue,
        };
        let mut fitting = top;
        for _ in 0..MAX_GIVEN_UP {
            let Some(open) = all.get(fitting as usize) else { break };
            if open.bracket == opening {
                top = open.below;
                if let (Some(close), Some(begin)) = (closes.get_mut(open.token as usize), opens.get_mut(at)) {
                    *begin = open.token;
                    if *close == NONE {
                        *close = u32::try_from(at).unwrap_or(NONE);
                    }
                }
                break;
            }
            // An unclosed parenthesis ends with the block around it, but no parenthesis ends a block.
            if open.bracket == b'{' {
                break;
            }
            fitting = open.below;
        }
    }
    Structure { closes, opens, loops: Vec::new() }
}

struct Loops<'a> {
    stream: Stream<'a>,
    structure: &'a Structure,
}

impl Loops<'_> {
    /// Marks the tokens in loops.
    fn marks(&self) -> Vec<bool> {
        let count = self.stream.len();
        let mut changes = vec![0_i32; count + 2];
        let mut mark = |first: usize, last: usize| {
            if first <= last {
                let places = [(first, 1), (last.min(count) + 1, -1)];
                for (place, change) in places {
                    if let Some(at) = changes.get_mut(place) {
                        *at += change;
                    }
                }
            }
        };
        for at in 0..count {
            let (first, last) = match self.stream.word(at) {
                Some(b"for") => {
                    let Some(close) = self.head(at) else { continue };
                    (self.repeated(at + 1, close), self.statement(close + 1, 0))
                }
                Some(b"while") => {
                    let Some(close) = self.head(at) else { continue };
                    // The condition of a do loop comes after its block, and is marked with it.
                    let is_trailing = self.stream.is_mark(close + 1, ";") && self.follows_block(at);
                    if is_trailing || self.is_never(at, close) {
                        continue;
                    }
                    (at + 2, self.statement(close + 1, 0))
                }
                Some(b"do") => {
                    let end = self.statement(at + 1, 0);
                    let Some(close) = self.stream.is_word(end + 1, "while").then(|| self.head(end + 1)).flatten()
                    else {
                        continue;
                    };
                    if self.is_never(end + 1, close) {
                        continue;
                    }
                    (at + 1, close)
                }
                _ => continue,
            };
            mark(first, last);
        }
        let mut depth = 0;
        changes
            .iter()
            .take(count)
            .map(|change| {
                depth += change;
                depth > 0
            })
            .collect()
    }

    /// The end of the parentheses after a keyword.
    fn head(&self, keyword: usize) -> Option<usize> {
        self.stream.is_mark(keyword + 1, "(").then(|| self.structure.close(keyword + 1)).flatten()
    }

    /// The first repeated token in a loop's head: after the first semicolon or colon.
    fn repeated(&self, open: usize, close: usize) -> usize {
        let mut at = open + 1;
        while at < close {
            if self.stream.is_mark(at, ";") || self.stream.is_mark(at, ":") {
                // The range expression is evaluated once.
                return if self.stream.is_mark(at, ";") { at + 1 } else { close };
            }
            at = self.structure.close(at).map_or(at, |inner| inner.min(close)) + 1;
        }
        close
    }

    /// Returns whether a condition is constant and false, as in statement macros.
    fn is_never(&self, keyword: usize, close: usize) -> bool {
        close == keyword + 3 && matches!(self.stream.bytes(keyword + 2), b"0" | b"false" | b"FALSE" | b"NULL")
    }

    fn follows_block(&self, keyword: usize) -> bool {
        let Some(before) = keyword.checked_sub(1) else { return false };
        let begin = self.structure.open(before).filter(|_| self.stream.is_mark(before, "}"));
        begin.and_then(|open| open.checked_sub(1)).is_some_and(|word| self.stream.is_word(word, "do"))
    }

    /// The last token of the statement that starts at an index.
    fn statement(&self, begin: usize, depth: usize) -> usize {
        if depth > DEEPEST {
            return begin;
        }
        match self.stream.word(begin) {
            Some(b"for" | b"while" | b"switch") => match self.head(begin) {
                Some(close) => self.statement(close + 1, depth + 1),
                None => begin,
            },
            Some(b"if") => {
                let head = if self.stream.is_word(begin + 1, "constexpr") { begin + 1 } else { begin };
                let Some(close) = self.head(head) else { return begin };
                let mut end = self.statement(close + 1, depth + 1);
                if self.stream.is_word(end + 1, "else") {
                    end = self.statement(end + 2, depth + 1);
                }
                end
            }
            Some(b"do") => {
                let end = self.statement(begin + 1, depth + 1);
                match self.stream.is_word(end + 1, "while").then(|| self.head(end + 1)).flatten() {
                    Some(close) => close + 1,
                    None => end,
                }
            }
            _ => self.expression(begin),
        }
    }

    /// The semicolon or block that ends an expression.
    fn expression(&self, begin: usize) -> usize {
        let mut at = begin;
        while at < self.stream.len() {
            let is_first = at == begin;
            match self.stream.bytes(at) {
                b";" => return at,
                b"{" if is_first => return self.structure.close(at).unwrap_or(at),
                b"}" | b"for" | b"while" | b"do" | b"if" | b"else" | b"switch" if !is_first => return at - 1,
                b"(" | b"[" | b"{" => match self.structure.close(at) {
                    Some(close) => at = close,
                    None => return at,
                },
                _ => {}
            }
            at += 1;
        }
        self.stream.len()
    }
}
