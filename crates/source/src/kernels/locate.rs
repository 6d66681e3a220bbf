//! Finds kernels in source code.

use std::borrow::Cow;
use std::ops::Range;

use super::declaration::declaration;
use super::macros::Macros;
use super::model::SourceKernel;
use super::pieces::pieces;
use super::scopes::{Block, around, blocks};
use super::start::declaration_start;
use crate::scan::c_conditions::{Choice, live};
use crate::scan::c_lexer::lex;
use crate::scan::c_structure::Structure;
use crate::scan::text::Text;
use crate::scan::tokens::{Stream, Token};

/// Maximum number of tokens of a declaration.
const MAX_HEAD: usize = 2000;

/// The text to search.
struct Searched<'a> {
    text: &'a Text<'a>,
    stream: Stream<'a>,
    structure: Structure,
    choices: Vec<(usize, Choice)>,
    macros: Macros,
    blocks: Vec<Block>,
}

/// Finds the definitions of kernels in a text, in order. Any text is accepted. Kernels that a macro defines as a whole
/// are not found, nor names that macros build.
pub fn kernels(text: &str) -> Vec<SourceKernel> {
    let plain = same_length(text);
    let joined = Text::new(&plain).joined();
    let lexed = lex(&joined);
    let live = live(&joined.bytes, &lexed);
    let macros = Macros::new(&joined.bytes, &lexed, &live);
    let stream = Stream { text: &joined.bytes, tokens: &live.code };
    let structure = Structure::new(stream, &live.choices);
    let blocks = blocks(stream, &structure);
    let searched = Searched { text: &joined, stream, structure, choices: live.choices, macros, blocks };
    let mut found: Vec<SourceKernel> = Vec::new();
    // The last token of the last body: alternatives of the preprocessor that share it are recognized by it.
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while at < stream.len() {
        if searched.macros.start_kernel(stream, at)
            && let Some((kernel, open, close)) = searched.kernel(at, &ends)
        {
            found.push(kernel);
            ends.push((open, close));
            at = open;
        }
        at += 1;
    }
    found
}

/// [`kernels`] with the macros of other texts, such as headers that the text includes.
pub fn kernels_with(text: &str, others: &[&str]) -> Vec<SourceKernel> {
    let prefix: String = others.iter().map(|other| definitions(other)).collect();
    let lines = u32::try_from(prefix.matches('\n').count()).unwrap_or(u32::MAX);
    // A byte order mark counts only at the start.
    let own = text.strip_prefix('\u{feff}').map_or_else(|| text.to_owned(), |rest| format!("   {rest}"));
    let mut found = kernels(&format!("{prefix}{own}"));
    for kernel in &mut found {
        kernel.line = kernel.line.saturating_sub(lines);
        for range in [&mut kernel.whole, &mut kernel.signature, &mut kernel.body] {
            *range = range.start.saturating_sub(prefix.len())..range.end.saturating_sub(prefix.len());
        }
    }
    found
}

/// The macros that a text defines, one per line.
fn definitions(text: &str) -> String {
    let plain = same_length(text);
    let joined = Text::new(&plain).joined();
    let lexed = lex(&joined);
    let live = live(&joined.bytes, &lexed);
    let mut all = String::new();
    for directive in live.directives.iter().filter_map(|number| lexed.directives.get(*number)) {
        let line = Stream { text: &joined.bytes, tokens: &directive.tokens };
        let ends = directive.tokens.first().zip(directive.tokens.last()).filter(|_| line.is_word(0, "define"));
        let Some((first, last)) = ends else { continue };
        let bytes = joined.bytes.get(first.start as usize..last.end as usize).unwrap_or_default();
        // A comment may have spanned several lines.
        all.push('#');
        all.extend(String::from_utf8_lossy(bytes).chars().map(|one| if one == '\n' { ' ' } else { one }));
        all.push('\n');
    }
    all
}

/// A text of the same length whose lines all end with a line feed.
fn same_length(text: &str) -> Cow<'_, [u8]> {
    let bytes = text.as_bytes();
    let mark = bytes.starts_with(b"\xef\xbb\xbf");
    if !mark && memchr::memchr(b'\r', bytes).is_none() {
        return bytes.into();
    }
    let mut all = bytes.to_vec();
    if mark {
        all.iter_mut().take(3).for_each(|byte| *byte = b' ');
    }
    let mut at = 0;
    while let Some(place) = all.get(at..).and_then(|rest| memchr::memchr(b'\r', rest)) {
        at += place + 1;
        let ends_line = all.get(at) == Some(&b'\n');
        if let Some(byte) = all.get_mut(at - 1) {
            *byte = if ends_line { b' ' } else { b'\n' };
        }
    }
    all.into()
}

