//! Readable forms of C++ functions.

use crate::analysis::kernel_names::pieces::{Piece, arguments, group_length, pieces};
use crate::analysis::kernel_names::readable::arguments::{
    MAX_DEPTH, Segment, is_ignored, is_name, named, number, scalar, segments, show,
};
use crate::analysis::kernel_names::readable::facts::facts;
use crate::analysis::kernel_names::{is_mangled, mangled_base, qualified};

/// Arguments that are shown at most.
const MAX_ARGUMENTS: usize = 6;
/// Types of an operation that are shown at most.
const MAX_TYPES: usize = 3;
/// Bytes of a name in which types and tiles are looked for.
const MAX_SEARCHED: usize = 1 << 14;

/// Whether a name has signs between words outside of brackets that names of C++ lack, such as `gemm-kernel`: what follows would be lost.
fn has_sign(name: &str) -> bool {
    let is_word = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    let mut depth = 0_usize;
    let mut before = None;
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '-' | '+' | '/' | '=' | '|' | '%' if depth == 0 && is_word(before) && is_word(letters.peek().copied()) => {
                return true;
            }
            _ => {}
        }
        before = Some(letter);
    }
    false
}

/// The readable form of a C++ function; `None` for a name of another form.
pub(super) fn readable(name: &str, by_rule: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    if is_mangled(name) {
        return mangled_base(name).map(str::to_owned);
    }
    let name = with_braces(name);
    // Names with spaces between their words are sentences.
    if qualified(&name).is_none_or(|kept| kept.contains(&Piece::Space)) {
        return None;
    }
    // Several kernels in a row are not one function.
    if pieces(&name).contains(&Piece::Text(">")) {
        return None;
    }
    if has_sign(&name) {
        return None;
    }
    let path = segments(&name);
    let (last, before) = path.split_last()?;
    // Other names, such as `-2` or `=f("x")`, would lose all but a sign.
    let is_in_function = last.is_lambda() && before.iter().any(|outer| is_name(&outer));
    if !is_in_function && !last.text.starts_with(|first: char| first.is_alphabetic() || first == '_') {
        return None;
    }
    let facts = facts();
    if last.is_cut() {
        return Some(format!("{}<…>", last.text));
    }
    if let Some(prefix) = facts.functor_kernels.get(last.text)
        && let Some(shown) = functor_kernel(prefix, last)
    {
        return Some(shown);
    }
    if let Some(prefix) = facts.launchers.get(last.text)
        && let Some(shown) = launched(prefix, last, by_rule)
    {
        return Some(shown);
    }
    let is_vague = facts.words.vague.iter().any(|word| word == last.text);
    let outer = before.iter().rfind(|outer| is_name(outer));
    let own = match outer {
        Some(outer) if path.iter().any(Segment::is_lambda) && !is_name(&last) => format!("{} lambda", outer.text),
        Some(outer) if is_vague => format!("{}::{}", outer.text, last.text),
        _ => last.text.to_owned(),
    };
    if last.template.is_none() {
        return Some(by_rule(&own).unwrap_or(own)).filter(|own| *own != name);
    }
    let is_deep = before.first().is_some_and(|first| facts.words.deep.iter().any(|word| word == first.text));
    Some(if is_deep { with_tile(&own, last) } else { with_arguments(&own, &last.arguments()) })
}

/// The name with `{lambda(int)#2}` in place of `'lambda0'(int)`, which other demanglers write.
fn with_braces(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, behind)) = rest.split_once("'lambda") {
        text.push_str(before);
        let digits = behind.len() - behind.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
        let (number, behind) = behind.split_at_checked(digits).unwrap_or(("", behind));
        let Some(behind) = behind.strip_prefix('\'') else {
            text.push_str("'lambda");
            text.push_str(number);
            rest = behind;
            continue;
        };
        let length = if behind.starts_with('(') { group_length(behind) } else { 0 };
        let (parameters, behind) = behind.split_at_checked(length).unwrap_or(("", behind));
        let number = number.parse::<u64>().map_or(1, |number| number.saturating_add(2));
        text.push_str(&format!("{{lambda{parameters}#{number}}}"));
        rest = behind;
    }
    text.push_str(rest);
    text
}

/// An operation that a functor stands for.
#[derive(Default)]
struct Operation {
    name: Option<String>,
    types: Vec<String>,
    /// The function that passes the operation on, in its place if there is none.
    wrapper: Option<String>,
}

impl Operation {
    fn add(&mut self, other: Self) {
        if self.types.is_empty() {
            self.types = other.types;
        }
        self.name = self.name.take().or(other.name);
        self.wrapper = other.wrapper.or_else(|| self.wrapper.take());
    }
}

/// The kernel that applies a functor: `vectorized_add<bf16>`.
fn functor_kernel(prefix: &str, kernel: &Segment<'_>) -> Option<String> {
    let mut whole = Operation::default();
    for argument in kernel.arguments() {
        whole.add(operation(argument, MAX_DEPTH));
    }
    let name = whole.name.or(whole.wrapper)?;
    let says_it = name.starts_with(prefix.trim_end_matches('_'));
    let text = if says_it { name } else { format!("{prefix}{name}") };
    whole.types.truncate(MAX_TYPES);
    Some(with_list(text, &whole.types))
}

