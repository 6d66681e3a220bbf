//! Canonical columns as polars series and empty frames.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use polars::prelude::*;
use polars_arrow::array::BooleanArray;
use polars_arrow::bitmap::Bitmap;

use crate::columns::values;
use wavesieve_model::schema::{Column as Declaration, ColumnType, Table};

/// The polars type of a canonical column.
pub fn data_type(column_type: ColumnType) -> DataType {
    match column_type {
        ColumnType::I64 => DataType::Int64,
        ColumnType::F64 => DataType::Float64,
        ColumnType::Str => DataType::String,
        ColumnType::Bool => DataType::Boolean,
        ColumnType::Cat => categorical(),
    }
}

/// The dictionary type shared by all `cat` columns. It is kept while the program runs: polars drops a dictionary without references, and
/// would renumber the same texts while other threads still use the old numbers.
pub fn categorical() -> DataType {
    static SHARED: OnceLock<DataType> = OnceLock::new();
    SHARED.get_or_init(|| DataType::from_categories(Categories::global())).clone()
}

/// A column of nulls of the declared type.
pub fn null_column(declaration: &Declaration, rows: usize) -> Column {
    Column::full_null(declaration.name.into(), rows, &data_type(declaration.column_type))
}

/// A frame without rows that has the given columns.
pub fn empty_frame(columns: &[&Declaration]) -> DataFrame {
    let columns = columns.iter().map(|declaration| null_column(declaration, 0)).collect();
    DataFrame::new_infer_height(columns).unwrap_or_default()
}

/// A frame with fewer rows is small: planning takes longer than the work on it.
pub const FEW_ROWS: usize = 1 << 13;

/// The rows of a frame if they are in memory.
pub(crate) fn rows_in_memory(frame: &LazyFrame) -> Option<&DataFrame> {
    match &frame.logical_plan {
        DslPlan::DataFrameScan { df, .. } => Some(df),
        _ => None,
    }
}

/// The rows of a frame. Rows in memory need no plan.
///
/// # Errors
/// When they cannot be read. polars panics if a file loses its end while it is read.
pub fn collected(frame: &LazyFrame) -> PolarsResult<DataFrame> {
    if let Some(rows) = rows_in_memory(frame) {
        return Ok(rows.clone());
    }
    catch_unwind(AssertUnwindSafe(|| frame.clone().collect()))
        .unwrap_or_else(|_| Err(polars_err!(ComputeError: "a stored table is damaged, or changed while it was read")))
}

/// Some columns of a frame, selected at once if its rows are in memory.
///
/// # Errors
/// When a column of such a frame is missing.
pub fn selected<'a>(frame: &LazyFrame, names: impl Iterator<Item = &'a str>) -> PolarsResult<LazyFrame> {
    let names: Vec<&str> = names.collect();
    match rows_in_memory(frame).filter(|_| !names.is_empty()) {
        Some(rows) => Ok(rows.select(names)?.lazy()),
        None => Ok(frame.clone().select(names.into_iter().map(col).collect::<Vec<Expr>>())),
    }
}

/// Parts of a frame in which its columns are in one piece each, so that reading their values copies nothing. One part, if they would be short.
pub fn pieces(frame: &DataFrame) -> Vec<Range<usize>> {
    let columns = frame.columns().iter().filter(|column| column.as_scalar_column().is_none());
    let series = columns.map(Column::as_materialized_series).max_by_key(|series| series.n_chunks());
    let lengths = match series.filter(|series| series.n_chunks().saturating_mul(FEW_ROWS) <= frame.height()) {
        Some(series) => series.chunk_lengths().collect(),
        None => vec![frame.height()],
    };
    let mut end = 0;
    let part = |rows: usize| {
        let first = end;
        end += rows;
        first..end
    };
    lengths.into_iter().map(part).collect()
}

/// Some rows of a frame, which share its memory.
pub fn part(frame: &DataFrame, rows: &Range<usize>) -> DataFrame {
    frame.slice(rows.start as i64, rows.len())
}

/// Joins frames into one; returns them unchanged if they do not fit together.
pub fn stacked(frames: Vec<DataFrame>) -> Vec<DataFrame> {
    let [first, others @ ..] = frames.as_slice() else { return frames };
    let mut all = first.clone();
    match others.iter().try_for_each(|frame| all.vstack_mut(frame).map(drop)) {
        Ok(()) => vec![std::mem::take(all.rechunk_mut())],
        Err(_) => frames,
    }
}

