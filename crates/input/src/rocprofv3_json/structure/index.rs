//! Where things are in a file.

/// Everything that was found in a file.
#[derive(Debug, Default)]
pub(crate) struct FileIndex {
    /// The processes in file order.
    pub processes: Vec<ProcessIndex>,
    /// Whether the file ends inside a value.
    pub truncated: bool,
    /// The first place whose structure is wrong.
    pub flaw: Option<SyntaxFault>,
    /// Content behind the end of the document, and its offset.
    pub behind: Option<(TrailingData, u64)>,
    /// Bytes of the text.
    pub length: u64,
}

/// Content behind the end of a document; nothing of it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrailingData {
    /// Another document.
    Document,
    /// Bytes that are not part of one.
    Junk,
}

/// A place whose structure is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxFault {
    /// Offset.
    pub at: u64,
    /// The problem there.
    pub what: &'static str,
}

/// The sections of one process in file order.
#[derive(Debug, Default)]
pub(crate) struct ProcessIndex {
    /// Sections; names may repeat.
    pub sections: Vec<Section>,
}

impl ProcessIndex {
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Section> {
        self.sections.iter().filter(move |section| section.name == name)
    }

    /// Records in the sections of that name.
    pub fn rows(&self, name: &str) -> u64 {
        self.named(name).map(|section| section.rows).sum()
    }
}

/// An array or object that is read as a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Keys from the process down, joined by dots.
    pub name: String,
    /// Whether it is an array of records; other sections are objects.
    pub is_array: bool,
    /// First byte: of an object itself, of an array behind its bracket.
    pub start: u64,
    /// End of the object, or of the last whole record.
    pub end: u64,
    /// Whole records of an array.
    pub rows: u64,
    /// Starts of records where the section can be taken apart; the first is that of the first record.
    pub splits: Vec<Split>,
}

/// Start of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Offset of its first byte.
    pub offset: u64,
    /// Its number from 0.
    pub row: u64,
}

/// A part of a section: whole records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// First byte.
    pub start: u64,
    /// Behind the last byte; a comma may precede it.
    pub end: u64,
    /// Number of the first record.
    pub row: u64,
    /// Records.
    pub rows: u64,
}

impl Section {
    /// An empty section.
    pub fn new(name: String, is_array: bool, start: u64) -> Self {
        Self { name, is_array, start, end: start, rows: 0, splits: Vec::new() }
    }

    /// Offers a place to split, which is taken if it is `distance` bytes from the last.
    pub fn split_at(&mut self, split: Split, distance: u64) {
        let far = |last: &Split| split.offset > last.offset && split.offset - last.offset >= distance;
        if self.splits.last().is_none_or(far) {
            self.splits.push(split);
        }
    }

    /// The parts of the section in order.
    pub fn parts(&self) -> Vec<Part> {
        let ends = self.splits.iter().skip(1).map(|split| (split.offset, split.row)).chain([(self.end, self.rows)]);
        self.splits
            .iter()
            .zip(ends)
            .map(|(split, (end, next_row))| Part {
                start: split.offset,
                end,
                row: split.row,
                rows: next_row.saturating_sub(split.row),
            })
            .collect()
    }
}
