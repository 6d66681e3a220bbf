//! The order in which the kernels of a process started.

use std::sync::Arc;

use anyhow::{Context, Result};
use polars::prelude::*;
use polars_arrow::bitmap::Bitmap;

use crate::columns::values::{BoolValues, FrameValues};
use wavesieve_model::analysis::queues::order::start_order;

/// Rows of a table of kernels in the order of their starts.
#[derive(Clone, Debug)]
pub(crate) struct KernelOrder {
    count: usize,
    /// The rows; `None` if they are already in that order.
    rows: Option<Arc<[u32]>>,
}

impl KernelOrder {
    /// All rows in the order of their starts, then of their dispatch ids if `kernels` has these, then of the table. Takes `O(n log n)`, or
    /// linear time if they are already in that order.
    ///
    /// # Errors
    /// When a column has another type, or there are more rows than can be numbered.
    pub fn new(kernels: &DataFrame) -> Result<Self> {
        let count = kernels.height();
        u32::try_from(count).context("more dispatches than rows can be counted")?;
        let starts = kernels.integer("start_ns")?;
        let ids = kernels.column("dispatch_id").is_ok().then(|| kernels.integer("dispatch_id")).transpose()?;
        let rows = start_order(count, |row| starts.get(row), |row| ids.as_ref().and_then(|ids| ids.get(row)));
        Ok(Self { count, rows: rows.map(Arc::from) })
    }

    /// The valid kernels of the table that this order belongs to, and their order.
    ///
    /// # Errors
    /// When the column `valid` is missing or has another type.
    pub(crate) fn of_valid(&self, kernels: &DataFrame) -> Result<(DataFrame, Self)> {
        let valid = kernels.column("valid")?.bool()?;
        if valid.all() {
            return Ok((kernels.clone(), self.clone()));
        }
        Ok((kernels.filter(valid)?, self.among(&BoolValues::new(valid).are_true())))
    }

    /// The order of the chosen rows, renumbered among these.
    fn among(&self, chosen: &Bitmap) -> Self {
        let Some(rows) = &self.rows else {
            return Self { count: chosen.set_bits(), rows: None };
        };
        let mut next = 0_u32;
        let numbers: Vec<Option<u32>> = chosen
            .iter()
            .map(|is_chosen| {
                let number = is_chosen.then_some(next);
                next += u32::from(is_chosen);
                number
            })
            .collect();
        let rows = rows.iter().filter_map(|row| *numbers.get(*row as usize)?).collect();
        Self { count: next as usize, rows: Some(rows) }
    }

    /// Number of rows.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The rows; `None` if they are already in that order.
    pub fn moved(&self) -> Option<&[u32]> {
        self.rows.as_deref()
    }

    pub fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        let moved = self.rows.iter().flat_map(|rows| rows.iter().copied());
        let as_they_come = 0..if self.rows.is_none() { self.count as u32 } else { 0 };
        as_they_come.chain(moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_ordered_by_start_and_dispatch() {
        let kernels =
            df!("start_ns" => [Some(5_i64), Some(3), None, Some(3)], "dispatch_id" => [1_i64, 9, 4, 2]).unwrap();
        let order = KernelOrder::new(&kernels).unwrap();
        assert_eq!((order.count(), order.rows().collect::<Vec<_>>()), (4, vec![2, 3, 1, 0]));
        let chosen: Bitmap = [true, true, false, true].into_iter().collect();
        assert_eq!(order.among(&chosen).rows().collect::<Vec<_>>(), [2, 1, 0]);
        let by_start = KernelOrder::new(&kernels.select(["start_ns"]).unwrap()).unwrap();
        assert_eq!(by_start.rows().collect::<Vec<_>>(), [2, 1, 3, 0]);
    }

    #[test]
    fn nothing_is_kept_of_rows_that_come_in_order() {
        let kernels = df!("start_ns" => [3_i64, 3, 5], "dispatch_id" => [2_i64, 9, 1]).unwrap();
        let order = KernelOrder::new(&kernels).unwrap();
        assert!(order.moved().is_none());
        assert_eq!(order.rows().collect::<Vec<_>>(), [0, 1, 2]);
        let chosen = order.among(&[true, false, true].into_iter().collect());
        assert_eq!((chosen.count(), chosen.rows().collect::<Vec<_>>()), (2, vec![0, 1]));
    }
}
