//! Shorter forms of kernel names as compilers and profilers display them.
//!
//! A name is cut into pieces at its outermost level (text, template arguments, parameter lists, `::`, spaces), and the
//! forms are put together from these. Names that are not C++ (Tensile's, Triton's, names with spaces), mangled names
//! and fragments stay as they are. Every function here is total and idempotent, and returns nothing empty for a name
//! that is not empty.

mod pieces;
mod position;
mod readable;

pub use crate::analysis::kernel_names::position::{DIFFERENCES, kernel_of_position, position_after, renamed_position};
pub use crate::analysis::kernel_names::readable::{ReadableNames, is_readable_form, kernels_in_row};

use crate::analysis::kernel_names::pieces::{Piece, pieces};

/// How often a shortened name is shortened again before it is taken as not understood; one round is the rule.
const MAX_ROUNDS: usize = 4;

/// Words that stand before a function's name without being part of it.
const LEADING_WORDS: [&str; 4] = ["void", "__global__", "static", "inline"];

/// Words that may stand between a parameter list and the end of a name.
const TRAILING_WORDS: [&str; 6] = ["const", "volatile", "noexcept", "restrict", "&", "&&"];

/// The name without the marks of a kernel descriptor: a trailing `.kd` and `[clone .kd]`, however often they occur.
///
/// A name made of nothing else is returned as it is.
pub fn strip_kd(name: &str) -> &str {
    let mut rest = name.trim();
    while let Some(shorter) = rest.strip_suffix(".kd").or_else(|| rest.strip_suffix("[clone .kd]")) {
        rest = shorter.trim_end();
    }
    if rest.is_empty() { name } else { rest }
}

/// The qualified function name: no return type, no parameters, template arguments folded to `<...>`.
///
/// `void at::native::fill<8, float>(int)` becomes `at::native::fill<...>`. `(anonymous namespace)::`, lambdas and
/// operators stay.
pub fn short_name(display: &str) -> String {
    until_stable(display, |name| qualified(name).map(|kept| join(&kept, true)))
}

/// The innermost function name: no namespaces, template arguments or parameters.
///
/// `void at::native::fill<8, float>(int)` becomes `fill`, as in the `truncated_kernel_name` of rocprofv3.
pub fn base_name(display: &str) -> String {
    until_stable(display, |name| {
        let kept = qualified(name)?;
        let innermost = kept.rsplit(|piece| *piece == Piece::Scope).next()?;
        Some(join(innermost, false))
    })
}

/// The function's own identifier in an Itanium-mangled name, without its namespaces and what follows it: `fill` of
/// `_ZN2at6native4fillIfEEvi`. `None` if the name is not mangled or starts with anything but plain identifiers.
///
/// This reads the leading identifiers only; it demangles nothing.
pub fn mangled_base(name: &str) -> Option<&str> {
    let mut rest = name.strip_prefix("_Z").filter(|_| is_mangled(name))?;
    if let Some(nested) = rest.strip_prefix('N') {
        rest = nested.trim_start_matches(['K', 'V', 'r']);
        rest = rest.strip_prefix("St").unwrap_or(rest);
    } else {
        rest = rest.strip_prefix('L').unwrap_or(rest);
    }
    let mut innermost = None;
    loop {
        let identifier = rest.trim_start_matches(|character: char| character.is_ascii_digit());
        let digits = rest.get(..rest.len() - identifier.len())?;
        let Ok(length) = digits.parse::<usize>() else {
            return innermost;
        };
        let (found, behind) = identifier.split_at_checked(length)?;
        if !found.is_empty() {
            innermost = Some(found);
        }
        rest = behind;
    }
}

/// Applies `shorten` until nothing changes. If that takes too many rounds, or nothing is left, the name stays as it is.
fn until_stable(display: &str, shorten: impl Fn(&str) -> Option<String>) -> String {
    let unchanged = strip_kd(display);
    let mut name = unchanged.to_owned();
    for _ in 0..MAX_ROUNDS {
        let Some(shorter) = shorten(&name).filter(|shorter| !shorter.is_empty()) else {
            return name;
        };
        let shorter = strip_kd(&shorter);
        if shorter == name {
            return name;
        }
        name = shorter.to_owned();
    }
    unchanged.to_owned()
}

/// The pieces of the qualified name; `None` if the name is not recognizably a C++ function.
fn qualified(name: &str) -> Option<Vec<Piece<'_>>> {
    if is_mangled(name) {
        return None;
    }
    let mut all = pieces(name);
    drop_inner_qualifiers(&mut all);
    let parameters = all.iter().rposition(|piece| matches!(piece, Piece::Parameters(_)));
    let has_parameters = parameters.is_some_and(|at| all.iter().skip(at + 1).all(is_trailer));
    if let Some(at) = parameters.filter(|_| has_parameters) {
        all.truncate(at);
    } else {
        while all.pop_if(|piece| matches!(piece, Piece::Space | Piece::Attribute)).is_some() {}
    }
    if all.contains(&Piece::Comma) {
        return None;
    }
    let after_space = all.iter().rposition(|piece| *piece == Piece::Space).map_or(0, |at| at + 1);
    let tail = all.get(after_space..)?;
    let is_function = has_parameters || tail.iter().any(|piece| matches!(piece, Piece::Template(_) | Piece::Scope));
    if is_function || all.iter().take(after_space).all(is_leader) {
        return Some(all.split_off(after_space));
    }
    Some(all)
}

/// Takes the ` const` out of `f() const::{lambda()#1}`, where the space does not separate return type and name.
fn drop_inner_qualifiers(all: &mut Vec<Piece<'_>>) {
    let mut kept: Vec<Piece<'_>> = Vec::with_capacity(all.len());
    for piece in all.drain(..) {
        if piece == Piece::Scope {
            while let [.., Piece::Parameters(_), Piece::Space, Piece::Text(word)] = kept.as_slice()
                && TRAILING_WORDS.contains(word)
            {
                kept.truncate(kept.len().saturating_sub(2));
            }
        }
        kept.push(piece);
    }
    *all = kept;
}

/// Itanium (`_Z`, with further underscores on some platforms) and Rust v0 (`_R`) names are not display names.
fn is_mangled(name: &str) -> bool {
    let bare = name.trim_start_matches('_');
    name.starts_with('_') && (bare.starts_with('Z') || bare.starts_with("RNv")) && !name.contains([' ', '(', '<'])
}

fn is_leader(piece: &Piece<'_>) -> bool {
    match piece {
        Piece::Text(text) => LEADING_WORDS.contains(text),
        other => *other == Piece::Space,
    }
}

fn is_trailer(piece: &Piece<'_>) -> bool {
    match piece {
        Piece::Space | Piece::Attribute => true,
        // Compilers append `.cold`, `.intern.<hash>` and the like.
        Piece::Text(text) => TRAILING_WORDS.contains(text) || text.starts_with('.'),
        _ => false,
    }
}

fn join(kept: &[Piece<'_>], with_templates: bool) -> String {
    let mut name = String::new();
    for piece in kept {
        match piece {
            Piece::Text(text) => name.push_str(text),
            Piece::Scope => name.push_str("::"),
            Piece::Space => name.push(' '),
            Piece::Template(_) if with_templates => name.push_str("<...>"),
            Piece::Template(_) | Piece::Parameters(_) | Piece::Attribute | Piece::Comma => {}
        }
    }
    // Rest of a returned pointer or reference: `float *kernel(int)`.
    name.trim().trim_start_matches(['*', '&']).to_owned()
}

#[cfg(test)]
mod tests;
