//! Scans a file of C, C++, HIP, CUDA or OpenCL.

use std::collections::BTreeSet;

use super::c_conditions::live;
use super::c_kernels;
use super::c_lexer::lex;
use super::c_structure::Structure;
use super::file_matches::{FileMatches, KernelSite, Mention};
use super::patterns::{KernelName, Pattern, PatternForm, Patterns};
use super::text::Text;
use super::tokens::{Stream, TokenKind};

/// Keywords that may precede a call; after any other word it is a declaration.
const BEFORE_CALLS: [&str; 16] = [
    "return",
    "else",
    "do",
    "case",
    "throw",
    "co_return",
    "co_await",
    "co_yield",
    "and",
    "or",
    "not",
    "new",
    "delete",
    "sizeof",
    "goto",
    "typeof",
];
/// Maximum number of tokens in the brackets of template arguments.
const MAX_TEMPLATE_TOKENS: usize = 200;

/// Words that start kernels because other files of the tree define them so.
pub(crate) type KernelMacros = BTreeSet<Vec<u8>>;

/// Code, or the replacement of a macro, with facts about it.
pub struct CodePart<'a> {
    /// The tokens.
    pub stream: Stream<'a>,
    /// Brackets and loops.
    pub structure: Structure,
    /// Parameter names of a macro, which stand for other texts.
    pub parameters: BTreeSet<&'a [u8]>,
}

/// Finds the patterns in a file. In OpenCL C, `kernel` is a keyword.
pub fn scan(file: &[u8], is_opencl: bool, macros: &KernelMacros, patterns: &Patterns) -> FileMatches {
    let text = Text::new(file).joined();
    let lexed = lex(&text);
    let live = live(&text.bytes, &lexed);
    let mut found = FileMatches::default();
    let stream = Stream { text: &text.bytes, tokens: &live.code };
    let structure = Structure::new(stream, &live.choices);
    let code = CodePart { stream, structure, parameters: BTreeSet::new() };
    part(&code, is_opencl, macros, patterns, &mut found);
    for number in live.directives {
        let Some(directive) = lexed.directives.get(number) else { continue };
        let line = Stream { text: &text.bytes, tokens: &directive.tokens };
        match line.word(0).unwrap_or_default() {
            b"define" => definition(line, is_opencl, macros, patterns, &mut found),
            b"include" | b"include_next" => {
                let name = line.bytes(1).trim_ascii();
                let name = name.strip_prefix(b"<").or_else(|| name.strip_prefix(b"\"")).unwrap_or(name);
                let name = name.strip_suffix(b">").or_else(|| name.strip_suffix(b"\"")).unwrap_or(name);
                patterns.included(name).into_iter().for_each(|at| found.hit(at, line.line(0), false));
            }
            b"pragma" => {
                let words: Vec<&[u8]> = (1..line.len().min(8)).map(|at| line.bytes(at)).collect();
                let in_loop = directive_in_loop(&code, line.line(0));
                patterns.pragma(&words).into_iter().for_each(|at| found.hit(at, line.line(0), in_loop));
            }
            _ => {}
        }
    }
    found.hits.sort_by_key(|hit| (hit.line, hit.pattern));
    found
}

/// Returns whether the code after a directive is in a loop.
fn directive_in_loop(code: &CodePart<'_>, line: u32) -> bool {
    let next = code.stream.tokens.partition_point(|token| token.line <= line);
    code.structure.is_in_loop(next)
}

fn definition(line: Stream<'_>, is_opencl: bool, macros: &KernelMacros, patterns: &Patterns, found: &mut FileMatches) {
    let mut from = 2;
    let mut parameters = BTreeSet::new();
    if line.is_mark(2, "(") && line.touches_next(1) {
        from = 3;
        while from < line.len() && !line.is_mark(from, ")") {
            parameters.extend(line.word(from));
            from += 1;
        }
        from += 1;
    }
    let stream = Stream { text: line.text, tokens: line.tokens.get(from..).unwrap_or_default() };
    let structure = Structure::new(stream, &[]);
    part(&CodePart { stream, structure, parameters }, is_opencl, macros, patterns, found);
}

/// Words that a file defines to start kernels: macros without parameters, for `__global__` and attributes.
pub(crate) fn kernel_macros(file: &[u8]) -> KernelMacros {
    let mut macros = KernelMacros::new();
    if memchr::memmem::find(file, b"__global__").is_none() || memchr::memmem::find(file, b"define").is_none() {
        return macros;
    }
    let text = Text::new(file).joined();
    for directive in lex(&text).directives {
        let line = Stream { text: &text.bytes, tokens: &directive.tokens };
        let has_parameters = line.is_mark(2, "(") && line.touches_next(1);
        let is_kernel = (2..line.len().min(12)).any(|at| line.is_word(at, "__global__"));
        let has_braces = (2..line.len()).any(|at| line.is_mark(at, "{"));
        if let Some(name) =
            line.word(1).filter(|_| line.is_word(0, "define") && is_kernel && !has_parameters && !has_braces)
        {
            macros.insert(name.to_vec());
        }
    }
    macros
}

