//! Scans a file of Python or Cython.

use super::file_matches::{FileMatches, KernelSite, Mention};
use super::patterns::{PatternForm, Patterns};
use super::python_lexer::{Lexed, Line, lex};
use super::python_structure::{Chain, Structure, colon};
use super::text::Text;
use super::tokens::{Stream, TokenKind};

/// Maximum number of decorators of a function.
const MAX_DECORATORS: usize = 64;

struct Scan<'a> {
    stream: Stream<'a>,
    lexed: &'a Lexed,
    structure: Structure,
    /// The closing index of each bracket.
    closes: Vec<Option<usize>>,
    patterns: &'a Patterns,
}

/// Finds the patterns in a file.
pub fn scan(file: &[u8], patterns: &Patterns) -> FileMatches {
    let text = Text::new(file);
    let lexed = lex(&text);
    let stream = Stream { text: &text.bytes, tokens: &lexed.tokens };
    let structure = Structure::new(stream, &lexed);
    let scan = Scan { stream, lexed: &lexed, structure, closes: closes(stream), patterns };
    let mut found = FileMatches::default();
    for (number, line) in lexed.lines.iter().enumerate() {
        if matches!(stream.word(line.tokens.start), Some(b"import" | b"from")) {
            continue;
        }
        if stream.is_mark(line.tokens.start, "@") {
            scan.decorator(number, line, &mut found);
        }
        for at in line.tokens.clone() {
            if let Some(chain) = scan.structure.chain(stream, at) {
                scan.chain(at, &chain, &mut found);
            }
        }
    }
    found.hits.sort_by_key(|hit| (hit.line, hit.pattern));
    found
}

fn closes(stream: Stream<'_>) -> Vec<Option<usize>> {
    let mut closes = vec![None; stream.len()];
    let mut open: Vec<usize> = Vec::new();
    for at in 0..stream.len() {
        match stream.bytes(at) {
            b"(" | b"[" | b"{" => open.push(at),
            b")" | b"]" | b"}" => {
                if let Some(close) = open.pop().and_then(|begin| closes.get_mut(begin)) {
                    *close = Some(at);
                }
            }
            _ => {}
        }
    }
    closes
}

