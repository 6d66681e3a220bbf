//! A template of records, learnt from one of them.

use super::numbers::skip_integer;
use super::shape::{Shape, Wanted};
use super::skip::{blanks, skip_number, skip_text, skip_value};

/// Objects in objects beyond this are left to the general parser.
const DEEPEST: usize = 16;
/// Longer records are not worth a template.
const MAX_LEAVES: usize = 256;

/// The kind of value between two literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Integer,
    /// A number with a fraction.
    Real,
    /// A text, from behind its opening quote.
    Text,
    /// An array of anything.
    Array,
    /// `true` or `false`.
    Truth,
    /// `null`.
    Null,
    /// An object whose members have leaves of their own; nothing is read here.
    Object,
}

impl Kind {
    fn varies(self) -> bool {
        !matches!(self, Self::Null | Self::Object)
    }
}

/// A member of the record or of an object in it.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// Keys joined by dots.
    pub path: String,
    /// The kind of its value.
    pub kind: Kind,
}

/// The common shape of a section's records: texts that stay, and between them values that vary.
#[derive(Clone, Debug)]
pub(crate) struct LearnedShape {
    /// The text before every value that varies, and at last that behind the last of them.
    pub literals: Vec<Vec<u8>>,
    /// Members in the order of the text; those that vary belong to the literals in this order.
    pub leaves: Vec<Leaf>,
}

struct Learner<'a> {
    bytes: &'a [u8],
    at: usize,
    literal_from: usize,
    path: Vec<&'a str>,
    learnt: LearnedShape,
}

/// Learns from the record at the start of a text; gives its length too. `None` for a record that is not an object, or has
/// something that only the general parser judges.
pub fn learn(bytes: &[u8]) -> Option<(LearnedShape, usize)> {
    let learnt = LearnedShape { literals: Vec::new(), leaves: Vec::new() };
    let mut learner = Learner { bytes, at: 0, literal_from: 0, path: Vec::new(), learnt };
    learner.object()?;
    let length = learner.at;
    let last = bytes.get(learner.literal_from..length)?.to_vec();
    learner.learnt.literals.push(last);
    Some((learner.learnt, length))
}

impl<'a> Learner<'a> {
    fn rest(&self) -> Option<&'a [u8]> {
        self.bytes.get(self.at..)
    }

    fn pass_blanks(&mut self) -> Option<()> {
        self.at += blanks(self.rest()?);
        Some(())
    }

    fn pass(&mut self, byte: u8) -> Option<()> {
        (self.rest()?.first() == Some(&byte)).then(|| self.at += 1)
    }

    fn object(&mut self) -> Option<()> {
        self.pass(b'{')?;
        self.pass_blanks()?;
        if self.pass(b'}').is_some() {
            return Some(());
        }
        let mut keys: Vec<&str> = Vec::new();
        loop {
            self.pass(b'"')?;
            let length = skip_text(self.rest()?)?.checked_sub(1)?;
            let key = std::str::from_utf8(self.rest()?.get(..length)?).ok()?;
            // A key that is spelled in an unusual way, or twice, is for the general parser.
            if key.contains(['\\', '.', '?', '!']) || keys.contains(&key) {
                return None;
            }
            keys.push(key);
            self.at += length + 1;
            self.pass_blanks()?;
            self.pass(b':')?;
            self.pass_blanks()?;
            self.path.push(key);
            self.value()?;
            self.path.pop();
            self.pass_blanks()?;
            if self.pass(b'}').is_some() {
                return Some(());
            }
            self.pass(b',')?;
            self.pass_blanks()?;
        }
    }

    fn value(&mut self) -> Option<()> {
        let rest = self.rest()?;
        let kind = match rest.first()? {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b'"' => Kind::Text,
            b't' | b'f' => Kind::Truth,
            b'n' => Kind::Null,
            _ if skip_integer(rest) == Some(skip_number(rest)?) => Kind::Integer,
            _ => Kind::Real,
        };
        if self.learnt.leaves.len() >= MAX_LEAVES || self.path.len() > DEEPEST {
            return None;
        }
        self.learnt.leaves.push(Leaf { path: self.path.join("."), kind });
        if kind == Kind::Object {
            return self.object();
        }
        self.at += usize::from(kind == Kind::Text);
        if kind.varies() {
            self.learnt.literals.push(self.bytes.get(self.literal_from..self.at)?.to_vec());
        }
        self.at += match kind {
            Kind::Text => skip_text(self.rest()?)?,
            _ => skip_value(self.rest()?)?,
        };
        if kind.varies() {
            self.literal_from = self.at;
        }
        Some(())
    }
}