impl Searched<'_> {
    /// The kernel with its keyword at an index, and the braces of its body.
    fn kernel(&self, keyword: usize, ends: &[(usize, usize)]) -> Option<(SourceKernel, usize, usize)> {
        let start = declaration_start(self.stream, &self.structure, keyword);
        let open = self.body(keyword)?;
        // The brace of an alternative stays open until that of the first one closes.
        let shared = || ends.iter().rev().find(|(first, last)| *first < open && open < *last).map(|(_, last)| *last);
        let own = self.structure.close(open);
        let close = own.or_else(shared)?;
        let head = self.first_alternatives(start..open);
        let expanded = self.macros.expanded(self.stream.text, &head);
        let declared = declaration(&pieces(self.stream.text, &expanded))?;
        let (mut scopes, is_c) = around(&self.blocks, start);
        scopes.extend(declared.scopes);
        let last = open.checked_sub(1)?;
        let kernel = SourceKernel {
            line: expanded.get(declared.place).map_or(0, |token| token.line),
            name: declared.name,
            scopes,
            template: declared.template,
            qualifiers: declared.qualifiers,
            is_c: is_c || declared.is_c,
            launch_bounds: declared.launch_bounds,
            parameters: declared.parameters,
            whole: self.range(start, close)?,
            signature: self.range(start, last)?,
            body: self.range(open, close)?,
            is_torn: own.is_none() || self.is_torn(start, open, close),
        };
        Some((kernel, open, close))
    }

    /// The opening brace of the body after a keyword.
    fn body(&self, keyword: usize) -> Option<usize> {
        let mut at = keyword + 1;
        if self.stream.is_word(keyword, "__attribute__") {
            at = self.structure.close(at)? + 1;
        }
        let limit = keyword + MAX_HEAD;
        while at < limit {
            match self.stream.bytes(at) {
                b"{" => return Some(at),
                b"" | b";" | b"}" | b")" | b"]" | b"=" => return None,
                b"(" | b"[" => at = self.structure.close(at)?,
                b"__global__" | b"__kernel" | b"template" => return None,
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// The byte range of tokens in the original text.
    fn range(&self, first: usize, last: usize) -> Option<Range<usize>> {
        let (first, last) = (self.stream.tokens.get(first)?, self.stream.tokens.get(last)?);
        let end = (last.end as usize).checked_sub(1)?;
        Some(self.text.unjoined(first.start as usize)..self.text.unjoined(end) + 1)
    }

    /// Tokens without second and later alternatives.
    fn first_alternatives(&self, range: Range<usize>) -> Vec<Token> {
        let mut kept = Vec::new();
        let begin = self.choices.partition_point(|(place, _)| *place <= range.start);
        let mut choices = self.choices.iter().skip(begin).peekable();
        // For each open choice, whether its first alternative has ended.
        let mut over: Vec<bool> = Vec::new();
        for at in range {
            while let Some((_, choice)) = choices.next_if(|(place, _)| *place <= at) {
                match choice {
                    Choice::Begin => over.push(false),
                    // An omitted part does not count as an alternative.
                    Choice::Next(was_there) => {
                        if let Some(last) = over.last_mut() {
                            *last |= was_there;
                        }
                    }
                    Choice::End => drop(over.pop()),
                }
            }
            if !over.contains(&true) {
                kept.extend(self.stream.tokens.get(at));
            }
        }
        kept
    }

    /// Returns whether preprocessor alternatives start or end in a kernel but extend beyond it, or are in its
    /// parameters.
    fn is_torn(&self, start: usize, open: usize, close: usize) -> bool {
        let begin = self.choices.partition_point(|(place, _)| *place <= start);
        let mut depth = 0_usize;
        for (place, choice) in self.choices.iter().skip(begin).take_while(|(place, _)| *place <= close) {
            match choice {
                Choice::Begin => depth += 1,
                Choice::Next(_) if depth == 0 => return true,
                Choice::Next(_) => {}
                Choice::End => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => return true,
                },
            }
            if *place <= open && self.is_in_parentheses(start..*place) {
                return true;
            }
        }
        depth > 0
    }

    /// Returns whether the place after some tokens is in parentheses that open in them.
    fn is_in_parentheses(&self, range: Range<usize>) -> bool {
        let end = range.end;
        range
            .into_iter()
            .any(|at| self.stream.is_mark(at, "(") && self.structure.close(at).is_none_or(|close| end <= close))
    }
}
