//! Chooses rows of tables in memory. Chosen rows that follow one another share the memory of the table: a window usually keeps one long run.

use std::ops::Range;

use polars::prelude::*;
use polars_arrow::array::BooleanArray;
use polars_arrow::bitmap::Bitmap;
use polars_arrow::bitmap::utils::SlicesIterator;

use crate::columns::frames::{FEW_ROWS, part, rows_in_memory};
use crate::columns::values::BoolValues;

/// The rows of a frame, if they are in memory and many: few are copied as fast as planned.
pub(super) fn many_rows(frame: &LazyFrame) -> Option<&DataFrame> {
    rows_in_memory(frame).filter(|rows| rows.height() > FEW_ROWS)
}

/// Marks the rows that meet a condition; `None` if it is the same for all rows.
pub(super) fn marked(rows: &DataFrame, condition: Expr) -> PolarsResult<Option<Bitmap>> {
    let marks = rows.clone().lazy().select([condition.alias("marks")]).collect()?;
    let marks = marks.column("marks")?.bool()?;
    Ok((marks.len() == rows.height()).then(|| BoolValues::new(marks).are_true()))
}

/// The longest run of marked rows, if it has at least half of them.
pub(super) fn long_run(marks: &Bitmap) -> Option<Range<usize>> {
    let runs = SlicesIterator::new(marks);
    let (first, length) = runs.max_by_key(|(first, length)| (*length, std::cmp::Reverse(*first)))?;
    (length >= marks.set_bits().div_ceil(2)).then(|| first..first + length)
}

/// The rows of a frame that meet a condition.
pub(super) fn met(frame: LazyFrame, condition: Expr) -> PolarsResult<LazyFrame> {
    let Some(rows) = many_rows(&frame) else { return Ok(frame.filter(condition)) };
    match marked(rows, condition.clone())? {
        Some(marks) => Ok(kept(rows, &marks)?.lazy()),
        None => Ok(frame.filter(condition)),
    }
}

/// The marked rows of a frame.
pub(super) fn kept(rows: &DataFrame, marks: &Bitmap) -> PolarsResult<DataFrame> {
    let filtered = |range: Range<usize>| {
        let marks = BooleanArray::new(ArrowDataType::Boolean, marks.clone().sliced(range.start, range.len()), None);
        part(rows, &range).filter(&BooleanChunked::with_chunk(PlSmallStr::EMPTY, marks))
    };
    match long_run(marks) {
        Some(run) => around(rows, &run, filtered),
        None => filtered(0..rows.height()),
    }
}

/// A run of rows as they are, and what `others` makes of the rows before and after it.
pub(super) fn around(
    rows: &DataFrame,
    run: &Range<usize>,
    others: impl Fn(Range<usize>) -> PolarsResult<DataFrame>,
) -> PolarsResult<DataFrame> {
    let mut parts = Vec::with_capacity(3);
    if run.start > 0 {
        parts.push(others(0..run.start)?);
    }
    parts.push(part(rows, run));
    if run.end < rows.height() {
        parts.push(others(run.end..rows.height())?);
    }
    joined(parts)
}

/// The rows of frames with the same columns, one after the other. They keep their memory, and columns of one value stay that.
pub(super) fn joined(mut parts: Vec<DataFrame>) -> PolarsResult<DataFrame> {
    if parts.iter().any(|part| part.height() > 0) {
        parts.retain(|part| part.height() > 0);
    }
    let Some((first, others)) = parts.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Ok(parts.pop().unwrap_or_default());
    };
    let height = parts.iter().map(DataFrame::height).sum();
    let join = |column: &Column| {
        let others = others.iter().map(|part| part.column(column.name())).collect::<PolarsResult<Vec<&Column>>>()?;
        let value = column.as_scalar_column().map(|column| column.scalar());
        if let Some(value) = value
            && others.iter().all(|other| other.as_scalar_column().map(|column| column.scalar()) == Some(value))
        {
            return Ok(Column::new_scalar(column.name().clone(), value.clone(), height));
        }
        let mut all = column.as_materialized_series().clone();
        others.into_iter().try_for_each(|other| all.append(other.as_materialized_series()).map(drop))?;
        Ok(all.into_column())
    };
    DataFrame::new(height, first.columns().iter().map(join).collect::<PolarsResult<_>>()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_same_rows_as_a_filter_keeps(
            runs in prop::collection::vec((any::<bool>(), 1_usize..40), 0..9), constant in any::<bool>(),
        ) {
            let marks: Vec<bool> = runs.iter().flat_map(|(mark, times)| vec![*mark; *times]).collect();
            let numbers: Vec<Option<i64>> = (0..marks.len() as i64).map(|row| (row % 7 != 3).then_some(row)).collect();
            let mut rows = df!("number" => numbers, "text" => vec!["a"; marks.len()]).unwrap();
            if constant {
                rows.with_column(Column::new_scalar("text".into(), Scalar::from(7_i64), marks.len())).unwrap();
            }
            let expected = rows.filter(&BooleanChunked::from_slice("marks".into(), &marks)).unwrap();
            let found = kept(&rows, &marks.iter().copied().collect()).unwrap();
            prop_assert!(found.equals_missing(&expected), "{found} {expected}");
            prop_assert!(!constant || found.column("text").unwrap().as_scalar_column().is_some());
        }
    }

    #[test]
    fn a_run_shares_the_memory_of_the_table() {
        let rows = df!("number" => (0_i64..100).collect::<Vec<i64>>()).unwrap();
        let marks: Bitmap = (0..100).map(|row| (20..90).contains(&row) || row == 3 || row == 97).collect();
        assert_eq!(long_run(&marks), Some(20..90));
        let kept = kept(&rows, &marks).unwrap();
        let values = kept.column("number").unwrap().i64().unwrap();
        assert_eq!((values.len(), values.chunk_lengths().collect::<Vec<_>>()), (72, vec![1, 70, 1]));
        let at =
            |column: &Int64Chunked, chunk: usize| column.downcast_iter().nth(chunk).map(|one| one.values().as_ptr());
        let all = rows.column("number").unwrap().i64().unwrap();
        assert_eq!(at(values, 1), at(all, 0).map(|first| first.wrapping_add(20)));
        let scattered: Bitmap = (0..100).map(|row| row % 3 == 0).collect();
        assert_eq!(long_run(&scattered), None);
        assert_eq!(long_run(&Bitmap::new_zeroed(5)), None);
    }
}