fn part(part: &CodePart<'_>, is_opencl: bool, macros: &KernelMacros, patterns: &Patterns, found: &mut FileMatches) {
    let stream = part.stream;
    let form = |form| patterns.of_form(form).next();
    let definitions = (form(PatternForm::KernelDefinition), form(PatternForm::OpenclKernelDefinition));
    let angle = form(PatternForm::AngleLaunch);
    for at in 0..stream.len() {
        if let Some(word) = stream.word(at) {
            let pattern = match word {
                b"__global__" => definitions.0,
                b"__kernel" => definitions.1,
                b"kernel" if is_opencl => definitions.1,
                _ if macros.contains(word) => definitions.0,
                _ => None,
            };
            if let Some(pattern) = pattern {
                c_kernels::definition(part, at, pattern, found);
            } else {
                call(part, at, word, patterns, found);
            }
        } else if let Some(angle) = angle
            && c_kernels::opens_launch(stream, at)
        {
            c_kernels::angle_launch(part, at, angle, found);
        }
    }
}

fn call(part: &CodePart<'_>, at: usize, word: &[u8], patterns: &Patterns, found: &mut FileMatches) {
    let stream = part.stream;
    let opens = stream.is_mark(at + 1, "(") || stream.is_mark(at + 1, "<");
    let before = at.checked_sub(1);
    let is_inner = before.is_some_and(|before| stream.is_mark(before, "::"));
    // Objects of a named type can be declared without parentheses.
    if !opens && !is_inner {
        return;
    }
    let outer =
        before.filter(|_| is_inner).and_then(|before| before.checked_sub(1)).and_then(|outer| stream.word(outer));
    let fitting = patterns.called(word, outer);
    if fitting.is_empty() {
        return;
    }
    let declares = stream.kind(at + 1) == Some(TokenKind::Word)
        && outer.is_some_and(|outer| outer == b"sycl" || outer == b"nvtx3");
    let open = match () {
        () if stream.is_mark(at + 1, "(") => Some(at + 1),
        () if stream.is_mark(at + 1, "<") => template_end(part, at + 1).map(|end| end + 1),
        () => None,
    };
    let open = open.filter(|open| stream.is_mark(*open, "("));
    if (open.is_none() && !declares) || is_declared(stream, at) {
        return;
    }
    found.count_spelling(word);
    let open = open.unwrap_or(at);
    let arguments = open + 1..part.structure.close(open).unwrap_or(open + 1);
    for pattern in fitting {
        let Some(what) = patterns.get(pattern) else { continue };
        if !has_argument(stream, arguments.clone(), what) {
            continue;
        }
        let (line, in_loop) = (stream.line(at), part.structure.is_in_loop(at));
        found.hit(pattern, line, in_loop);
        let name = what.kernel.and_then(|place| kernel_argument(part, arguments.clone(), place));
        if let Some(name) = name.filter(|name| !part.parameters.contains(name.as_bytes())) {
            let substitutes = c_kernels::given_to(part, at, &name);
            found.kernels.push(KernelSite { name, line, pattern, mention: Mention::Launch, in_loop, substitutes });
        }
    }
}

/// Returns whether a word before a name makes it a declaration: the return type of a function.
fn is_declared(stream: Stream<'_>, at: usize) -> bool {
    let mut before = at;
    // Namespaces belong to the name.
    while before >= 2 && stream.is_mark(before - 1, "::") && stream.word(before - 2).is_some() {
        before -= 2;
    }
    if before >= 1 && stream.is_mark(before - 1, "::") {
        before -= 1;
    }
    let Some(word) = before.checked_sub(1).and_then(|before| stream.word(before)) else { return false };
    !BEFORE_CALLS.iter().any(|keyword| keyword.as_bytes() == word)
}

/// The closing bracket of template arguments; `None` if the bracket is a comparison.
pub(crate) fn template_end(part: &CodePart<'_>, open: usize) -> Option<usize> {
    let stream = part.stream;
    let (mut depth, mut at) = (0_usize, open);
    for _ in 0..MAX_TEMPLATE_TOKENS {
        match stream.bytes(at) {
            b"<" => depth += 1,
            b">" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at);
                }
            }
            b"(" | b"[" | b"{" => at = part.structure.close(at)?,
            b";" | b")" | b"]" | b"}" | b"" => return None,
            _ => {}
        }
        at += 1;
    }
    None
}

fn has_argument(stream: Stream<'_>, mut arguments: std::ops::Range<usize>, pattern: &Pattern) -> bool {
    pattern.with.is_empty() || arguments.any(|at| pattern.with.iter().any(|word| stream.is_word(at, word)))
}

/// The argument with this number, from 1.
pub fn argument(
    part: &CodePart<'_>,
    arguments: std::ops::Range<usize>,
    number: usize,
) -> Option<std::ops::Range<usize>> {
    let (mut begin, mut at, mut current) = (arguments.start, arguments.start, 1);
    while at < arguments.end {
        match part.stream.bytes(at) {
            b"(" | b"[" | b"{" => at = part.structure.close(at).filter(|close| *close < arguments.end)?,
            b"<" => at = template_end(part, at).filter(|close| *close < arguments.end).unwrap_or(at),
            b"," => {
                if current == number {
                    return Some(begin..at);
                }
                current += 1;
                begin = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    (current == number && begin < arguments.end).then_some(begin..arguments.end)
}

fn kernel_argument(part: &CodePart<'_>, arguments: std::ops::Range<usize>, place: KernelName) -> Option<String> {
    match place {
        KernelName::Argument(number) => c_kernels::named(part, argument(part, arguments, number)?),
        KernelName::Literal(number) => {
            let own = argument(part, arguments, number)?;
            let literal = (own.len() == 1).then(|| part.stream.literal(own.start)).flatten()?;
            let is_name = !literal.is_empty() && literal.iter().all(|byte| super::tokens::continues_word(*byte));
            is_name.then(|| String::from_utf8_lossy(literal).into_owned())
        }
    }
}
