//! One pass over the bytes of a file that finds every section of every process, without building any values.
//!
//! It counts brackets and knows strings. The parser checks the rest of the syntax when a section is read. If brackets do not match, the
//! scanner continues as well as possible and records the position as a flaw.

use super::brackets::{Bracket, Brackets};
use super::index::{FileIndex, ProcessIndex, Section, Split, SyntaxFault, TrailingData};

/// Key of the root object that holds the processes.
pub(crate) const ROOT_KEY: &str = "rocprofiler-sdk-tool";

/// Objects whose members are sections of their own, named `<object>.<member>`.
const GROUPS: &[&str] =
    &["callback_records", "buffer_records", "strings", "strings.correlation_id", "strings.counters"];

/// The flaw of text that continues after the end of the document.
const MORE: &str = "there is more after the end";

/// Maximum length of a key that is kept; longer keys are not known sections.
const LONGEST_KEY: usize = 256;

/// The position of the scanner relative to strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    Outside,
    InString,
    Escaped,
}

/// A container on the way to the sections.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Level {
    Root,
    Tools,
    Process,
    Group(String),
}

/// A value below the containers: a section, or a skipped value.
struct Leaf {
    /// Number of open brackets, including its own.
    depth: usize,
    is_array: bool,
    section: Option<Section>,
    /// Start of the record being read.
    record: Option<u64>,
    started: u64,
    /// Whether the section is split at the next record in any case.
    split_next: bool,
}

/// The scanner. Feed it the file block by block.
pub(crate) struct Scanner {
    at: u64,
    text: Text,
    brackets: Brackets,
    levels: Vec<Level>,
    leaf: Option<Leaf>,
    key: Vec<u8>,
    in_key: bool,
    after_colon: bool,
    split_every: u64,
    index: FileIndex,
}

impl Scanner {
    /// A scanner at the start of a file. It splits sections about every `split_every` bytes.
    pub fn new(split_every: u64) -> Self {
        Self {
            at: 0,
            text: Text::Outside,
            brackets: Brackets::default(),
            levels: Vec::new(),
            leaf: None,
            key: Vec::new(),
            in_key: false,
            after_colon: false,
            split_every,
            index: FileIndex::default(),
        }
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, block: &[u8]) {
        self.feed_until_record(block, u64::MAX);
    }

    /// Takes the next bytes up to a comma between two records of a section, at the offset `from` or later. Returns the number of bytes
    /// taken. See [`Scanner::section`].
    pub(crate) fn feed_until_record(&mut self, block: &[u8], from: u64) -> usize {
        let mut rest = block;
        while let Some(skipped) = self.next_of_interest(rest) {
            let (passed, interesting) = rest.split_at_checked(skipped).unwrap_or((rest, &[]));
            if self.in_key {
                self.keep_key(passed);
            }
            self.at += skipped as u64;
            let Some((byte, behind)) = interesting.split_first() else { return block.len() };
            self.step(*byte);
            self.at += 1;
            rest = behind;
            if *byte == b',' && self.at >= from && self.section().is_some() {
                return block.len().saturating_sub(rest.len());
            }
        }
        if self.in_key {
            self.keep_key(rest);
        }
        self.at += rest.len() as u64;
        block.len()
    }

    /// Bytes taken so far.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// The current section, if the scanner is after a comma between two of its records.
    pub fn section(&self) -> Option<&Section> {
        let leaf = self.leaf.as_ref().filter(|leaf| leaf.is_array && leaf.record.is_none() && leaf.started > 0)?;
        let between = leaf.depth == self.brackets.depth() && self.text == Text::Outside;
        leaf.section.as_ref().filter(|section| between && section.rows == leaf.started)
    }

    /// Skips whole records that other code has read, as if they had been fed. `start` is the first byte of the first record, `behind_comma`
    /// the offset after the comma that follows the last. If `apart`, there is a split at the first record, and at the next record after
    /// them.
    pub fn pass(&mut self, start: u64, records: u64, behind_comma: u64, apart: bool) {
        let every = if apart { 0 } else { self.split_every };
        if let Some(leaf) = self.leaf.as_mut().filter(|_| records > 0) {
            let row = leaf.started;
            leaf.started += records;
            leaf.split_next |= apart;
            if let Some(section) = &mut leaf.section {
                section.split_at(Split { offset: start, row }, every);
                section.rows = leaf.started;
                section.end = behind_comma.saturating_sub(1);
            }
            self.at = behind_comma;
        }
    }