/// The operation of an argument, if it is one.
fn operation(argument: &str, depth: usize) -> Operation {
    let words = &facts().words;
    if depth == 0 || scalar(argument).is_some() || number(argument).is_some() {
        return Operation::default();
    }
    let path = segments(argument);
    let Some(part) = named(&path) else { return Operation::default() };
    if is_ignored(&path, part) || matches!(part.text, "true" | "false") {
        return Operation::default();
    }
    let of_lambda = || {
        let lambda = path.iter().rfind(|segment| segment.is_lambda())?;
        let inside = lambda.text.strip_prefix("{lambda")?;
        let parameters = inside.get(..group_length(inside))?;
        Some(distinct(arguments(parameters).into_iter().filter_map(scalar)))
    };
    let mut own = distinct(part.arguments().into_iter().filter_map(scalar));
    if words.wrappers.iter().any(|word| word == part.text) {
        // Next to the type of elements, this is the type of an index.
        own.retain(|short| short != "uint");
        let mut whole = Operation { types: own, wrapper: Some(snake(stripped(part.text))), name: None };
        for argument in path.iter().flat_map(Segment::arguments) {
            whole.add(operation(argument, depth - 1));
        }
        return whole;
    }
    if own.is_empty() {
        own = of_lambda().unwrap_or_default();
    }
    if own.is_empty() {
        part.arguments().into_iter().for_each(|argument| show(argument, depth - 1, &mut own));
    }
    Operation { name: Some(snake(stripped(part.text))), types: own, wrapper: None }
}

fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for text in texts {
        if !kept.contains(&text) {
            kept.push(text);
        }
    }
    kept
}

/// The name of an operation without what only says that it is one.
fn stripped(name: &str) -> &str {
    let words = &facts().words;
    let shorter = words.op_prefixes.iter().find_map(|prefix| name.strip_prefix(prefix.as_str()));
    let shorter = shorter.filter(|rest| !rest.is_empty()).unwrap_or(name);
    let ending = words.op_suffixes.iter().find_map(|suffix| shorter.strip_suffix(suffix.as_str()));
    ending.filter(|rest| !rest.is_empty()).unwrap_or(shorter).trim_matches('_')
}

/// `CompareEq` as `compare_eq`.
fn snake(name: &str) -> String {
    let mut text = String::new();
    let mut previous = '_';
    for character in name.chars() {
        if character.is_ascii_uppercase() && (previous.is_ascii_lowercase() || previous.is_ascii_digit()) {
            text.push('_');
        }
        text.push(character.to_ascii_lowercase());
        previous = character;
    }
    text
}

/// The kernel that a launcher runs: `ck_tile FmhaFwdKernel<fp16> 128x64x32`, `rocprim reduce<int>`.
fn launched(prefix: &str, launcher: &Segment<'_>, by_rule: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let words = &facts().words;
    let all = launcher.arguments();
    let paths = all.iter().filter(|argument| scalar(argument).is_none() && number(argument).is_none());
    let is_run = |part: &Segment<'_>| {
        let starts = part.text.starts_with(|first: char| first.is_alphabetic() || first == '_');
        starts && !matches!(part.text, "true" | "false")
    };
    let part = paths.into_iter().find_map(|argument| {
        let path = segments(argument);
        named(&path).copied().filter(|part| is_run(part) && !is_ignored(&path, part))
    })?;
    if let Some(text) = by_rule(part.text) {
        return Some(text);
    }
    let own = part.text.strip_suffix("_impl").unwrap_or(part.text);
    let library = prefix.trim_end();
    let text = if own.starts_with(library) { own.to_owned() } else { format!("{prefix}{own}") };
    let is_deep = words.deep.iter().any(|word| word == library);
    Some(if is_deep { with_tile(&text, &part) } else { with_arguments(&text, &part.arguments()) })
}

/// A name with the types of elements and the tile that are anywhere in its arguments.
fn with_tile(name: &str, part: &Segment<'_>) -> String {
    let facts = facts();
    let whole = part.template.unwrap_or_default();
    let mut end = whole.len().min(MAX_SEARCHED);
    while !whole.is_char_boundary(end) {
        end -= 1;
    }
    let searched = whole.get(..end).unwrap_or_default();
    let is_separator = |character: char| !(character.is_alphanumeric() || matches!(character, '_' | ':' | ' '));
    let types = searched.split(is_separator).filter_map(|word| scalar(word.trim()));
    let mut types = distinct(types.filter(|short| facts.words.element_types.contains(short)));
    types.truncate(MAX_TYPES);
    let text = with_list(name.to_owned(), &types);
    let found = facts.tiles.iter().find_map(|pattern| pattern.captures(searched));
    let sizes = found.iter().flat_map(|found| found.iter().skip(1).flatten()).map(|size| size.as_str());
    let tile = sizes.collect::<Vec<&str>>().join("x");
    if tile.is_empty() { text } else { format!("{text} {tile}") }
}

/// A name with those of its arguments that say something.
fn with_arguments(name: &str, all: &[&str]) -> String {
    let mut shown = Vec::new();
    for argument in all {
        show(argument, MAX_DEPTH, &mut shown);
    }
    // Numbers go before names, the last first.
    while shown.len() > MAX_ARGUMENTS {
        let last_number = shown.iter().rposition(|text| number(text).is_some());
        shown.remove(last_number.unwrap_or(shown.len() - 1));
    }
    with_list(name.to_owned(), &shown)
}

fn with_list(name: String, list: &[String]) -> String {
    if list.is_empty() { name } else { format!("{name}<{}>", list.join(", ")) }
}
