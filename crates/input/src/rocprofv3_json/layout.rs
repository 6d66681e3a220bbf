//! Where the integers of a section's records stand: one table for each kind of record, which the parser and templates follow.

use serde::de::DeserializeOwned;

use super::parsing::row::{Row, Values};
use super::structure::gathered::Keep;

/// Most fields of a layout.
pub(crate) const MAX_FIELDS: usize = 32;

/// An integer of a record, and which canonical columns need it.
#[derive(Debug)]
pub struct Field {
    /// Name of the column in [`Integers`](super::integers::Integers).
    pub name: &'static str,
    /// Canonical columns made from it; none if it is always needed.
    pub for_columns: &'static [&'static str],
    /// Where it may stand, in order of preference: keys joined by `.`, of which all but the last hold objects or null.
    /// A `?` instead of the last dot stands behind a member that counts as empty when it is not an object; a `!` at the
    /// end means the number that stands in place of such an object, `[]` the number of elements.
    pub paths: &'static [&'static str],
    /// Whether 0 stands for none.
    pub zero_is_none: bool,
}

impl Field {
    /// A field that stands at the first of `paths` that has a value.
    pub const fn new(name: &'static str, for_columns: &'static [&'static str], paths: &'static [&'static str]) -> Self {
        Self { name, for_columns, paths, zero_is_none: false }
    }

    /// The same field with 0 standing for none.
    pub(crate) const fn nonzero(self) -> Self {
        Self { zero_is_none: true, ..self }
    }
}

/// A field, and the position of a path among its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub field: usize,
    pub rank: u8,
}

/// What stands in a member of an object.
#[derive(Debug)]
pub(crate) enum Place {
    Integer(Vec<Target>),
    /// Arguments, of which the number is a field.
    Count(Vec<Target>),
    Object(Members),
}

/// Members of an object that are looked at.
#[derive(Debug, Default)]
pub(crate) struct Members {
    pub members: Vec<(&'static str, Place)>,
    /// Whether anything else in its place is an empty object.
    pub is_loose: bool,
    /// Fields that a number in its place has.
    pub bare: Vec<Target>,
}

impl Members {
    /// The position of a member.
    pub fn position(&self, key: &str) -> Option<usize> {
        self.members.iter().position(|(known, _)| *known == key)
    }

    /// The member of a key.
    pub fn get(&self, key: &str) -> Option<&Place> {
        self.members.get(self.position(key)?).map(|(_, place)| place)
    }

    fn member(&mut self, key: &'static str, new: impl FnOnce() -> Place) -> Option<&mut Place> {
        let at = self.position(key).unwrap_or_else(|| {
            self.members.push((key, new()));
            self.members.len() - 1
        });
        self.members.get_mut(at).map(|(_, place)| place)
    }

    fn object(&mut self, key: &'static str) -> Option<&mut Self> {
        match self.member(key, || Place::Object(Self::default()))? {
            Place::Object(members) => Some(members),
            Place::Integer(_) | Place::Count(_) => None,
        }
    }

    /// Lets a path lead to a field; one at which another path ends leads nowhere.
    fn add(&mut self, path: &'static str, target: Target) -> Option<()> {
        if let Some((key, rest)) = path.split_once(['.', '?']) {
            let inner = self.object(key)?;
            inner.is_loose |= path.as_bytes().get(key.len()) == Some(&b'?');
            return inner.add(rest, target);
        }
        if let Some(key) = path.strip_suffix('!') {
            self.object(key)?.bare.push(target);
            return Some(());
        }
        let place = match path.strip_suffix("[]") {
            Some(key) => self.member(key, || Place::Count(Vec::new()))?,
            None => self.member(path, || Place::Integer(Vec::new()))?,
        };
        if let Place::Integer(targets) | Place::Count(targets) = place {
            targets.push(target);
        }
        Some(())
    }
}

/// The fields of records, and the way to them.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Fields; those that decide whether a record is kept are named `start` and `end`.
    pub fields: &'static [Field],
    pub members: Members,
}

impl Layout {
    pub fn new(fields: &'static [Field]) -> Self {
        let mut layout = Self { fields, members: Members::default() };
        layout.add(None, |_| true);
        layout
    }

