//! Template arguments: types, numbers, and the class or function that an argument names.

use crate::analysis::kernel_names::pieces::{Piece, arguments, pieces};
use crate::analysis::kernel_names::qualified;
use crate::analysis::kernel_names::readable::facts::facts;

/// Levels of nested arguments that are followed.
pub(super) const MAX_DEPTH: usize = 8;

/// A part of a path between `::`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Segment<'a> {
    pub text: &'a str,
    /// Template arguments with their brackets.
    pub template: Option<&'a str>,
    /// Parameters with their brackets.
    pub parameters: Option<&'a str>,
}

impl<'a> Segment<'a> {
    /// Its template arguments.
    pub fn arguments(&self) -> Vec<&'a str> {
        self.template.map(arguments).unwrap_or_default()
    }

    /// Whether its template arguments are cut off.
    pub fn is_cut(&self) -> bool {
        self.template.is_some_and(|template| !template.ends_with('>'))
    }

    /// Whether it is an unnamed function.
    pub fn is_lambda(&self) -> bool {
        self.text.starts_with('{')
    }
}

/// The parts of the path of a function or type, without what stands around it.
pub(super) fn segments(text: &str) -> Vec<Segment<'_>> {
    let text = text.trim().trim_start_matches('&').trim();
    let inner = text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(text);
    let kept = qualified(inner).unwrap_or_else(|| pieces(inner));
    let mut found: Vec<Segment<'_>> = vec![Segment::default()];
    for piece in kept {
        let Some(last) = found.last_mut() else { break };
        match piece {
            Piece::Scope => found.push(Segment::default()),
            // `operator()` is one text; pieces of other texts are signs such as `*`.
            Piece::Text(word) if last.text.is_empty() => last.text = word,
            Piece::Template(group) if last.template.is_none() => last.template = Some(group),
            Piece::Parameters(group) => last.parameters = Some(group),
            _ => {}
        }
    }
    found.retain(|segment| !segment.text.is_empty());
    found
}

/// Whether a part of a path is neither unnamed nor an operator.
pub(super) fn is_name(segment: &&Segment<'_>) -> bool {
    !segment.is_lambda() && !segment.text.starts_with("operator") && !segment.text.starts_with('(')
}

/// The part that names what an argument is: the function or class that holds a lambda or call operator.
pub(super) fn named<'a, 'b>(path: &'b [Segment<'a>]) -> Option<&'b Segment<'a>> {
    let has_more = |segment: &&Segment<'_>| segment.template.is_some() || segment.parameters.is_some();
    let mut names = path.iter().filter(is_name);
    names.clone().find(has_more).or_else(|| names.next_back())
}

/// Longest spelling of a type that is looked up.
const LONGEST_TYPE: usize = 200;

/// A known type by its abbreviation.
pub(super) fn scalar(argument: &str) -> Option<String> {
    const MARKS: [&str; 7] = ["const", "volatile", "struct", "typename", "class", "__restrict__", "restrict"];
    if argument.len() > LONGEST_TYPE {
        return None;
    }
    let spaced = argument.replace(['*', '&'], " ");
    let words: Vec<&str> = spaced.split_whitespace().filter(|word| !MARKS.contains(word)).collect();
    let text = words.join(" ");
    let types = &facts().types;
    let known = |text: &str| types.get(text).or_else(|| types.get(text.rsplit("::").next()?));
    if let Some(short) = known(&text) {
        return Some(short.clone());
    }
    let (class, inner) = text.strip_suffix('>')?.split_once('<')?;
    match class.rsplit("::").next()? {
        "complex" => Some(format!("complex<{}>", known(inner)?)),
        // PyTorch copies elements by their size alone.
        "OpaqueType" => Some(format!("{}B", number(inner)?)),
        _ => None,
    }
}

/// A whole number without its suffix.
pub(super) fn number(argument: &str) -> Option<&str> {
    let digits = argument.trim_end_matches(['u', 'l', 'U', 'L']);
    let is_number = digits.trim_start_matches('-').chars().all(|digit| digit.is_ascii_digit());
    (is_number && !digits.trim_start_matches('-').is_empty()).then_some(digits)
}

/// The last word of a type's path, and the value behind it, in `(ns::Kind)3`.
pub(super) fn cast(argument: &str) -> Option<(&str, &str)> {
    let (class, value) = argument.strip_prefix('(')?.rsplit_once(')')?;
    Some((class.rsplit("::").next()?, number(value)?))
}

/// Whether a name is one of the words, or ends in one of them.
pub(super) fn ends_in(name: &str, words: &[String]) -> bool {
    words.iter().any(|word| name.ends_with(word.as_str()))
}

/// Whether an argument says how, not what: a policy, a configuration, a container.
pub(super) fn is_ignored(path: &[Segment<'_>], part: &Segment<'_>) -> bool {
    let ignored = &facts().words.ignored;
    ends_in(part.text, ignored) || path.last().is_some_and(|last| ends_in(last.text, ignored))
}

/// Adds what is worth showing of an argument: types, numbers, names of classes and functions.
pub(super) fn show(argument: &str, depth: usize, shown: &mut Vec<String>) {
    let words = &facts().words;
    // Types and names are shown once, sizes each time.
    let mut add = |text: String| {
        if number(&text).is_some() || !shown.contains(&text) {
            shown.push(text);
        }
    };
    if matches!(argument, "true" | "false" | "void" | "nullptr") || argument.starts_with("decltype") || depth == 0 {
        return;
    }
    if let Some((class, value)) = cast(argument) {
        if !ends_in(class, &words.ignored) {
            add(format!("{class}={value}"));
        }
        return;
    }
    if let Some(text) = scalar(argument).or_else(|| number(argument).map(str::to_owned)) {
        return add(text);
    }
    let path = segments(argument);
    let Some(part) = named(&path) else { return };
    let is_ignored = is_ignored(&path, part);
    let is_in = |namespace: &str| path.len() > 1 && path.first().is_some_and(|first| first.text == namespace);
    let is_neutral = words.neutral.iter().any(|namespace| is_in(namespace));
    if is_neutral || !is_ignored && ends_in(part.text, &words.opened) {
        return part.arguments().into_iter().for_each(|inner| show(inner, depth - 1, shown));
    }
    // Functors of the standard library are operations, its other classes are machinery.
    let is_machinery = is_in("std") && part.arguments().first().is_none_or(|first| scalar(first).is_none());
    if !is_ignored && !is_machinery && part.text.starts_with(|first: char| first.is_alphabetic() || first == '_') {
        add(part.text.to_owned());
    }
}
