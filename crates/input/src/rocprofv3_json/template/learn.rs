//! Learns a template of records from one record.

use super::numbers::skip_integer;
use super::skip::{blanks, skip_number, skip_text, skip_value};
use crate::rocprofv3_json::layout::{MAX_FIELDS, Members, Place, Selected, Target};

/// Maximum nesting of objects; the general parser reads deeper records.
const DEEPEST: usize = 16;
/// Maximum number of values of a record; longer records are not worth a template.
const MAX_LEAVES: usize = 256;

/// The treatment of the value after a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// An integer that is kept, and its index among the kept integers.
    Integer(usize),
    OtherInteger,
    /// A number with a fraction.
    Real,
    /// A text, from after its opening quote.
    Text,
    /// An array of any values.
    Array,
    /// An array whose elements are counted.
    Elements(usize),
    /// `true` or `false`.
    Truth,
    /// The end of the record.
    End,
}

/// The common shape of the records of a section: constant texts, and variable values between them.
#[derive(Debug, Default)]
pub(crate) struct LearnedShape {
    /// Each variable value with the text before it; the last step has the text after the last value.
    pub steps: Vec<(Vec<u8>, Value)>,
    /// For every requested field, its index among the kept integers; `None` if it is missing.
    pub sources: Vec<Option<usize>>,
}

/// The meaning of the members of the current object.
#[derive(Clone, Copy)]
enum Inside<'t> {
    Members(&'t Members),
    /// The first `handle` or `value` is the integer of the object.
    Handle(&'t Place),
    Unknown,
}

impl<'t> Inside<'t> {
    /// The expected content of a member. The handle of an object is taken once.
    fn take(&mut self, key: &str) -> Option<&'t Place> {
        match *self {
            Self::Members(members) => members.get(key),
            Self::Handle(place) if matches!(key, "handle" | "value") => {
                *self = Self::Unknown;
                Some(place)
            }
            Self::Handle(_) | Self::Unknown => None,
        }
    }
}

/// The value that was found at a path of a field.
#[derive(Clone, Copy)]
enum Leaf {
    /// An integer that is kept.
    Kept(usize),
    /// A value that only the general parser can judge.
    Unclear,
}

struct Learner<'a, 's> {
    bytes: &'a [u8],
    at: usize,
    literal_from: usize,
    depth: usize,
    selected: &'s Selected,
    steps: Vec<(Vec<u8>, Value)>,
    leaves: usize,
    /// Integers that are kept.
    kept: usize,
    /// For each field, the value at the best of its paths, and the rank of that path.
    found: [Option<(u8, Leaf)>; MAX_FIELDS],
}

/// Learns from the record at the start of a text, and returns its shape and its length. `None` for a record that is not an object, or has
/// values that only the general parser can judge.
pub fn learn(bytes: &[u8], selected: &Selected) -> Option<(LearnedShape, usize)> {
    let mut learner = Learner {
        bytes,
        at: 0,
        literal_from: 0,
        depth: 0,
        selected,
        steps: Vec::new(),
        leaves: 0,
        kept: 0,
        found: [None; MAX_FIELDS],
    };
    learner.object(Inside::Members(&selected.layout.members))?;
    learner.step(Value::End)?;
    let source = |field: &usize| match learner.found.get(*field)? {
        None => Some(None),
        Some((_, Leaf::Kept(place))) => Some(Some(*place)),
        Some((_, Leaf::Unclear)) => None,
    };
    let sources = selected.fields.iter().map(source).collect::<Option<_>>()?;
    Some((LearnedShape { steps: learner.steps, sources }, learner.at))
}

impl<'a, 's> Learner<'a, 's> {
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

    /// Ends the constant text before a value.
    fn step(&mut self, value: Value) -> Option<()> {
        self.steps.push((self.bytes.get(self.literal_from..self.at)?.to_vec(), value));
        Some(())
    }