    /// The same fields where the record is the member `inner` of another, which has some fields itself, named by their paths.
    pub fn within(fields: &'static [Field], inner: &'static str, outer: &[&str]) -> Self {
        let mut layout = Self { fields, members: Members::default() };
        layout.add(None, |path| outer.contains(&path));
        layout.add(Some(inner), |_| true);
        layout
    }

    fn add(&mut self, within: Option<&'static str>, stands_there: impl Fn(&str) -> bool) {
        for (field, paths) in self.fields.iter().map(|field| field.paths).enumerate() {
            let ranked = (u8::from(within.is_some())..).zip(paths.iter().copied());
            for (rank, path) in ranked.filter(|(_, path)| stands_there(path)) {
                let members = match within {
                    Some(inner) => self.members.object(inner),
                    None => Some(&mut self.members),
                };
                if let Some(members) = members {
                    members.add(path, Target { field, rank });
                }
            }
        }
    }

    /// The position of a field.
    pub fn position(&self, field: &str) -> Option<usize> {
        self.fields.iter().position(|known| known.name == field)
    }
}

/// A kind of records.
pub(crate) trait Records: 'static {
    /// Where their fields stand.
    fn layout() -> &'static Layout;
}

/// Reads the record at the start of a text; gives its length too.
type First = fn(&[u8]) -> Option<(Values, usize)>;

/// The fields that are wanted of some records.
#[derive(Clone)]
pub(crate) struct Selected {
    pub layout: &'static Layout,
    /// Positions of the wanted fields, in order.
    pub fields: Vec<usize>,
    /// Which records are kept.
    pub keep: Keep,
    /// Places of start and end among the wanted fields, if they decide.
    times: Option<(usize, usize)>,
    first: First,
}

impl Selected {
    /// The fields that columns for which `wants` holds are made from, and those that `keep` needs.
    pub fn new<R: Records>(keep: Keep, wants: impl Fn(&[&str]) -> bool) -> Self {
        let layout = R::layout();
        let is_time = |field: &Field| keep != Keep::Every && matches!(field.name, "start" | "end");
        let is_wanted = |field: &Field| field.for_columns.is_empty() || is_time(field) || wants(field.for_columns);
        let wanted = layout.fields.iter().enumerate().filter(|(_, field)| is_wanted(field));
        let mut fields: Vec<usize> = wanted.map(|(at, _)| at).collect();
        if fields.is_empty() && !layout.fields.is_empty() {
            // One column is enough to count the rows.
            fields.push(0);
        }
        let place = |name: &str| fields.iter().position(|field| Some(*field) == layout.position(name));
        let times = place("start").zip(place("end")).filter(|_| keep != Keep::Every);
        Self { layout, keep, times, fields, first: first::<R> }
    }

    /// Names of the fields.
    pub fn names(&self) -> Vec<&'static str> {
        self.fields.iter().filter_map(|at| Some(self.layout.fields.get(*at)?.name)).collect()
    }

    /// Takes the wanted values out of those of all fields.
    pub fn pick(&self, all: &Values, values: &mut [Option<i64>]) {
        for (value, field) in values.iter_mut().zip(&self.fields) {
            *value = all.get(*field).copied().flatten();
        }
    }

    /// Reads one record at the start of a text by the general parser: fills in the wanted values and gives its length;
    /// `None` if it is not understood, or not plain UTF-8.
    pub fn general(&self, bytes: &[u8], values: &mut [Option<i64>]) -> Option<usize> {
        let (all, length) = (self.first)(bytes)?;
        std::str::from_utf8(bytes.get(..length)?).ok()?;
        self.pick(&all, values);
        Some(length)
    }

    /// Whether a record with these values is kept. One without times has a length.
    #[inline]
    pub fn keeps(&self, values: &[Option<i64>]) -> bool {
        let Some((start, end)) = self.times else { return true };
        let time = |place: usize| values.get(place).copied().flatten();
        self.keep.accepts(time(start), time(end))
    }

    /// The same without the general parser.
    #[cfg(test)]
    pub fn by_templates_alone(&self) -> Self {
        Self { first: |_| None, ..self.clone() }
    }
}

fn first<R: Records>(bytes: &[u8]) -> Option<(Values, usize)> {
    let (row, length) = first_of::<Row<R>>(bytes)?;
    Some((row.values, length))
}

/// The value at the start of a text, and its length.
fn first_of<T: DeserializeOwned>(bytes: &[u8]) -> Option<(T, usize)> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<T>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}
