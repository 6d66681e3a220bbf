//! Blocks, names and loops of Python.

use std::collections::{BTreeMap, BTreeSet};

use super::python_lexer::{Lexed, Line};
use super::tokens::{Stream, TokenKind};

/// A dotted name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    /// Its last token.
    pub last: usize,
    /// Its parts in order, the first one as imported. Empty if the first part is not a name, for example after a call;
    /// then only `name` is known.
    pub path: String,
    /// The last part.
    pub name: String,
}

/// Facts from the blocks of a file.
#[derive(Debug)]
pub struct Structure {
    /// Whether a token is in a loop.
    loops: Vec<bool>,
    /// The meaning of imported names.
    names: BTreeMap<Vec<u8>, String>,
    /// Modules at the start of imports.
    modules: BTreeSet<String>,
}

impl Structure {
    /// Finds loops and imports.
    pub fn new(stream: Stream<'_>, lexed: &Lexed) -> Self {
        let mut found = Self { loops: loops(stream, lexed), names: BTreeMap::new(), modules: BTreeSet::new() };
        for line in &lexed.lines {
            found.import(stream, line);
        }
        found
    }

    /// Returns whether a token runs repeatedly in a loop.
    pub fn is_in_loop(&self, at: usize) -> bool {
        self.loops.get(at).copied().unwrap_or(false)
    }

    /// Returns whether a module, or a part of it, is imported.
    pub(crate) fn imports(&self, module: &str) -> bool {
        self.modules.contains(module)
    }

    fn import(&mut self, stream: Stream<'_>, line: &Line) {
        let mut at = line.tokens.start;
        let base = match stream.word(at) {
            Some(b"import") => String::new(),
            Some(b"from") => {
                let path = dotted(stream, at + 1);
                at = path.1;
                if !stream.is_word(at, "import") {
                    return;
                }
                path.0
            }
            _ => return,
        };
        if !base.is_empty() {
            self.modules.insert(base.split('.').next().unwrap_or_default().to_owned());
        }
        at += 1;
        while at < line.tokens.end {
            let (path, after) = dotted(stream, at);
            let Some(first) = path.split('.').next().filter(|first| !first.is_empty()) else {
                at += 1;
                continue;
            };
            let whole = if base.is_empty() { path.clone() } else { format!("{base}.{path}") };
            if base.is_empty() {
                self.modules.insert(first.to_owned());
            }
            at = after;
            if stream.is_word(at, "as")
                && let Some(name) = stream.word(at + 1)
            {
                self.names.insert(name.to_vec(), whole);
                at += 2;
            } else if !base.is_empty() {
                self.names.insert(path.into_bytes(), whole);
            }
        }
    }

    /// The dotted name that starts at an index; `None` in its middle and elsewhere.
    pub fn chain(&self, stream: Stream<'_>, at: usize) -> Option<Chain> {
        let first = stream.word(at)?;
        let is_after_dot = at.checked_sub(1).is_some_and(|before| stream.is_mark(before, "."));
        if is_after_dot && at.checked_sub(2).is_some_and(|before| stream.kind(before) == Some(TokenKind::Word)) {
            return None;
        }
        let begin = match (is_after_dot, self.names.get(first)) {
            (true, _) => String::new(),
            (false, Some(whole)) => whole.clone(),
            (false, None) => String::from_utf8_lossy(first).into_owned(),
        };
        let (mut path, mut last) = (begin, at);
        while stream.is_mark(last + 1, ".")
            && let Some(word) = stream.word(last + 2)
        {
            last += 2;
            if !path.is_empty() {
                path.push('.');
                path.push_str(&String::from_utf8_lossy(word));
            }
        }
        Some(Chain { last, path, name: stream.text(last) })
    }
}

/// The dotted name from an index on, and the index after it.
fn dotted(stream: Stream<'_>, mut at: usize) -> (String, usize) {
    let mut path = String::new();
    loop {
        if stream.is_mark(at, ".") {
            path.push('.');
        } else if let Some(word) = stream.word(at).filter(|_| path.is_empty() || path.ends_with('.')) {
            path.push_str(&String::from_utf8_lossy(word));
        } else {
            return (path, at);
        }
        at += 1;
    }
}

/// The token before the block of a compound statement: the first colon outside of brackets.
pub fn colon(stream: Stream<'_>, line: &Line) -> Option<usize> {
    let (mut open, mut lambdas) = (0_usize, 0_usize);
    for at in line.tokens.clone() {
        match stream.bytes(at) {
            b"(" | b"[" | b"{" => open += 1,
            b")" | b"]" | b"}" => open = open.saturating_sub(1),
            b"lambda" if open == 0 => lambdas += 1,
            b":" if open == 0 && lambdas == 0 => return Some(at),
            b":" if open == 0 => lambdas -= 1,
            _ => {}
        }
    }
    None
}

/// Marks the tokens in loops: the blocks of `for` and `while`, and conditions of `while`. Functions and classes defined
/// in a loop do not run with it.
fn loops(stream: Stream<'_>, lexed: &Lexed) -> Vec<bool> {
    let mut marks = vec![false; stream.len()];
    // Columns of the statements around a line, and whether their blocks run in a loop.
    let mut around: Vec<(usize, bool)> = Vec::new();
    for line in &lexed.lines {
        while around.last().is_some_and(|(indent, _)| *indent >= line.indent) {
            around.pop();
        }
        let outside = around.last().is_some_and(|(_, is_loop)| *is_loop);
        let begin = line.tokens.start + usize::from(stream.is_word(line.tokens.start, "async"));
        let inside = match stream.word(begin) {
            Some(b"for" | b"while") => true,
            Some(b"def" | b"class") => false,
            _ => outside,
        };
        let colon = colon(stream, line).unwrap_or(line.tokens.end);
        let is_condition = stream.is_word(begin, "while");
        for at in line.tokens.clone() {
            if let Some(mark) = marks.get_mut(at) {
                *mark = if at > colon || is_condition { inside } else { outside };
            }
        }
        around.push((line.indent, inside));
    }
    marks
}