    /// The finished index, at the end of the file.
    pub fn finish(mut self) -> FileIndex {
        let at = self.at;
        self.index.truncated = self.text != Text::Outside || self.brackets.depth() > 0;
        if let Some(leaf) = self.leaf.take() {
            // A cut object is useless; the whole records of a cut array are kept.
            if leaf.is_array {
                self.keep_section(leaf);
            }
        }
        self.index.length = at;
        self.index
    }

    /// Distance to the next byte that can change the state.
    fn next_of_interest(&self, bytes: &[u8]) -> Option<usize> {
        if self.index.behind.is_some() {
            return None;
        }
        match self.text {
            Text::Escaped => (!bytes.is_empty()).then_some(0),
            Text::InString => memchr::memchr3(b'"', b'\\', b'\n', bytes),
            Text::Outside if self.is_inside_record() => {
                bytes.iter().position(|byte| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']'))
            }
            Text::Outside => bytes.iter().position(|byte| !byte.is_ascii_whitespace()),
        }
    }

    fn is_inside_record(&self) -> bool {
        self.leaf.as_ref().is_some_and(|leaf| !leaf.is_array || self.brackets.depth() > leaf.depth)
    }

    fn keep_key(&mut self, bytes: &[u8]) {
        let room = LONGEST_KEY.saturating_sub(self.key.len());
        self.key.extend(bytes.iter().take(room));
    }

    /// Whether the document has ended.
    fn is_over(&self) -> bool {
        self.brackets.depth() == 0 && self.levels.is_empty() && !self.index.processes.is_empty()
    }

    /// Records the kind of content that the first byte after the end starts. Commas, quotes and closing brackets more likely belong to the
    /// document, which damage ended too early.
    fn begin_trailing(&mut self, byte: u8) {
        if self.index.flaw.is_some_and(|flaw| flaw.what == MORE) {
            return;
        }
        let behind = match byte {
            b'{' | b'[' => TrailingData::Document,
            b',' | b':' | b'"' | b'}' | b']' => return self.flaw(MORE),
            _ => TrailingData::Junk,
        };
        self.index.behind = Some((behind, self.at));
    }

    fn step(&mut self, byte: u8) {
        if self.text == Text::Outside && self.is_over() {
            self.begin_trailing(byte);
            if self.index.behind.is_some() {
                return;
            }
        }
        match (self.text, byte) {
            (Text::Escaped, _) => {
                self.text = Text::InString;
                if self.in_key {
                    self.keep_key(&[byte]);
                }
            }
            (Text::InString, b'\\') => {
                self.text = Text::Escaped;
                if self.in_key {
                    self.keep_key(b"\\");
                }
            }
            (Text::InString, b'"') => self.end_string(),
            // A string never has a bare line end: a quote was lost, and the scanner recovers at the line end.
            (Text::InString, b'\n') => {
                self.flaw("a string is not closed");
                self.end_string();
            }
            (Text::InString, _) => {}
            (Text::Outside, b'"') => self.begin_string(),
            (Text::Outside, b'{') => self.open(Bracket::Object),
            (Text::Outside, b'[') => self.open(Bracket::Array),
            (Text::Outside, b'}') => self.close(Bracket::Object),
            (Text::Outside, b']') => self.close(Bracket::Array),
            (Text::Outside, b',') => self.comma(),
            (Text::Outside, b':') => self.after_colon = true,
            (Text::Outside, _) => self.begin_record(),
        }
    }

    fn begin_string(&mut self) {
        self.text = Text::InString;
        if self.leaf.is_some() {
            self.begin_record();
        } else if !self.after_colon {
            self.in_key = true;
            self.key.clear();
        }
    }

    fn end_string(&mut self) {
        self.text = Text::Outside;
        self.in_key = false;
    }

    /// Starts a record here, if the scanner is between the records of a section.
    fn begin_record(&mut self) {
        let (depth, at, every) = (self.brackets.depth(), self.at, self.split_every);
        if let Some(leaf) = self.leaf.as_mut().filter(|leaf| leaf.is_array && leaf.depth == depth)
            && leaf.record.is_none()
        {
            leaf.record = Some(at);
            let row = leaf.started;
            leaf.started += 1;
            let every = if std::mem::take(&mut leaf.split_next) { 0 } else { every };
            if let Some(section) = &mut leaf.section {
                section.split_at(Split { offset: at, row }, every);
            }
        }
    }

    fn end_record(&mut self, end: u64) {
        let every = self.split_every;
        if let Some(leaf) = &mut self.leaf
            && let (Some(start), Some(section)) = (leaf.record, &mut leaf.section)
        {
            section.rows = leaf.started;
            section.end = end;
            // A long record does not share its part with earlier records.
            if end.saturating_sub(start) > every {
                section.split_at(Split { offset: start, row: leaf.started.saturating_sub(1) }, 0);
            }
        }
    }

    fn comma(&mut self) {
        match &self.leaf {
            Some(leaf) if leaf.is_array && leaf.depth == self.brackets.depth() => {
                self.end_record(self.at);
                if let Some(leaf) = &mut self.leaf {
                    leaf.record = None;
                }
            }
            Some(_) => {}
            None => {
                self.after_colon = false;
                self.key.clear();
            }
        }
    }

    fn open(&mut self, bracket: Bracket) {
        self.begin_record();
        self.brackets.push(bracket);
        if self.leaf.is_some() {
            return;
        }
        let is_array = bracket == Bracket::Array;
        let key = unescaped(&self.key);
        self.key.clear();
        self.after_colon = false;
        let name = match self.levels.last() {
            None if !is_array && self.index.processes.is_empty() => return self.levels.push(Level::Root),
            Some(Level::Root) if key == ROOT_KEY && is_array => return self.levels.push(Level::Tools),
            Some(Level::Root) if key == ROOT_KEY => return self.begin_process(),
            Some(Level::Tools) if !is_array => return self.begin_process(),
            Some(Level::Process) => Some(key),
            Some(Level::Group(group)) => Some(format!("{group}.{key}")),
            None | Some(Level::Root | Level::Tools) => None,
        };
        if let Some(name) = name.as_ref().filter(|name| !is_array && GROUPS.contains(&name.as_str())) {
            return self.levels.push(Level::Group(name.clone()));
        }
        let start = if is_array { self.at + 1 } else { self.at };
        self.leaf = Some(Leaf {
            depth: self.brackets.depth(),
            is_array,
            section: name.map(|name| Section::new(name, is_array, start)),
            record: None,
            started: 0,
            split_next: false,
        });
    }

    fn begin_process(&mut self) {
        self.levels.push(Level::Process);
        self.index.processes.push(ProcessIndex::default());
    }

    fn close(&mut self, bracket: Bracket) {
        let outermost = self
            .leaf
            .as_ref()
            .map_or_else(|| self.brackets.depth().saturating_sub(1), |leaf| leaf.depth.saturating_sub(1));
        let fits = self.brackets.pop(bracket, outermost);
        if fits != Some(0) {
            self.flaw(if self.brackets.depth() == 0 { MORE } else { "brackets do not match" });
        }
        if fits.is_none() {
            return;
        }
        let depth = self.brackets.depth();
        match &self.leaf {
            Some(leaf) if depth < leaf.depth => {
                if leaf.is_array && leaf.record.is_some() {
                    self.end_record_at_close();
                }
                if let Some(leaf) = self.leaf.take() {
                    let end = self.at + 1;
                    self.keep_section(if leaf.is_array { leaf } else { leaf.ending_at(end) });
                }
            }
            Some(leaf) if leaf.is_array && depth == leaf.depth => self.end_record(self.at + 1),
            Some(_) => {}
            None => {
                self.levels.pop();
            }
        }
    }

    /// A number or text that is the last element ends with its array.
    fn end_record_at_close(&mut self) {
        let ended = self.leaf.as_ref().and_then(|leaf| leaf.section.as_ref().map(|s| s.rows == leaf.started));
        if ended == Some(false) {
            self.end_record(self.at);
        }
    }

    fn keep_section(&mut self, leaf: Leaf) {
        if let (Some(mut section), Some(process)) = (leaf.section, self.index.processes.last_mut()) {
            let rows = section.rows;
            section.splits.retain(|split| split.row < rows);
            process.sections.push(section);
        }
    }

    fn flaw(&mut self, what: &'static str) {
        let at = self.at;
        self.index.flaw.get_or_insert(SyntaxFault { at, what });
    }
}

/// The unescaped form of a key.
fn unescaped(key: &[u8]) -> String {
    let text = String::from_utf8_lossy(key);
    if key.contains(&b'\\') {
        let meant = serde_json::from_str(&format!("\"{text}\""));
        return meant.unwrap_or_else(|_| text.into_owned());
    }
    text.into_owned()
}

impl Leaf {
    fn ending_at(mut self, end: u64) -> Self {
        if let Some(section) = &mut self.section {
            section.end = end;
        }
        self
    }
}

#[cfg(test)]
mod tests;