/// Joins consecutive frames that have few rows in memory.
pub(crate) fn with_few_stacked(frames: Vec<LazyFrame>) -> Vec<LazyFrame> {
    let mut all: Vec<LazyFrame> = Vec::new();
    let mut few: Vec<DataFrame> = Vec::new();
    let put_down = |few: &mut Vec<DataFrame>| stacked(std::mem::take(few)).into_iter().map(IntoLazy::lazy);
    for frame in frames {
        match rows_in_memory(&frame).filter(|rows| rows.height() <= FEW_ROWS) {
            Some(rows) => few.push(rows.clone()),
            None => {
                all.extend(put_down(&mut few));
                all.push(frame);
            }
        }
    }
    all.extend(put_down(&mut few));
    all
}

/// A frame in memory with constant columns added and the columns of `names` in that order; `None` if it is not in memory.
pub(crate) fn with_constants<'a>(
    frame: &LazyFrame,
    names: impl Iterator<Item = &'a str>,
    constants: &[(&str, i64)],
) -> PolarsResult<Option<LazyFrame>> {
    let Some(rows) = rows_in_memory(frame) else { return Ok(None) };
    let column = |name: &str| match constants.iter().find(|(constant, _)| *constant == name) {
        Some((_, value)) => Ok(Column::new_scalar(name.into(), Scalar::from(*value), rows.height())),
        None => rows.column(name).cloned(),
    };
    let columns = names.map(column).collect::<PolarsResult<Vec<Column>>>()?;
    Ok(Some(DataFrame::new(rows.height(), columns)?.lazy()))
}

/// All columns of a table without `process` and `rank`, which the trace adds.
pub fn own_columns(table: &'static Table) -> Vec<&'static Declaration> {
    table.columns.iter().filter(|column| !is_identity(column.name)).collect()
}

/// Whether the trace adds this column to every table.
pub fn is_identity(name: &str) -> bool {
    name == "process" || name == "rank"
}

/// An entry of a dictionary.
pub trait Entry {
    /// Its text, if it has one.
    fn text(&self) -> Option<&str>;
}

impl Entry for Option<String> {
    fn text(&self) -> Option<&str> {
        self.as_deref()
    }
}

impl Entry for &str {
    fn text(&self) -> Option<&str> {
        Some(self)
    }
}

/// A dictionary-encoded column: the entries of `dictionary` at `codes`, null where the code is null or out of range.
pub fn dictionary_column(
    name: &str,
    dictionary: &[impl Entry],
    codes: impl Iterator<Item = Option<usize>>,
) -> PolarsResult<Column> {
    text_dictionary(name, dictionary, codes, &categorical())
}

/// Like [`dictionary_column`], but as plain text.
pub fn text_column_from_dictionary(
    name: &str,
    dictionary: &[impl Entry],
    codes: impl Iterator<Item = Option<usize>>,
) -> PolarsResult<Column> {
    text_dictionary(name, dictionary, codes, &DataType::String)
}

fn text_dictionary(
    name: &str,
    dictionary: &[impl Entry],
    codes: impl Iterator<Item = Option<usize>>,
    data_type: &DataType,
) -> PolarsResult<Column> {
    let values = dictionary_values(name, dictionary, data_type)?;
    let size = dictionary.len();
    let indexes: IdxCa =
        codes.map(|code| code.filter(|code| *code < size).and_then(|code| IdxSize::try_from(code).ok())).collect();
    Ok(values.take(&indexes)?.with_name(name.into()).into_column())
}

/// A dictionary-encoded column: the entries of `dictionary` at `positions`.
///
/// # Errors
/// When a position is out of range, which is a defect, or polars cannot build the column.
pub fn dictionary_column_at(name: &str, dictionary: &[impl Entry], positions: &IdxCa) -> PolarsResult<Column> {
    let values = dictionary_values(name, dictionary, &categorical())?;
    Ok(values.take(positions)?.with_name(name.into()).into_column())
}

fn dictionary_values(name: &str, dictionary: &[impl Entry], data_type: &DataType) -> PolarsResult<Series> {
    let values = StringChunked::from_iter_options(name.into(), dictionary.iter().map(Entry::text));
    values.into_series().cast(data_type)
}

/// A column of integers.
pub(crate) fn integers(name: &str, values: impl ExactSizeIterator<Item = Option<i64>>) -> Column {
    values::integers(name, values).into_column()
}

/// A column of floats.
pub(crate) fn floats(name: &str, values: impl Iterator<Item = Option<f64>>) -> Column {
    values.collect::<Float64Chunked>().with_name(name.into()).into_column()
}

/// A column of texts.
pub(crate) fn texts<'a>(name: &str, values: impl Iterator<Item = Option<&'a str>>) -> Column {
    StringChunked::from_iter_options(name.into(), values).into_column()
}