    fn object(&mut self, mut inside: Inside<'s>) -> Option<()> {
        self.pass(b'{')?;
        self.pass_blanks()?;
        if self.pass(b'}').is_some() {
            return Some(());
        }
        self.depth += 1;
        let mut keys: Vec<&str> = Vec::new();
        loop {
            self.pass(b'"')?;
            let length = skip_text(self.rest()?)?.checked_sub(1)?;
            let key = std::str::from_utf8(self.rest()?.get(..length)?).ok()?;
            // The general parser handles keys that are escaped or repeated.
            if key.contains('\\') || keys.contains(&key) {
                return None;
            }
            keys.push(key);
            self.at += length + 1;
            self.pass_blanks()?;
            self.pass(b':')?;
            self.pass_blanks()?;
            self.value(inside.take(key))?;
            self.pass_blanks()?;
            if self.pass(b'}').is_some() {
                self.depth -= 1;
                return Some(());
            }
            self.pass(b',')?;
            self.pass_blanks()?;
        }
    }

    fn value(&mut self, place: Option<&'s Place>) -> Option<()> {
        self.leaves += 1;
        if self.leaves > MAX_LEAVES || self.depth > DEEPEST {
            return None;
        }
        let rest = self.rest()?;
        let (value, length) = match rest.first()? {
            b'{' => return self.inner_object(place),
            // A null is null in all records, so it is part of the constant text.
            b'n' => {
                self.at += skip_value(rest)?;
                return Some(());
            }
            b'[' => (self.array(place)?, skip_value(rest)?),
            b'"' => (self.not_integer(place, Value::Text)?, 1 + skip_text(rest.get(1..)?)?),
            b't' | b'f' => (self.not_integer(place, Value::Truth)?, skip_value(rest)?),
            _ => {
                let length = skip_number(rest)?;
                let is_integer = skip_integer(rest) == Some(length);
                (if is_integer { self.integer(place)? } else { self.real(place)? }, length)
            }
        };
        let behind = self.at + length;
        self.at += usize::from(value == Value::Text);
        self.step(value)?;
        (self.at, self.literal_from) = (behind, behind);
        Some(())
    }

    fn inner_object(&mut self, place: Option<&'s Place>) -> Option<()> {
        let inside = match place {
            Some(Place::Object(members)) => Inside::Members(members),
            Some(place @ Place::Integer(_)) => Inside::Handle(place),
            Some(Place::Count(targets)) => {
                self.put(targets, Leaf::Unclear);
                Inside::Unknown
            }
            None => Inside::Unknown,
        };
        self.object(inside)
    }

    fn array(&mut self, place: Option<&Place>) -> Option<Value> {
        match place {
            Some(Place::Count(targets)) => Some(self.keep(targets).map_or(Value::Array, Value::Elements)),
            place => self.not_integer(place, Value::Array),
        }
    }

    fn integer(&mut self, place: Option<&Place>) -> Option<Value> {
        let targets = match place {
            Some(Place::Integer(targets)) => targets,
            Some(Place::Object(members)) if members.is_loose => &members.bare,
            place => return self.not_integer(place, Value::OtherInteger),
        };
        Some(self.keep(targets).map_or(Value::OtherInteger, Value::Integer))
    }

    fn real(&mut self, place: Option<&Place>) -> Option<Value> {
        if let Some(Place::Object(members)) = place {
            // Other records may have an integer in its place.
            self.put(&members.bare, Leaf::Unclear);
        }
        self.not_integer(place, Value::Real)
    }

    /// A value that is not an integer, a counted array or an object. Only the general parser can find a field in it.
    fn not_integer(&mut self, place: Option<&Place>, value: Value) -> Option<Value> {
        match place {
            Some(Place::Integer(targets) | Place::Count(targets)) => self.put(targets, Leaf::Unclear),
            Some(Place::Object(members)) if !members.is_loose => return None,
            Some(Place::Object(_)) | None => {}
        }
        Some(value)
    }

    /// The index of an integer among the kept integers, if it is requested.
    fn keep(&mut self, targets: &[Target]) -> Option<usize> {
        if !targets.iter().any(|target| self.selected.fields.contains(&target.field)) {
            return None;
        }
        self.put(targets, Leaf::Kept(self.kept));
        self.kept += 1;
        Some(self.kept - 1)
    }

    fn put(&mut self, targets: &[Target], leaf: Leaf) {
        for target in targets {
            if let Some(found) = self.found.get_mut(target.field)
                && found.is_none_or(|(rank, _)| target.rank < rank)
            {
                *found = Some((target.rank, leaf));
            }
        }
    }
}
