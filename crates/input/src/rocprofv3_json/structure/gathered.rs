//! Columns that were gathered while the file was scanned for its sections, so that it is not read again for them.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::index::Part;
use crate::rocprofv3_json::template::Packed;

/// The rule for the records that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Every,
    /// Records whose start and end differ, or that lack one of them.
    WithLength,
    /// All other records.
    WithoutLength,
}

impl Keep {
    /// Whether a record with this start and end is kept.
    #[inline]
    pub fn accepts(self, start: Option<i64>, end: Option<i64>) -> bool {
        let has_length = start.is_none() || end.is_none() || start != end;
        self == Self::Every || has_length == (self == Self::WithLength)
    }
}

/// Columns of consecutive records.
pub struct RecordBatch {
    /// Name of the section.
    pub section: String,
    /// Names of the columns.
    pub names: Vec<&'static str>,
    /// The rule by which records were kept.
    pub keep: Keep,
    /// Number of records, kept or not.
    pub records: u64,
    /// A column for each name.
    pub columns: Vec<Packed>,
}

/// Batches by the offset of their first record. Each is taken once.
#[derive(Default)]
pub struct Gathered(Mutex<BTreeMap<u64, RecordBatch>>);

impl Gathered {
    /// Adds a batch that starts at `offset`.
    pub fn add(&self, offset: u64, batch: RecordBatch) {
        self.0.lock().insert(offset, batch);
    }

    /// The columns of a batch that starts at the first of `parts`, and the number of parts that it covers; `None` if there is no batch with
    /// these columns and the same rule.
    pub fn take(&self, parts: &[Part], section: &str, names: &[&str], keep: Keep) -> Option<(Vec<Packed>, usize)> {
        let start = parts.first()?.start;
        let mut batches = self.0.lock();
        let batch = batches.get(&start)?;
        let rows = parts.iter().scan(0_u64, |rows, part| {
            *rows += part.rows;
            Some(*rows)
        });
        let count = rows.take_while(|rows| *rows <= batch.records).enumerate().last()?;
        let fits = batch.section == section && batch.keep == keep && count.1 == batch.records;
        if !fits || !names.iter().all(|name| batch.names.contains(name)) {
            return None;
        }
        let mut batch = batches.remove(&start)?;
        let columns = names.iter().map(|name| {
            let at = batch.names.iter().position(|known| known == name)?;
            batch.columns.get_mut(at).map(std::mem::take)
        });
        Some((columns.collect::<Option<_>>()?, count.0 + 1))
    }
}
