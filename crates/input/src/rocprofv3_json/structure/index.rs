//! The index of a file: its processes, sections and parts.

/// The result of scanning a file.
#[derive(Debug, Default)]
pub(crate) struct FileIndex {
    /// The processes in file order.
    pub processes: Vec<ProcessIndex>,
    /// Whether the file ends inside a value.
    pub truncated: bool,
    /// The first position with a syntax fault.
    pub flaw: Option<SyntaxFault>,
    /// Content after the end of the document, and its offset.
    pub behind: Option<(TrailingData, u64)>,
    /// Bytes of the text.
    pub length: u64,
}

/// Content after the end of a document; it is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrailingData {
    /// Another document.
    Document,
    /// Bytes that are not part of a document.
    Junk,
}

/// A position with a syntax fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxFault {
    /// Offset.
    pub at: u64,
    /// The problem.
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

    /// Number of records in the sections with this name.
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
    /// First byte: an object starts at its bracket, an array after its bracket.
    pub start: u64,
    /// End of the object, or of the last whole record.
    pub end: u64,
    /// Number of whole records of an array.
    pub rows: u64,
    /// Starts of records at which the section can be split; the first is the start of the first record.
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
    /// End offset; a comma may precede it.
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

    /// Adds a split if it is at least `distance` bytes from the last split.
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
