//! Macros that stand for parts of declarations.

use std::collections::BTreeMap;

use crate::scan::c_conditions::Live;
use crate::scan::c_lexer::Lexed;
use crate::scan::tokens::{Stream, Token};

/// Maximum depth of macros that name others.
const DEEPEST: usize = 8;
/// Maximum number of tokens that a declaration expands to.
const MAX_TOKENS: usize = 4000;
/// Maximum number of expansion steps.
const MAX_STEPS: usize = 20_000;
/// Words that mark a macro as part of a declaration.
const WORDS: [&str; 13] = [
    "__global__",
    "__kernel",
    "__launch_bounds__",
    "__attribute__",
    "static",
    "inline",
    "extern",
    "template",
    "void",
    "__forceinline__",
    "__device__",
    "amdgpu_kernel",
    "__restrict__",
];

/// Words that are macros in the headers of HIP, but have a known meaning.
const KNOWN: [&[u8]; 3] = [b"__global__", b"__kernel", b"__launch_bounds__"];

/// The replacement of a macro's name.
#[derive(Debug)]
struct Macro {
    /// `None` if it has no parentheses.
    parameters: Option<Vec<Vec<u8>>>,
    body: Vec<Token>,
}

/// The macros of a text that stand for parts of declarations.
#[derive(Debug, Default)]
pub(super) struct Macros {
    known: BTreeMap<Vec<u8>, Macro>,
    /// Macros that start kernels.
    kernels: Vec<Vec<u8>>,
}

impl Macros {
    /// Collects the macros of live lines. The first macro of a name counts.
    pub(super) fn new(text: &[u8], lexed: &Lexed, live: &Live) -> Self {
        let mut all: BTreeMap<Vec<u8>, Macro> = BTreeMap::new();
        for directive in live.directives.iter().filter_map(|number| lexed.directives.get(*number)) {
            let line = Stream { text, tokens: &directive.tokens };
            let Some(name) = line.word(1).filter(|_| line.is_word(0, "define")) else { continue };
            if KNOWN.contains(&name) {
                continue;
            }
            let has_parameters = line.is_mark(2, "(") && line.touches_next(1);
            let end = if has_parameters { (3..line.len()).find(|at| line.is_mark(*at, ")")) } else { Some(1) };
            let Some(end) = end else { continue };
            let parameters =
                has_parameters.then(|| (3..end).filter_map(|at| line.word(at).map(<[u8]>::to_vec)).collect());
            let body = line.tokens.get(end + 1..).unwrap_or_default();
            let braces = (0..body.len()).any(|at| matches!(Stream { text, tokens: body }.bytes(at), b"{" | b"##"));
            if !braces && body.len() < MAX_TOKENS {
                all.entry(name.to_vec()).or_insert(Macro { parameters, body: body.to_vec() });
            }
        }
        // A macro that names others has their meaning.
        let mut marked: BTreeMap<Vec<u8>, bool> = BTreeMap::new();
        for _ in 0..DEEPEST {
            let before = marked.clone();
            for (name, what) in &all {
                let body = Stream { text, tokens: &what.body };
                for at in 0..body.len() {
                    let Some(word) = body.word(at) else { continue };
                    let is_kernel = starts_kernel(body, at) || before.get(word) == Some(&true);
                    let is_part = WORDS.iter().any(|part| part.as_bytes() == word) || before.contains_key(word);
                    if is_kernel || is_part {
                        *marked.entry(name.clone()).or_default() |= is_kernel;
                    }
                }
            }
            if before == marked {
                break;
            }
        }
        let kernels = marked.iter().filter(|(_, is_kernel)| **is_kernel).map(|(name, _)| name.clone()).collect();
        all.retain(|name, _| marked.contains_key(name));
        Self { known: all, kernels }
    }

    /// Returns whether the word at an index starts a kernel.
    pub(super) fn start_kernel(&self, stream: Stream<'_>, at: usize) -> bool {
        starts_kernel(stream, at) || stream.word(at).is_some_and(|word| self.kernels.iter().any(|name| name == word))
    }

    /// Tokens with macros expanded.
    pub(super) fn expanded(&self, text: &[u8], tokens: &[Token]) -> Vec<Token> {
        let (mut all, mut steps) = (Vec::new(), MAX_STEPS);
        self.expand(text, tokens, 0, &mut all, &mut steps);
        all
    }

    fn expand(&self, text: &[u8], tokens: &[Token], depth: usize, all: &mut Vec<Token>, steps: &mut usize) {
        let stream = Stream { text, tokens };
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            *steps = steps.saturating_sub(1);
            if all.len() > MAX_TOKENS || *steps == 0 {
                return;
            }
            let known = stream.word(at - 1).filter(|_| depth < DEEPEST).and_then(|word| self.known.get(word));
            let Some(known) = known else {
                all.push(*token);
                continue;
            };
            let Some(parameters) = &known.parameters else {
                self.expand(text, &known.body, depth + 1, all, steps);
                continue;
            };
            let Some((arguments, end)) = stream.is_mark(at, "(").then(|| arguments(stream, at)).flatten() else {
                all.push(*token);
                continue;
            };
            let body = Stream { text, tokens: &known.body };
            let mut filled = Vec::new();
            for (place, token) in known.body.iter().enumerate() {
                let word = body.word(place);
                let number = parameters.iter().position(|parameter| Some(parameter.as_slice()) == word);
                match number {
                    Some(number) => filled.extend_from_slice(arguments.get(number).copied().unwrap_or_default()),
                    // All remaining arguments, separated by commas.
                    None if word == Some(b"__VA_ARGS__") => {
                        let rest = arguments.get(parameters.len()..).unwrap_or_default();
                        let ends = rest.first().zip(rest.last());
                        let range = ends.and_then(|(first, last)| {
                            let from = tokens.iter().position(|token| first.first() == Some(token))?;
                            let to = tokens.iter().position(|token| last.last() == Some(token))?;
                            tokens.get(from..=to)
                        });
                        filled.extend_from_slice(range.unwrap_or_default());
                    }
                    None => filled.push(*token),
                }
                if filled.len() > MAX_TOKENS {
                    return;
                }
            }
            self.expand(text, &filled, depth + 1, all, steps);
            at = end + 1;
        }
    }
}

/// Returns whether a keyword at an index starts a kernel.
fn starts_kernel(stream: Stream<'_>, at: usize) -> bool {
    match stream.word(at) {
        Some(b"__global__" | b"__kernel") => true,
        Some(b"__attribute__") => {
            let inner = stream.is_mark(at + 1, "(") && stream.is_mark(at + 2, "(");
            let names = (at + 3..at + 24).take_while(|at| !stream.is_mark(*at, ")")).filter_map(|at| stream.word(at));
            inner
                && names
                    .into_iter()
                    .any(|name| matches!(name, b"global" | b"__global__" | b"amdgpu_kernel" | b"device_kernel"))
        }
        _ => false,
    }
}

/// The arguments of a macro in the parentheses at an index, and the index of the closing parenthesis.
fn arguments<'a>(stream: Stream<'a>, open: usize) -> Option<(Vec<&'a [Token]>, usize)> {
    let mut found = Vec::new();
    let (mut depth, mut from) = (0_usize, open + 1);
    for at in open..stream.len() {
        match stream.bytes(at) {
            b"(" => depth += 1,
            b")" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    found.push(stream.tokens.get(from..at)?);
                    return Some((found, at));
                }
            }
            b"," if depth == 1 => {
                found.push(stream.tokens.get(from..at)?);
                from = at + 1;
            }
            _ => {}
        }
    }
    None
}
