//! Reads consecutive records.

use super::matching::Template;
use super::packed::IntColumn;
use super::skip::blanks;
use crate::rocprofv3_json::layout::Selected;

/// Maximum number of templates for a section.
const MAX_TEMPLATES: usize = 4;
/// Maximum distance of the search for the start of a record.
const FARTHEST_GUESS: usize = 1 << 16;

/// Reason for the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The next record starts at the limit of the run, or after it.
    Limit,
    /// The last record has no comma after it; it is not part of the run.
    NoComma,
    /// The next text cannot be parsed.
    Unclear,
}

/// The result of a run.
#[derive(Debug)]
pub struct Run {
    /// One for each requested field.
    pub columns: Vec<IntColumn>,
    /// Number of records, kept or not.
    pub records: u64,
    /// Offset of the next text, after a comma and white space.
    pub end: usize,
    /// Offset after the last comma.
    pub behind_comma: usize,
    /// The reason for its end.
    pub stop: Stop,
}

/// Reads records with templates, and with the general parser if none matches.
#[derive(Clone)]
pub struct Runner<'a> {
    selected: &'a Selected,
    templates: Vec<Template>,
    values: Vec<Option<i64>>,
}

impl<'a> Runner<'a> {
    /// A runner that learns from the record at the start of a text; `None` if there is no template for it. Zeros must follow the text.
    pub fn new(selected: &'a Selected, record: &[u8]) -> Option<Self> {
        let template = Template::learn(record, selected)?;
        Some(Self { selected, templates: vec![template], values: vec![None; selected.fields.len()] })
    }

    /// Changes the requested fields.
    #[cfg(test)]
    pub(crate) fn select(&mut self, selected: &'a Selected) {
        self.selected = selected;
    }

    /// Reads the record at the start of a text into the values, and returns its length.
    #[inline]
    fn record(&mut self, bytes: &[u8]) -> Option<usize> {
        for at in 0..self.templates.len() {
            let Some(length) = self.templates.get_mut(at)?.read(bytes, &mut self.values) else { continue };
            if at > 0 {
                // The template that matched last is likely to match next.
                self.templates.swap(0, at);
            }
            return Some(length);
        }
        if self.templates.len() < MAX_TEMPLATES
            && let Some(template) = Template::learn(bytes, self.selected)
        {
            self.templates.insert(0, template);
        }
        self.values.fill(None);
        self.selected.general(bytes, &mut self.values)
    }

    /// Reads the records from `start` on that start before `limit` and are followed by a comma. Zeros must follow the text.
    pub fn run(&mut self, bytes: &[u8], start: usize, limit: usize) -> Run {
        let columns = vec![IntColumn::default(); self.selected.fields.len()];
        let mut run = Run { columns, records: 0, end: start, behind_comma: start, stop: Stop::Limit };
        while run.end < limit {
            let rest = bytes.get(run.end..).unwrap_or_default();
            let Some(length) = self.record(rest) else {
                run.stop = Stop::Unclear;
                break;
            };
            let comma = length + blanks(rest.get(length..).unwrap_or_default());
            if rest.get(comma) != Some(&b',') {
                run.stop = Stop::NoComma;
                break;
            }
            self.keep(&mut run);
            run.behind_comma = run.end + comma + 1;
            run.end = run.behind_comma + blanks(bytes.get(run.behind_comma..).unwrap_or_default());
        }
        run
    }

    /// Adds the last record of a text of `length` bytes to a run. It has no comma after it; `None` if other text follows.
    pub fn last(&mut self, bytes: &[u8], length: usize, run: &mut Run) -> Option<()> {
        let last = run.end + self.record(bytes.get(run.end..)?)?;
        let end = last + blanks(bytes.get(last..)?);
        if last > length || end < length {
            return None;
        }
        self.keep(run);
        run.end = end;
        Some(())
    }

    /// Adds the current record to a run.
    #[inline]
    fn keep(&self, run: &mut Run) {
        run.records += 1;
        if self.selected.keeps(&self.values) {
            for (column, value) in run.columns.iter_mut().zip(&self.values) {
                column.push(*value);
            }
        }
    }

    /// A possible start of a record, at `from` or later: commas precede and follow the record, and it matches a template.
    pub fn guess(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        let head = self.templates.first()?.head.clone();
        let first = *head.first()?;
        let text = bytes.get(..from.saturating_add(FARTHEST_GUESS).min(bytes.len()))?;
        let mut at = from;
        loop {
            at += text.get(at..)?.iter().position(|byte| *byte == first)?;
            let before = text.get(..at)?.trim_ascii_end();
            if text.get(at..)?.starts_with(&head) && before.last() == Some(&b',') {
                let record = bytes.get(at..)?;
                let mut templates = self.templates.iter_mut();
                let length = templates.find_map(|template| template.read(record, &mut self.values));
                let behind = length.and_then(|length| record.get(length..)).map(<[u8]>::trim_ascii_start);
                if behind.is_some_and(|behind| behind.first() == Some(&b',')) {
                    return Some(at);
                }
            }
            at += 1;
        }
    }
}
