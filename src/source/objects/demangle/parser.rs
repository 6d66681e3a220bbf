//! The state of reading a mangled name, and its smallest parts.

/// Types and names are nested so deep at most.
const DEEPEST: usize = 64;
/// So many bytes of text are made for one name at most: substitutions could make it grow without bounds.
const MAX_TEXT: usize = 1 << 16;

/// What stands around the declarator of a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Wrap {
    #[default]
    None,
    Function,
    Array,
}

/// A type: what stands before and after the name of a variable of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Type {
    pub left: String,
    pub right: String,
    pub wrap: Wrap,
    /// The types that it stands for, if they are several.
    pub pack: Option<Vec<Type>>,
}

impl Type {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { left: text.into(), ..Self::default() }
    }

    pub(super) fn text(&self) -> String {
        match &self.pack {
            Some(types) => joined(types),
            None => [self.left.as_str(), &self.right].concat(),
        }
    }
}

/// Types with commas between; packs add as many as they hold, maybe none.
pub(super) fn joined(types: &[Type]) -> String {
    let mut all: Vec<String> = types.iter().map(Type::text).collect();
    all.retain(|text| !text.is_empty());
    all.join(", ")
}

/// Reads a name from its start to its end.
pub(super) struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    made: usize,
    /// What `S_` and its like refer to.
    pub seen: Vec<Type>,
    /// What `T_` and its like refer to.
    pub arguments: Vec<Type>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, depth: 0, made: 0, seen: Vec::new(), arguments: Vec::new() }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn bump(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Goes past a text if it stands here.
    pub(super) fn eat(&mut self, text: &[u8]) -> bool {
        let is_here = self.rest().starts_with(text);
        if is_here {
            self.at += text.len();
        }
        is_here
    }

    /// Digits; none if there are none.
    pub(super) fn number(&mut self) -> Option<usize> {
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = std::str::from_utf8(self.rest().get(..digits)?).ok()?;
        let number = text.parse().ok()?;
        self.at += digits;
        Some(number)
    }

    /// The number of a reference: `_` is the first, `0_` the second.
    pub(super) fn index(&mut self, radix: u32) -> Option<usize> {
        if self.eat(b"_") {
            return Some(0);
        }
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()).count();
        let text = std::str::from_utf8(self.rest().get(..digits)?).ok()?;
        let number = usize::from_str_radix(text, radix).ok()?;
        self.at += digits;
        self.eat(b"_").then(|| number.checked_add(1)).flatten()
    }

    /// As many bytes as a number before them tells.
    pub(super) fn counted(&mut self) -> Option<&'a str> {
        let length = self.number().filter(|length| *length > 0)?;
        let text = self.rest().get(..length)?;
        self.at += length;
        std::str::from_utf8(text).ok()
    }

    /// Remembers a type or prefix for later references.
    pub(super) fn remember(&mut self, kind: &Type) -> Option<()> {
        self.spend(kind.left.len() + kind.right.len())?;
        self.seen.push(kind.clone());
        Some(())
    }

    /// Counts text that was made.
    pub(super) fn spend(&mut self, bytes: usize) -> Option<()> {
        self.made = self.made.saturating_add(bytes);
        (self.made <= MAX_TEXT).then_some(())
    }

    /// Reads a part that may contain others of its kind.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.depth += 1;
        let found = if self.depth <= DEEPEST { read(self) } else { None };
        self.depth -= 1;
        found
    }
}
