//! Columns that were read while the file was looked through for its sections, so that it is not read again for them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::index::Part;
use super::template::IntColumn;

/// Which records are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// All.
    Every,
    /// Those whose start and end differ, or that lack one of them.
    WithLength,
    /// The others.
    WithoutLength,
}

impl Keep {
    /// Whether a record with this start and end is kept.
    pub fn accepts(self, times: impl FnOnce() -> (Option<i64>, Option<i64>)) -> bool {
        if self == Self::Every {
            return true;
        }
        let has_length = match times() {
            (Some(start), Some(end)) => start != end,
            _ => true,
        };
        has_length == (self == Self::WithLength)
    }
}

/// Columns of some records in a row.
pub struct Piece {
    /// Name of the section.
    pub section: String,
    /// Names of the columns.
    pub names: Vec<&'static str>,
    /// Which records were kept.
    pub keep: Keep,
    /// Records, kept or not.
    pub records: u64,
    /// A column for each name.
    pub columns: Vec<IntColumn>,
}

/// Pieces by the offset of their first record. Each is given away once.
#[derive(Default)]
pub struct Gathered(Mutex<BTreeMap<u64, Piece>>);

impl Gathered {
    /// Keeps a piece that begins at `offset`.
    pub fn add(&self, offset: u64, piece: Piece) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(offset, piece);
    }

    /// The columns of a part, if they were gathered for the same records.
    pub fn take(&self, part: &Part, section: &str, names: &[&str], keep: Keep) -> Option<Vec<IntColumn>> {
        let mut pieces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let piece = pieces.get(&part.start)?;
        let fits = piece.section == section && piece.keep == keep && piece.records == part.rows;
        if !fits || !names.iter().all(|name| piece.names.contains(name)) {
            return None;
        }
        let mut piece = pieces.remove(&part.start)?;
        names
            .iter()
            .map(|name| {
                let at = piece.names.iter().position(|known| known == name)?;
                piece.columns.get_mut(at).map(std::mem::take)
            })
            .collect()
    }
}
