//! Values of columns, row by row.
//!
//! Iterators of chunked columns look up the chunk of every row. These iterators are several times as fast for columns in one piece; other
//! columns are joined first.

use polars::prelude::{BooleanChunked, DataFrame, Int64Chunked, PolarsError, PolarsResult};
use polars_arrow::array::{BooleanArray, PrimitiveArray};
use polars_arrow::bitmap::{Bitmap, MutableBitmap};

use wavesieve_model::analysis::numbering::dense_groups::DenseGroups;

/// Integers of a column in one piece.
pub struct I64Values(PrimitiveArray<i64>);

impl I64Values {
    /// The values of a column. They share its memory unless it is in several pieces.
    pub fn new(column: &Int64Chunked) -> Self {
        Self(column.rechunk().downcast_as_array().clone())
    }

    /// Row by row, by index: loops over several columns then share one counter.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<i64>> + '_ {
        let (values, valid) = (self.0.values().as_slice(), self.0.validity());
        let is_null = move |row: usize| valid.is_some_and(|valid| !valid.get_bit(row));
        (0..values.len()).map(move |row| values.get(row).copied().filter(|_| !is_null(row)))
    }

    /// Row by row, with an arbitrary number for a missing value: use with [`Self::present`], for many rows of several columns.
    #[inline]
    pub fn values(&self) -> &[i64] {
        self.0.values().as_slice()
    }

    /// Rows that have a value; `None` if all do.
    pub fn present(&self) -> Option<&Bitmap> {
        self.0.validity()
    }

    /// Groups rows by their values; rows without a value form one group.
    pub fn kinds(&self) -> DenseGroups {
        if self.present().is_none() {
            DenseGroups::of_values(self.values().iter().copied())
        } else {
            DenseGroups::from_values(self.iter())
        }
    }

    /// Like [`Self::kinds`], for some rows in their order.
    pub(crate) fn kinds_at(&self, rows: &[u32]) -> DenseGroups {
        let values = rows.iter().map(|row| self.get(*row as usize));
        if self.present().is_none() {
            DenseGroups::of_values(values.map(Option::unwrap_or_default))
        } else {
            DenseGroups::from_values(values)
        }
    }

    #[inline]
    pub fn get(&self, row: usize) -> Option<i64> {
        let is_null = self.0.validity().is_some_and(|valid| valid.len() > row && !valid.get_bit(row));
        self.0.values().get(row).copied().filter(|_| !is_null)
    }

    /// Row by row, for callers that cannot keep the column.
    #[inline]
    pub fn into_rows(self) -> impl ExactSizeIterator<Item = Option<i64>> {
        (0..self.0.len()).map(move |row| self.get(row))
    }
}

/// Truth values of a column in one piece.
pub struct BoolValues(BooleanArray);

impl BoolValues {
    /// The values of a column. They share its memory unless it is in several pieces.
    pub fn new(column: &BooleanChunked) -> Self {
        Self(column.rechunk().downcast_as_array().clone())
    }

    /// Row by row, like [`I64Values::iter`].
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<bool>> + '_ {
        let (values, valid) = (self.0.values(), self.0.validity());
        let is_null = move |row: usize| valid.is_some_and(|valid| !valid.get_bit(row));
        (0..values.len()).map(move |row| (!is_null(row)).then(|| values.get_bit(row)))
    }
}

impl BoolValues {
    /// Rows that are true.
    pub fn are_true(&self) -> Bitmap {
        self.0.validity().map_or_else(|| self.0.values().clone(), |valid| self.0.values() & valid)
    }
}

/// Columns of a frame as values.
pub trait FrameValues {
    /// The integers of a column.
    ///
    /// # Errors
    /// When the column is missing or has another type.
    fn integer(&self, name: &str) -> PolarsResult<I64Values>;

    /// The truth values of a column.
    ///
    /// # Errors
    /// As for [`FrameValues::integer`].
    fn truths(&self, name: &str) -> PolarsResult<BoolValues>;

    /// The integers of several columns.
    ///
    /// # Errors
    /// As for [`FrameValues::integer`].
    fn integers<const N: usize>(&self, names: [&str; N]) -> PolarsResult<[I64Values; N]> {
        let columns = names.into_iter().map(|name| self.integer(name)).collect::<PolarsResult<Vec<_>>>()?;
        columns.try_into().map_err(|_| PolarsError::ComputeError("internal: a column was not read".into()))
    }

