//! The header of a file, with the positions of known columns.

use csv::ByteRecord;

use super::columns::{COLUMNS, Col, known};
use crate::common::csv::Content;

/// The positions of the columns of a file.
#[derive(Clone, Debug)]
pub struct Header {
    /// Number of fields.
    pub width: usize,
    /// Unknown names, as written.
    pub unknown: Vec<String>,
    positions: [Option<usize>; COLUMNS],
    contents: Vec<(usize, Col, Content)>,
}

impl Header {
    /// Finds the columns of a header; if a column is repeated, the first counts.
    pub fn new(record: &ByteRecord) -> Self {
        let mut header =
            Self { width: record.len(), unknown: Vec::new(), positions: [None; COLUMNS], contents: Vec::new() };
        for (at, field) in record.iter().enumerate() {
            let name = String::from_utf8_lossy(field);
            let Some((column, content)) = known(&spelling(&name)) else {
                header.unknown.push(name.into_owned());
                continue;
            };
            if let Some(place @ None) = header.positions.get_mut(column as usize) {
                *place = Some(at);
                header.contents.push((at, column, content));
            }
        }
        header
    }

    pub fn position(&self, column: Col) -> Option<usize> {
        self.positions.get(column as usize).copied().flatten()
    }

    /// Whether the file has all of these columns.
    pub fn has(&self, columns: &[Col]) -> bool {
        columns.iter().all(|column| self.position(*column).is_some())
    }

    /// Position, name and content of the known columns.
    pub fn contents(&self) -> &[(usize, Col, Content)] {
        &self.contents
    }
}

/// A column name for comparison: lower case, without surrounding blanks and quotes.
pub fn spelling(name: &str) -> String {
    name.trim().trim_start_matches('\u{feff}').trim_matches('"').to_lowercase()
}