/// Where a wanted value stands.
enum Place {
    /// It is the leaf of this position.
    Leaf(usize),
    Missing,
    /// Only the general parser can decide.
    Unclear,
}

impl LearnedShape {
    fn find(&self, path: &str) -> Option<(usize, Kind)> {
        self.leaves.iter().position(|leaf| leaf.path == path).and_then(|at| Some((at, self.leaves.get(at)?.kind)))
    }

    /// For every wanted value the position of its leaf, `None` where it is missing; nothing if the records are to be left
    /// to the general parser.
    pub fn places(&self, shape: &Shape<'_>) -> Option<Vec<Option<usize>>> {
        let is_object = |path: &&str| self.find(path).is_none_or(|(_, kind)| matches!(kind, Kind::Object | Kind::Null));
        if !shape.objects.iter().all(is_object) {
            return None;
        }
        shape.wanted.iter().map(|wanted| self.first_of(wanted)).collect()
    }

    fn first_of(&self, wanted: &Wanted) -> Option<Option<usize>> {
        for path in wanted.paths {
            match if wanted.counts { self.array(path) } else { self.place(path) } {
                Place::Leaf(leaf) => return Some(Some(leaf)),
                Place::Missing => {}
                Place::Unclear => return None,
            }
        }
        Some(None)
    }

    fn place(&self, path: &str) -> Place {
        if let Some(path) = path.strip_suffix('!') {
            return match self.find(path) {
                Some((leaf, Kind::Integer)) => Place::Leaf(leaf),
                // A whole number may come in its place.
                Some((_, Kind::Real)) => Place::Unclear,
                _ => Place::Missing,
            };
        }
        if let Some((outer, inner)) = path.split_once('?') {
            return match self.find(outer) {
                Some((_, Kind::Object)) => self.integer(&format!("{outer}.{inner}")),
                _ => Place::Missing,
            };
        }
        let outer = path.match_indices('.').filter_map(|(dot, _)| self.find(path.get(..dot)?));
        for (_, kind) in outer {
            match kind {
                Kind::Object => {}
                Kind::Null => return Place::Missing,
                _ => return Place::Unclear,
            }
        }
        self.integer(path)
    }

    /// The member of the record itself whose elements are counted.
    fn array(&self, path: &str) -> Place {
        match self.find(path) {
            None | Some((_, Kind::Null)) => Place::Missing,
            Some((leaf, Kind::Array)) => Place::Leaf(leaf),
            Some(_) => Place::Unclear,
        }
    }

    /// The integer of a member, or of its member `handle` or `value`, whichever comes first.
    fn integer(&self, path: &str) -> Place {
        match self.find(path) {
            None | Some((_, Kind::Null)) => Place::Missing,
            Some((leaf, Kind::Integer)) => Place::Leaf(leaf),
            Some((_, Kind::Object)) => {
                let names = [format!("{path}.handle"), format!("{path}.value")];
                match self.leaves.iter().find(|leaf| names.contains(&leaf.path)) {
                    Some(leaf) => self.integer(&leaf.path),
                    None => Place::Missing,
                }
            }
            Some(_) => Place::Unclear,
        }
    }
}
