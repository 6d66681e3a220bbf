//! Columns of several derived tables.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::values::repeated_integers;
use crate::derive::Frames;
use wavesieve_model::schema::process::Process;

/// A column of values that are each repeated a number of times; a single one takes no memory.
pub fn repeated(name: &str, values: impl Iterator<Item = (Option<i64>, usize)>) -> Column {
    let mut runs: Vec<(Option<i64>, usize)> = Vec::new();
    for (value, times) in values.filter(|(_, times)| *times > 0) {
        match runs.last_mut() {
            Some((last, length)) if *last == value => *length += times,
            _ => runs.push((value, times)),
        }
    }
    if let [(value, times)] = runs.as_slice() {
        let value = Scalar::new(DataType::Int64, value.map_or(AnyValue::Null, AnyValue::Int64));
        return Column::new_scalar(name.into(), value, *times);
    }
    repeated_integers(name, runs.into_iter()).into_series().into_column()
}

/// The columns `gpu` and `device` for rows of GPUs, with the number of rows of each GPU.
pub fn gpu_columns(process: &Process, gpus: impl Iterator<Item = (i64, usize)> + Clone) -> [Column; 2] {
    let devices = gpus.clone().map(|(gpu, times)| (device_of(process, gpu), times));
    [repeated("gpu", gpus.map(|(gpu, times)| (Some(gpu), times))), repeated("device", devices)]
}

/// The device of a GPU of a process.
pub fn device_of(process: &Process, gpu: i64) -> Option<i64> {
    process.gpus.values().rev().find(|known| known.gpu == gpu).map(|known| known.device)
}

/// Columns of a derived table. Columns that are not requested are not built, except the first, which determines the number of rows.
pub(crate) struct WantedColumns<'a> {
    tables: &'a Frames,
    table: &'static str,
    columns: Vec<Column>,
}

impl<'a> WantedColumns<'a> {
    /// No columns yet, for a table built from `tables`.
    pub fn new(tables: &'a Frames, table: &'static str) -> Self {
        Self { tables, table, columns: Vec::new() }
    }

    /// Adds the next column, made by `make` from its name.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn add(&mut self, name: &str, make: impl FnOnce(&str) -> Result<Column>) -> Result<()> {
        if self.columns.is_empty() || self.tables.wants(self.table, name) {
            self.columns.push(make(name)?);
        }
        Ok(())
    }

    /// The table.
    ///
    /// # Errors
    /// When the columns are of different lengths, which is a defect.
    pub fn into_frame(self) -> Result<DataFrame> {
        Ok(DataFrame::new_infer_height(self.columns)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_repeated() {
        let values = |parts: &[(Option<i64>, usize)]| {
            let column = repeated("a", parts.iter().copied());
            column.i64().unwrap().iter().collect::<Vec<_>>()
        };
        assert_eq!(values(&[(Some(1), 2), (None, 1), (Some(3), 0), (Some(4), 1)]), [Some(1), Some(1), None, Some(4)]);
        assert_eq!(values(&[(Some(1), 1), (Some(2), 0), (Some(1), 1)]), [Some(1), Some(1)]);
        assert_eq!((values(&[(None, 2)]), values(&[(Some(1), 0)]), values(&[])), (vec![None, None], vec![], vec![]));
        let [one, two] =
            [repeated("a", [(Some(1), 9)].into_iter()), repeated("a", [(Some(1), 9), (None, 1)].into_iter())];
        assert!(one.as_scalar_column().is_some() && two.as_scalar_column().is_none());
    }
}
