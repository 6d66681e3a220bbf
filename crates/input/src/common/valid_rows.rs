//! Marks the rows of a table whose times are valid.

use polars_arrow::bitmap::{Bitmap, MutableBitmap};

use wavesieve_model::schema::validity::Validity;

/// The rows of a table so far. Rows on another clock than their process are judged by that clock once all rows are there.
pub(crate) struct ValidRows {
    validity: Validity,
    valid: MutableBitmap,
    /// Valid rows so far.
    here: usize,
    /// Row numbers, starts and ends of rows that are possible on another clock, but not on the clock of the process.
    elsewhere: Vec<(usize, i64, i64)>,
}

impl ValidRows {
    /// Starts without rows, for a table of `height` rows.
    pub fn new(validity: Validity, height: usize) -> Self {
        Self { validity, valid: MutableBitmap::with_capacity(height), here: 0, elsewhere: Vec::new() }
    }

    /// Adds the times of a row.
    pub fn push(&mut self, start_ns: i64, end_ns: i64) {
        let holds = self.validity.holds(start_ns, end_ns);
        if self.validity.is_elsewhere(start_ns, end_ns) {
            self.elsewhere.push((self.valid.len(), start_ns, end_ns));
        }
        self.here += usize::from(holds);
        self.valid.push(holds);
    }

    /// Whether each row is valid.
    pub fn finish(mut self) -> Bitmap {
        let starts = self.elsewhere.iter().map(|(_, start, _)| *start).collect();
        if let Some(other) = self.validity.of_other_clock(starts, self.here) {
            let on_it = self.elsewhere.iter().filter(|(_, start, end)| other.holds(*start, *end));
            on_it.for_each(|(row, _, _)| self.valid.set(*row, true));
        }
        self.valid.into()
    }
}
