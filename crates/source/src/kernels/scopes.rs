//! Namespaces and classes around a place.

use crate::scan::c_structure::Structure;
use crate::scan::tokens::{Stream, TokenKind};

/// Maximum number of tokens between the keyword and the brace.
const MAX_HEAD: usize = 400;

/// A named block, or an `extern` block of another language.
#[derive(Debug)]
pub(super) struct Block {
    open: usize,
    close: usize,
    names: Vec<String>,
    is_c: bool,
}

/// Finds all such blocks, in the order of their braces.
pub(super) fn blocks(stream: Stream<'_>, structure: &Structure) -> Vec<Block> {
    let mut found = Vec::new();
    for at in 0..stream.len() {
        let Some(word) = stream.word(at) else { continue };
        let head = match word {
            b"namespace" => namespace(stream, structure, at + 1),
            b"class" | b"struct" | b"union" => class(stream, structure, at + 1),
            b"extern" if stream.kind(at + 1) == Some(TokenKind::Text) && stream.is_mark(at + 2, "{") => {
                Some((at + 2, Vec::new()))
            }
            _ => None,
        };
        let Some((open, names)) = head else { continue };
        let close = structure.close(open).unwrap_or(stream.len());
        let is_c = word == b"extern" && stream.literal(at + 1) == Some(b"C");
        found.push(Block { open, close, names, is_c });
    }
    found
}

/// The names around an index, the outermost first, and whether it is in `extern "C"`.
pub(super) fn around(blocks: &[Block], at: usize) -> (Vec<String>, bool) {
    let around = || blocks.iter().take_while(|block| block.open < at).filter(|block| at < block.close);
    (around().flat_map(|block| block.names.clone()).collect(), around().any(|block| block.is_c))
}

/// The opening brace of a namespace, and its names.
fn namespace(stream: Stream<'_>, structure: &Structure, begin: usize) -> Option<(usize, Vec<String>)> {
    let mut names = Vec::new();
    let mut at = begin;
    while at < begin + MAX_HEAD {
        match stream.bytes(at) {
            b"{" => break,
            b"::" | b"inline" | b"__attribute__" => {}
            b"(" | b"[" => at = structure.close(at)?,
            _ if stream.word(at).is_some() => names.push(stream.text(at)),
            _ => return None,
        }
        at += 1;
    }
    if names.is_empty() {
        names.push("(anonymous)".to_owned());
    }
    stream.is_mark(at, "{").then_some((at, names))
}

/// The opening brace of a class, and its name.
fn class(stream: Stream<'_>, structure: &Structure, begin: usize) -> Option<(usize, Vec<String>)> {
    let mut name = None;
    let mut angles = 0_usize;
    let mut in_bases = false;
    let mut at = begin;
    while at < begin + MAX_HEAD {
        match stream.bytes(at) {
            b"{" if angles == 0 => break,
            b"<" => angles += 1,
            b">" => angles = angles.checked_sub(1)?,
            b"[" => at = structure.close(at)?,
            // `alignas(16)`; after a name it would be a function that returns a class.
            b"(" if at == begin + 1 || in_bases || angles > 0 => at = structure.close(at)?,
            b":" if angles == 0 => in_bases = true,
            b"::" => {}
            b"," if in_bases || angles > 0 => {}
            b"final" => {}
            _ if in_bases || angles > 0 => {}
            _ if stream.word(at).is_some() => name = Some(stream.text(at)),
            _ => return None,
        }
        at += 1;
    }
    let name = name.unwrap_or_else(|| "(anonymous)".to_owned());
    stream.is_mark(at, "{").then(|| (at, vec![name]))
}