/// A dictionary-encoded column of texts.
pub(crate) fn categories<'a>(name: &str, values: impl Iterator<Item = Option<&'a str>>) -> PolarsResult<Column> {
    texts(name, values).cast(&categorical())
}

/// A column with the same text in every row.
pub fn constant_cat(name: &str, value: Option<&str>, rows: usize) -> PolarsResult<Column> {
    let text = categories(name, std::iter::once(value))?;
    Ok(text.as_materialized_series().new_from_index(0, rows).into_column())
}

/// Marks the rows of a `cat` column whose text is `wanted`; calls the predicate once for each text.
///
/// # Errors
/// When the column does not hold texts.
pub(crate) fn rows_named(column: &Column, wanted: impl Fn(&str) -> bool) -> PolarsResult<BooleanChunked> {
    let series = match column.dtype() {
        DataType::Categorical(_, _) => column.as_materialized_series().clone(),
        _ => column.as_materialized_series().cast(&categorical())?,
    };
    let texts = series.cat32()?;
    let mapping = texts.get_mapping();
    let codes = texts.physical().rechunk();
    let codes = codes.downcast_as_array();
    // Texts that occur, because the dictionary has the texts of all columns. A null row may have any code.
    let greatest = texts.physical().max();
    let mut occurs = vec![false; greatest.map_or(0, |greatest| greatest as usize + 1)];
    for code in codes.values().iter() {
        if let Some(occurs) = occurs.get_mut(*code as usize) {
            *occurs = true;
        }
    }
    let verdict = |(code, occurs): (CatSize, &bool)| *occurs && mapping.cat_to_str(code).is_some_and(&wanted);
    let verdicts: Vec<bool> = (0..).zip(&occurs).map(verdict).collect();
    // Most predicates give the same result for all rows.
    let rows = if verdicts == occurs || !verdicts.contains(&true) {
        Bitmap::new_with_value(verdicts.contains(&true), codes.len())
    } else {
        codes.values().iter().map(|code| verdicts.get(*code as usize).copied().unwrap_or(false)).collect()
    };
    let rows = BooleanArray::new(ArrowDataType::Boolean, rows, codes.validity().cloned());
    Ok(BooleanChunked::with_chunk(column.name().clone(), rows))
}

/// Adds the texts that occur in a `cat` column to others.
///
/// # Errors
/// When the column does not hold texts.
pub(crate) fn add_texts(column: &Column, texts: &mut BTreeSet<String>) -> PolarsResult<()> {
    let seen = RefCell::new(texts);
    rows_named(column, |text| seen.borrow_mut().insert(text.to_owned())).map(drop)
}

/// The result of `value` for each row of a `cat` column; `value` is called once for each text.
///
/// # Errors
/// When the column does not hold texts.
pub fn values_by_text<T: Copy>(column: &Column, value: impl Fn(&str) -> T) -> PolarsResult<Vec<Option<T>>> {
    let series = column.as_materialized_series().cast(&categorical())?;
    let texts = series.cat32()?;
    let mapping = texts.get_mapping();
    let mut known: Vec<Option<T>> = Vec::new();
    let mut value_of = |code: CatSize| {
        let place = code as usize;
        if place >= known.len() {
            known.resize(place + 1, None);
        }
        let slot = known.get_mut(place)?;
        if slot.is_none() {
            *slot = mapping.cat_to_str(code).map(&value);
        }
        *slot
    };
    let codes = texts.physical().rechunk();
    Ok(codes.downcast_as_array().iter().map(|code| value_of(*code?)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_named_by_their_texts_and_null_without() {
        let texts = [Some("a"), None, Some("b"), Some("a"), None, Some("c")];
        let column = Column::new("name".into(), texts).cast(&categorical()).unwrap();
        for wanted in [&["a"][..], &["a", "b", "c"], &["b", "d"], &["d"], &[]] {
            for column in [column.clone(), column.slice(2, 2), column.slice(1, 1), column.slice(0, 0)] {
                let of_texts = column.cast(&DataType::String).unwrap();
                let of_texts = of_texts.str().unwrap().iter().map(|text| text.map(|text| wanted.contains(&text)));
                let rows = rows_named(&column, |text| wanted.contains(&text)).unwrap();
                assert_eq!(rows.iter().collect::<Vec<_>>(), of_texts.collect::<Vec<_>>(), "{wanted:?}");
            }
        }
    }
}
