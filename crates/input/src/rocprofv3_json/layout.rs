//! The positions of integers in the records of a section: one table for each kind of record, for the parser and for templates.

use serde::de::DeserializeOwned;

use super::parsing::row::{Row, Values};
use super::structure::gathered::Keep;

/// Maximum number of fields of a layout.
pub(crate) const MAX_FIELDS: usize = 32;

/// An integer of a record, and the canonical columns that need it.
#[derive(Debug)]
pub struct Field {
    /// Name of the column in [`Integers`](super::integers::Integers).
    pub name: &'static str,
    /// Canonical columns built from it; empty if it is always needed.
    pub for_columns: &'static [&'static str],
    /// Its possible paths, in order of preference: keys joined by `.`. All keys but the last hold objects or null. A `?` in place of the
    /// last dot follows a member that counts as empty if it is not an object. A `!` at the end means the number in place of such an object,
    /// `[]` the number of elements.
    pub paths: &'static [&'static str],
    /// Whether 0 means a missing value.
    pub zero_is_none: bool,
}

impl Field {
    /// A field at the first of `paths` that has a value.
    pub const fn new(name: &'static str, for_columns: &'static [&'static str], paths: &'static [&'static str]) -> Self {
        Self { name, for_columns, paths, zero_is_none: false }
    }

    /// The same field, with 0 as a missing value.
    pub(crate) const fn nonzero(self) -> Self {
        Self { zero_is_none: true, ..self }
    }
}

/// A field, and the position of a path among its paths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub field: usize,
    pub rank: u8,
}

/// The content of a member of an object.
#[derive(Debug)]
pub(crate) enum Place {
    Integer(Vec<Target>),
    /// Arguments; their number is a field.
    Count(Vec<Target>),
    Object(Members),
}

/// Members of an object that are read.
#[derive(Debug, Default)]
pub(crate) struct Members {
    pub members: Vec<(&'static str, Place)>,
    /// Whether other values in its place count as an empty object.
    pub is_loose: bool,
    /// Fields that get a number in its place.
    pub bare: Vec<Target>,
}

impl Members {
    /// The position of a member.
    pub fn position(&self, key: &str) -> Option<usize> {
        self.members.iter().position(|(known, _)| *known == key)
    }

    /// The member with a key.
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

    /// Adds a path to a field. A path through a member at which another path ends is ignored.
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

/// The fields of records, and their members.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Fields. The fields `start` and `end` decide whether a record is kept.
    pub fields: &'static [Field],
    pub members: Members,
}

impl Layout {
    pub fn new(fields: &'static [Field]) -> Self {
        let mut layout = Self { fields, members: Members::default() };
        layout.add(None, |_| true);
        layout
    }

    /// The same fields for a record that is the member `inner` of another record. The paths `outer` are fields of the other record itself.
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
    /// The layout of their fields.
    fn layout() -> &'static Layout;
}

/// Reads the record at the start of a text, and returns its values and its length.
type First = fn(&[u8]) -> Option<(Values, usize)>;

/// The requested fields of some records.
#[derive(Clone)]
pub(crate) struct Selected {
    pub layout: &'static Layout,
    /// Positions of the requested fields, in order.
    pub fields: Vec<usize>,
    /// The rule for the records that are kept.
    pub keep: Keep,
    /// Positions of start and end among the requested fields, if they decide which records are kept.
    times: Option<(usize, usize)>,
    first: First,
}

impl Selected {
    /// Selects the fields of columns for which `wants` is true, and the fields that `keep` needs.
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

    /// Copies the requested values from the values of all fields.
    pub fn pick(&self, all: &Values, values: &mut [Option<i64>]) {
        for (value, field) in values.iter_mut().zip(&self.fields) {
            *value = all.get(*field).copied().flatten();
        }
    }

    /// Reads one record at the start of a text with the general parser. Fills in the requested values and returns its length; `None` if it
    /// cannot be parsed, or is not UTF-8.
    pub fn general(&self, bytes: &[u8], values: &mut [Option<i64>]) -> Option<usize> {
        let (all, length) = (self.first)(bytes)?;
        std::str::from_utf8(bytes.get(..length)?).ok()?;
        self.pick(&all, values);
        Some(length)
    }

    /// Whether a record with these values is kept. A record without times counts as having a length.
    #[inline]
    pub fn keeps(&self, values: &[Option<i64>]) -> bool {
        let Some((start, end)) = self.times else { return true };
        let time = |place: usize| values.get(place).copied().flatten();
        self.keep.accepts(time(start), time(end))
    }

    /// The same selection without the general parser.
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
