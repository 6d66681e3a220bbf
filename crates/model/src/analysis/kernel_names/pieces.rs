//! Cuts a displayed C++ name into pieces at its outermost level, without recursion and tolerant of cut-off names.

/// A part of a name that no bracket encloses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// An identifier, an operator, a lambda or another unnamed thing, as written.
    Text(&'a str),
    /// Template arguments with their brackets.
    Template(&'a str),
    /// A parameter list with its brackets.
    Parameters(&'a str),
    /// `[clone …]`, `[abi:…]`, `[with …]`.
    Attribute,
    /// `::`
    Scope,
    /// One or more spaces.
    Space,
    /// `,` outside of all brackets.
    Comma,
}

/// Things in round brackets that are names rather than parameters.
const UNNAMED: [&str; 3] = ["(anonymous namespace)", "(anonymous class)", "(unnamed class)"];

/// Operators that contain brackets, longest first. Other operators contain nothing that could be mistaken.
const OPERATORS: [&str; 15] =
    ["->*", "<=>", "<<=", ">>=", "()", "[]", "->", "<<", ">>", "<=", ">=", "<", ">", ",", "\"\""];

/// The pieces of the name in order. Brackets that are never closed reach to the end of the name.
pub(super) fn pieces(name: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = name;
    let mut after_word = false;
    while let Some(first) = rest.chars().next() {
        let (piece, length) = next_piece(rest, first, found.last(), after_word);
        let (taken, remaining) = rest.split_at_checked(length.max(first.len_utf8())).unwrap_or((rest, ""));
        after_word = taken.ends_with(is_word);
        found.push(match piece {
            Some(Piece::Template(_)) => Piece::Template(taken),
            Some(Piece::Parameters(_)) => Piece::Parameters(taken),
            other => other.unwrap_or(Piece::Text(taken)),
        });
        rest = remaining;
    }
    found
}

/// The arguments in a bracketed group or without brackets: the parts between commas that no bracket encloses.
pub(super) fn arguments(group: &str) -> Vec<&str> {
    let inner = match group.chars().next() {
        Some('<') => group.strip_prefix('<').map(|inner| inner.strip_suffix('>').unwrap_or(inner)),
        Some('(') => group.strip_prefix('(').map(|inner| inner.strip_suffix(')').unwrap_or(inner)),
        _ => None,
    };
    let mut rest = inner.unwrap_or(group);
    let mut found = Vec::new();
    let (mut start, mut at) = (rest, 0);
    let (mut last, mut after_word) = (None, false);
    while let Some(first) = rest.chars().next() {
        let (piece, length) = next_piece(rest, first, last.as_ref(), after_word);
        let (taken, remaining) = rest.split_at_checked(length.max(first.len_utf8())).unwrap_or((rest, ""));
        after_word = taken.ends_with(is_word);
        rest = remaining;
        if piece == Some(Piece::Comma) {
            found.push(start.get(..at).unwrap_or_default().trim());
            (start, at) = (rest, 0);
        } else {
            at += taken.len();
        }
        last = Some(piece.unwrap_or(Piece::Text("")));
    }
    found.push(start.trim());
    found.retain(|argument| !argument.is_empty());
    found
}

/// The piece `rest` starts with (`None` for text) and its length in bytes.
fn next_piece(rest: &str, first: char, last: Option<&Piece<'_>>, after_word: bool) -> (Option<Piece<'static>>, usize) {
    if let Some(unnamed) = UNNAMED.iter().find(|unnamed| rest.starts_with(**unnamed)) {
        return (None, unnamed.len());
    }
    if let Some(length) = operator_length(rest, after_word) {
        return (None, length);
    }
    let after_name = matches!(last, Some(Piece::Text(_) | Piece::Template(_) | Piece::Attribute));
    match first {
        '<' if matches!(last, Some(Piece::Text(_) | Piece::Attribute)) => {
            (Some(Piece::Template("")), group_length(rest))
        }
        '(' if after_name => (Some(Piece::Parameters("")), group_length(rest)),
        '<' if last == Some(&Piece::Space) => (None, 1),
        '[' if is_attribute(rest) => (Some(Piece::Attribute), group_length(rest)),
        '<' | '(' | '{' | '[' => (None, group_length(rest)),
        ':' if rest.starts_with("::") => (Some(Piece::Scope), 2),
        ' ' => (Some(Piece::Space), rest.len() - rest.trim_start_matches(' ').len()),
        ',' => (Some(Piece::Comma), 1),
        _ => (None, text_length(rest)),
    }
}

fn is_attribute(rest: &str) -> bool {
    ["[clone ", "[abi:", "[with "].iter().any(|start| rest.starts_with(start))
}

pub(super) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}

/// Text ends before anything that `next_piece` treats specially, and before a word, which may be an operator.
/// A text that starts with a dot is a suffix like `.intern.b96e` and stays in one piece.
fn text_length(rest: &str) -> usize {
    let begins_word = rest.starts_with(is_word);
    let is_suffix = rest.starts_with('.');
    rest.char_indices()
        .skip(1)
        .find(|(at, character)| {
            matches!(character, '<' | '(' | '{' | '[' | ' ' | ',')
                || (is_word(*character) != begins_word && !is_suffix)
                || rest.get(*at..).is_some_and(|tail| tail.starts_with("::"))
        })
        .map_or(rest.len(), |(at, _)| at)
}

/// Length of an operator's name at the start of `rest`, `None` if there is none.
///
/// The space in `operator< <int>` belongs to the name: without it, the template would read as a shift. In
/// `operator bool` and `operator new`, the name goes on to the parameters.
fn operator_length(rest: &str, after_word: bool) -> Option<usize> {
    const KEYWORD: &str = "operator";
    let tail = rest.strip_prefix(KEYWORD).filter(|_| !after_word)?;
    if let Some(symbol) = OPERATORS.iter().find(|symbol| tail.starts_with(**symbol)) {
        let length = KEYWORD.len() + symbol.len();
        let space = rest.get(length..).is_some_and(|behind| behind.starts_with(" <"));
        return Some(length + usize::from(space));
    }
    if tail.starts_with(' ') {
        let name = tail.find(['(', '<', ',', ':', ')', '>', '}', '{']).unwrap_or(tail.len());
        return Some(KEYWORD.len() + name);
    }
    None
}

/// Length of the bracketed group at the start of `rest`, to its end if the bracket is never closed.
///
/// A `>` closes only a `<` opened in the same brackets, since otherwise it compares. Other closing brackets also
/// close any `<` opened inside, which then compared as well; without their partner they mean nothing.
pub(super) fn group_length(rest: &str) -> usize {
    let mut levels = Levels::default();
    let mut at = 0;
    let mut previous = ' ';
    while let Some(tail) = rest.get(at..) {
        let Some(character) = tail.chars().next() else {
            break;
        };
        if let Some(length) = operator_length(tail, is_word(previous)) {
            at += length;
            previous = '>';
            continue;
        }
        match character {
            '(' => levels.open(')'),
            '{' => levels.open('}'),
            '[' => levels.open(']'),
            ')' | '}' | ']' => levels.close(character),
            '<' if at == 0 || !matches!(previous, ' ' | ')') => levels.open_angle(),
            '>' if previous != '-' => levels.close_angle(),
            _ => {}
        }
        at += character.len_utf8();
        previous = character;
        if levels.are_closed() {
            return at;
        }
    }
    rest.len()
}

/// Brackets that are open; a count per level, so that hostile names cost no more than long ones.
#[derive(Default)]
struct Levels {
    /// `<` open outside of other brackets.
    outer_angles: usize,
    /// For each other bracket, what closes it and the number of `<` open directly in it.
    brackets: Vec<(char, usize)>,
}

impl Levels {
    fn angles(&mut self) -> &mut usize {
        self.brackets.last_mut().map_or(&mut self.outer_angles, |(_, angles)| angles)
    }

    fn open(&mut self, closing: char) {
        self.brackets.push((closing, 0));
    }

    fn close(&mut self, closing: char) {
        self.brackets.pop_if(|(expected, _)| *expected == closing);
    }

    fn open_angle(&mut self) {
        *self.angles() += 1;
    }

    fn close_angle(&mut self) {
        let angles = self.angles();
        *angles = angles.saturating_sub(1);
    }

    fn are_closed(&self) -> bool {
        self.brackets.is_empty() && self.outer_angles == 0
    }
}
