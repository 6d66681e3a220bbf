//! Integers as a table, because the engines have no common way to count.

use polars::prelude::{
    DataFrame, Int64Chunked, IntoColumn, IntoLazy, IntoSeries, LazyFrame, NewChunkedArray, PolarsResult,
};

/// Name of the table; statements that mention it can read it.
pub const NUMBERS: &str = "numbers";

/// Its largest number.
const LAST: i64 = 65_535;

/// One column `n` from 0 to the last number.
pub fn numbers() -> PolarsResult<LazyFrame> {
    let column = Int64Chunked::from_iter_values("n".into(), 0..=LAST).into_series().into_column();
    Ok(DataFrame::new_infer_height(vec![column])?.lazy())
}
