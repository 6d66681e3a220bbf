//! Rows of small processes, which are added up together: planning the computation of a frame takes longer than adding a few rows.

use anyhow::Result;
use parking_lot::Mutex;
use polars::prelude::DataFrame;

use super::table_pass::TablePass;
use wavesieve_tables::columns::frames::{FEW_ROWS, stacked};

/// Number of rows that are added up at once.
const ADDED_TOGETHER: usize = 16 * FEW_ROWS;

/// Frames with the same columns that wait for more.
#[derive(Default)]
pub(crate) struct FewRows(Mutex<Vec<DataFrame>>);

impl FewRows {
    /// Keeps a frame; returns all waiting frames when they have enough rows.
    pub fn put(&self, frame: DataFrame) -> Vec<DataFrame> {
        let mut waiting = self.0.lock();
        waiting.push(frame);
        let rows: usize = waiting.iter().map(DataFrame::height).sum();
        if rows < ADDED_TOGETHER && waiting.len() < ADDED_TOGETHER { Vec::new() } else { std::mem::take(&mut waiting) }
    }

    /// Adds the frames that still wait.
    pub fn finish(self, pass: &mut TablePass<'_>) -> Result<()> {
        add(pass, self.0.into_inner())
    }
}

/// Adds the rows of frames.
///
/// # Errors
/// When a column is missing or has another type than its declaration.
pub fn add(pass: &mut TablePass<'_>, frames: Vec<DataFrame>) -> Result<()> {
    stacked(frames).iter().try_for_each(|frame| pass.add(frame))
}
