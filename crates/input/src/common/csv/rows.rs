//! Reads the rows of a file. Rows that cannot be understood are left out and reported by file and line.

use anyhow::Result;
use csv::{ByteRecord, Position};

use super::file::{CsvFile, line_at, start};
use super::torn::{TornRows, torn_end};
use wavesieve_model::schema::anomaly::{Anomaly, Damage, Severity};

/// Problems in the rows of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flaws {
    /// Rows that could be read.
    pub good: u64,
    /// Rows that could not.
    pub bad: u64,
    /// Rows with bytes that are not UTF-8.
    pub lossy: u64,
    /// Position of the first bad row, and its problem.
    first: Option<String>,
    /// The reason why the rest of the file is missing.
    broken: Option<String>,
}

impl Flaws {
    /// The damage to a part of the input.
    pub fn damage(&self, file: &CsvFile, part: &str) -> Vec<Damage> {
        let rows = self.good.saturating_add(self.bad);
        let bad = self.first.as_ref().map(|first| {
            format!("{} of {rows} rows cannot be parsed and are excluded; the first is {first}", self.bad)
        });
        let damage = |cause| Damage { path: file.shown.clone(), part: part.to_owned(), cause };
        bad.into_iter().chain(self.broken.clone()).map(damage).collect()
    }

    /// Counts a row as good or bad; `place` gives its position.
    pub fn take(&mut self, record: &ByteRecord, understood: Result<(), String>, place: impl FnOnce() -> String) {
        match understood {
            Ok(()) => {
                self.good += 1;
                self.lossy += u64::from(std::str::from_utf8(record.as_slice()).is_err());
            }
            Err(reason) => {
                self.bad += 1;
                self.first.get_or_insert_with(|| format!("{}: {reason}{}", place(), unclosed(record)));
            }
        }
    }

    /// Records why the rest of the rows is missing.
    pub(crate) fn break_off(&mut self, cause: String) {
        self.broken.get_or_insert(cause);
    }

    /// Adds the flaws of another file that belongs to this one.
    pub fn add(&mut self, other: Self) {
        self.good += other.good;
        self.bad += other.bad;
        self.lossy += other.lossy;
        self.first = self.first.take().or(other.first);
        self.broken = self.broken.take().or(other.broken);
    }

    /// An anomaly for rows that are not valid UTF-8.
    pub fn anomaly(&self, table: &str) -> Option<Anomaly> {
        let detail = "texts contain invalid UTF-8, shown as U+FFFD";
        (self.lossy > 0).then(|| Anomaly::new("invalid_utf8", Severity::Info, table, self.lossy, detail))
    }
}

/// Passes every row of `width` fields to `read`, which returns an error for a row that it cannot parse.
pub fn scan(file: &CsvFile, width: usize, read: &mut dyn FnMut(&ByteRecord) -> Result<(), String>) -> Result<Flaws> {
    let (first, mut records) = start(file)?;
    let mut flaws = Flaws::default();
    let mut record = ByteRecord::new();
    let mut torn = TornRows::default();
    loop {
        match records.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => {
                flaws.broken = torn_end(&records).map(|reason| format!("{}: {reason}", file.shown));
                return Ok(flaws);
            }
            Err(error) => {
                let line = records.position().line();
                flaws.broken = Some(format!("{}:{line}: the rest of the file is missing: {error}", file.shown));
                return Ok(flaws);
            }
        }
        let reason = torn.find(&record, &records);
        let understood = match reason {
            _ if record.len() != width => Err(format!("{} fields, but the header has {width}", record.len())),
            Some(reason) => Err(reason.to_owned()),
            None => read(&record),
        };
        // Files that were joined end to end repeat their header; a line of blanks is not a row.
        if understood.is_err() && reason.is_none() && (record == first || record.as_slice().trim_ascii().is_empty()) {
            continue;
        }
        flaws.take(&record, understood, || {
            let place = record.position().map_or(0, Position::byte);
            let line = line_at(&file.path, place).unwrap_or_else(|_| record.position().map_or(0, Position::line));
            format!("{}:{line}", file.shown)
        });
    }
}

/// Reports that a bad row spans several lines, because a quote is not closed.
fn unclosed(record: &ByteRecord) -> String {
    match record.as_slice().iter().filter(|byte| **byte == b'\n').count() {
        0 => String::new(),
        more => format!("; an unclosed quote makes it span {} lines", more + 1),
    }
}