    /// The rows that are valid and have an integer in all of these columns, by their numbers.
    ///
    /// # Errors
    /// As for [`FrameValues::integer`], also for the column `valid`.
    fn valid_rows<const N: usize>(&self, names: [&str; N]) -> PolarsResult<impl Iterator<Item = (u32, [i64; N])>> {
        let columns = self.integers(names)?;
        let counted = present_in(self.truths("valid")?.are_true(), columns.each_ref());
        let rows = (0_u32..).zip(counted).filter(|(_, is_counted)| *is_counted).map(|(row, _)| row);
        let value = |column: &I64Values, row: u32| column.values().get(row as usize).copied().unwrap_or_default();
        Ok(rows.map(move |row| (row, columns.each_ref().map(|column| value(column, row)))))
    }
}

impl FrameValues for DataFrame {
    fn integer(&self, name: &str) -> PolarsResult<I64Values> {
        Ok(I64Values::new(self.column(name)?.i64()?))
    }

    fn truths(&self, name: &str) -> PolarsResult<BoolValues> {
        Ok(BoolValues::new(self.column(name)?.bool()?))
    }
}

/// The rows among `rows` that have a value in all of these columns.
pub(crate) fn present_in<const N: usize>(rows: Bitmap, columns: [&I64Values; N]) -> Bitmap {
    columns.into_iter().filter_map(|column| column.present()).fold(rows, |rows, present| &rows & present)
}

/// A column of integers, made row by row.
pub fn integers(name: &str, values: impl ExactSizeIterator<Item = Option<i64>>) -> Int64Chunked {
    let mut valid = MutableBitmap::with_capacity(values.len());
    let values: Vec<i64> = values
        .map(|value| {
            valid.push(value.is_some());
            value.unwrap_or_default()
        })
        .collect();
    let has_nulls = valid.unset_bits() > 0;
    Int64Chunked::from_vec_validity(name.into(), values, has_nulls.then(|| valid.into()))
}

/// A column of integers, each repeated a number of times.
pub(crate) fn repeated_integers(name: &str, values: impl Iterator<Item = (Option<i64>, usize)>) -> Int64Chunked {
    let (mut all, mut valid) = (Vec::new(), MutableBitmap::new());
    for (value, times) in values {
        all.resize(all.len().saturating_add(times), value.unwrap_or_default());
        valid.extend_constant(times, value.is_some());
    }
    let has_nulls = valid.unset_bits() > 0;
    Int64Chunked::from_vec_validity(name.into(), all, has_nulls.then(|| valid.into()))
}

#[cfg(test)]
mod tests {
    use polars::prelude::NewChunkedArray as _;

    use super::*;

    #[test]
    fn several_pieces_are_joined() {
        let mut column = Int64Chunked::from_slice_options("a".into(), &[Some(1), None]);
        column.append(&Int64Chunked::from_slice("a".into(), &[3])).unwrap();
        assert_eq!(I64Values::new(&column).iter().collect::<Vec<_>>(), [Some(1), None, Some(3)]);
        assert_eq!(I64Values::new(&column).into_rows().collect::<Vec<_>>(), [Some(1), None, Some(3)]);
        assert_eq!([0, 1, 2, 3].map(|row| I64Values::new(&column).get(row)), [Some(1), None, Some(3), None]);
        let truths = BooleanChunked::from_slice_options("a".into(), &[Some(true), None, Some(false)]);
        assert_eq!(BoolValues::new(&truths).iter().collect::<Vec<_>>(), [Some(true), None, Some(false)]);
        assert_eq!(I64Values::new(&Int64Chunked::from_slice("a".into(), &[])).iter().len(), 0);
    }

    #[test]
    fn kinds_are_numbered_as_rows_come() {
        for values in [vec![Some(9), Some(4), Some(9)], vec![Some(9), None, Some(9)]] {
            let column = I64Values::new(&Int64Chunked::from_slice_options("a".into(), &values));
            let kinds = column.kinds_at(&[1, 2, 0, 1]);
            assert_eq!((kinds.of_rows, kinds.count), (vec![0, 1, 1, 0], 2), "{values:?}");
            assert_eq!(column.kinds().of_rows, [0, 1, 0]);
        }
    }

    #[test]
    fn integers_are_repeated() {
        let column = repeated_integers("a", [(Some(1), 2), (None, 1), (Some(3), 0), (Some(4), 1)].into_iter());
        assert_eq!(column.iter().collect::<Vec<_>>(), [Some(1), Some(1), None, Some(4)]);
        assert_eq!(repeated_integers("a", [(Some(1), 2)].into_iter()).null_count(), 0);
    }

    #[test]
    fn missing_integers_are_null() {
        for values in [vec![], vec![Some(1), Some(2)], vec![None, Some(i64::MIN), None], vec![None]] {
            let column = integers("a", values.iter().copied());
            assert_eq!(column.null_count(), values.iter().filter(|value| value.is_none()).count());
            assert_eq!(column.iter().collect::<Vec<_>>(), values);
        }
    }
}