impl Scan<'_> {
    fn close(&self, at: usize) -> Option<usize> {
        self.closes.get(at).copied().flatten()
    }

    /// Finds a decorator that makes the next function a kernel. A function that returns a value is called by kernels,
    /// and is not one.
    fn decorator(&self, number: usize, line: &Line, found: &mut FileMatches) {
        let Some(chain) = self.structure.chain(self.stream, line.tokens.start + 1) else { return };
        let is_kernel =
            |at: &usize| self.patterns.get(*at).is_some_and(|pattern| pattern.form == Some(PatternForm::PythonKernel));
        let Some(pattern) = self.patterns.used_path(&chain.path).into_iter().find(is_kernel) else { return };
        let below = self.lexed.lines.get(number..).unwrap_or_default();
        let mut function = below
            .iter()
            .take(MAX_DECORATORS)
            .enumerate()
            .skip_while(|(_, line)| self.stream.is_mark(line.tokens.start, "@"));
        let Some((ahead, definition)) =
            function.next().filter(|(_, line)| self.stream.is_word(line.tokens.start, "def"))
        else {
            return;
        };
        if self.returns_value(below.get(ahead..).unwrap_or_default()) || self.is_device_function(line) {
            return;
        }
        let Some(name) = self.stream.word(definition.tokens.start + 1) else { return };
        let (name, line) = (String::from_utf8_lossy(name).into_owned(), self.stream.line(definition.tokens.start));
        found.hit(pattern, line, false);
        let mention = Mention::Definition;
        found.kernels.push(KernelSite { name, line, pattern, mention, in_loop: false, substitutes: Vec::new() });
    }

    fn is_device_function(&self, line: &Line) -> bool {
        line.tokens.clone().any(|at| {
            self.stream.is_word(at, "device") && self.stream.is_mark(at + 1, "=") && self.stream.is_word(at + 2, "True")
        })
    }

    fn returns_value(&self, lines: &[Line]) -> bool {
        let Some(definition) = lines.first() else { return false };
        let block = lines.iter().skip(1).take_while(|line| line.indent > definition.indent);
        // Returns of nested functions do not count.
        let mut inner: Option<usize> = None;
        for line in block {
            if inner.is_some_and(|indent| line.indent <= indent) {
                inner = None;
            }
            if inner.is_none() && self.stream.is_word(line.tokens.start, "def") {
                inner = Some(line.indent);
            }
            if inner.is_none() && self.has_returned_value(line) {
                return true;
            }
        }
        false
    }

    fn has_returned_value(&self, line: &Line) -> bool {
        let begin = match self.stream.word(line.tokens.start) {
            Some(b"return") => line.tokens.start,
            // `if mask: return value` on one line.
            Some(b"if" | b"else" | b"elif") => match colon(self.stream, line) {
                Some(colon) if self.stream.is_word(colon + 1, "return") => colon + 1,
                _ => return false,
            },
            _ => return false,
        };
        begin + 1 < line.tokens.end && !self.stream.is_mark(begin + 1, ";") && !self.stream.is_word(begin + 1, "None")
    }

    fn chain(&self, at: usize, chain: &Chain, found: &mut FileMatches) {
        let (line, in_loop) = (self.stream.line(chain.last), self.structure.is_in_loop(at));
        let is_definition = at
            .checked_sub(1)
            .is_some_and(|before| self.stream.is_word(before, "def") || self.stream.is_word(before, "class"));
        if is_definition {
            return;
        }
        for pattern in self.patterns.used_path(&chain.path) {
            if self.patterns.get(pattern).is_some_and(|pattern| pattern.form.is_none()) {
                found.hit(pattern, line, in_loop);
            }
        }
        let open = chain.last + 1;
        if self.stream.is_mark(open, "[") {
            let call = self.close(open).filter(|close| self.stream.is_mark(close + 1, "("));
            if let (Some(_), Some(pattern)) = (call, self.patterns.of_form(PatternForm::SubscriptLaunch).next()) {
                let (name, mention) = (chain.name.clone(), Mention::MaybeLaunch);
                found.kernels.push(KernelSite { name, line, pattern, mention, in_loop, substitutes: Vec::new() });
            }
            return;
        }
        if !self.stream.is_mark(open, "(") {
            return;
        }
        let mut fitting = self.patterns.called_path(&chain.path);
        if fitting.is_empty() {
            fitting = self.patterns.called(chain.name.as_bytes(), None);
            if !fitting.is_empty() {
                found.count_spelling(chain.name.as_bytes());
            }
        }
        let is_method = chain.path.is_empty() || chain.path.contains('.');
        if fitting.is_empty() && is_method {
            fitting = self.patterns.method(&chain.name);
        }
        let arguments = open + 1..self.close(open).unwrap_or(open + 1);
        for pattern in fitting {
            let Some(what) = self.patterns.get(pattern) else { continue };
            let is_there = what.needs.as_ref().is_none_or(|module| self.structure.imports(module));
            if is_there && self.has_arguments(arguments.clone(), &what.with, &what.with_text) {
                found.hit(pattern, line, in_loop);
            }
        }
    }

    fn has_arguments(&self, mut arguments: std::ops::Range<usize>, words: &[String], texts: &[String]) -> bool {
        if words.is_empty() && texts.is_empty() {
            return true;
        }
        arguments.any(|at| match self.stream.kind(at) {
            Some(TokenKind::Word) => words.iter().any(|word| self.stream.is_word(at, word)),
            Some(TokenKind::Text) => {
                let literal = self.stream.literal(at).unwrap_or_default();
                texts.iter().any(|text| literal.starts_with(text.as_bytes()))
            }
            _ => false,
        })
    }
}
