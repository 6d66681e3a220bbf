//! Functions that polars lacks, computed column by column.

use std::sync::Arc;

use polars::prelude::{
    BaseColumnUdf, BooleanChunked, Column, DataType, Field, IntoColumn, IntoSeries, NewChunkedArray, PlSmallStr,
    PolarsError, PolarsResult, Scalar, Schema, SortOptions, StringChunked, UserDefinedFunction,
};
use polars::sql::{FunctionOptions, FunctionRegistry};
use regex::{Regex, RegexBuilder};

use super::values::{part_of_text, round, to_whole, try_to_whole};
use super::window_calls::WindowCall;

/// The functions of a statement: those of its windows, and those that polars lacks.
pub struct Functions {
    windows: Vec<Arc<WindowCall>>,
}

impl Functions {
    /// Functions for the windows of a statement.
    pub fn new(windows: &[WindowCall]) -> Self {
        Self { windows: windows.iter().cloned().map(Arc::new).collect() }
    }

    fn window(&self, name: &str) -> Option<&Arc<WindowCall>> {
        self.windows.get(name.strip_prefix("window_")?.parse::<usize>().ok()?)
    }
}

type Compute = fn(&[Column]) -> PolarsResult<Column>;

/// Result type of a function.
#[derive(Clone)]
enum ReturnType {
    This(DataType),
    /// The type of the first column.
    First,
    /// Integers for integers, floats for other types.
    Number,
}

impl ReturnType {
    fn data_type(&self, first: Option<&DataType>) -> DataType {
        match self {
            Self::This(data_type) => data_type.clone(),
            Self::First => first.map_or(DataType::String, plain),
            Self::Number if first.is_some_and(DataType::is_integer) => DataType::Int64,
            Self::Number => DataType::Float64,
        }
    }
}

/// A function over rows or groups, and its result type.
fn own(name: &str) -> Option<(Compute, ReturnType, FunctionOptions)> {
    let elementwise = FunctionOptions::elementwise();
    Some(match name {
        "regexp_replace" => (replace, ReturnType::This(DataType::String), elementwise),
        "regexp_extract" => (extract, ReturnType::This(DataType::String), elementwise),
        "regexp_matches" => (matches_anywhere, ReturnType::This(DataType::Boolean), elementwise),
        "regexp_full_match" => (matches_whole, ReturnType::This(DataType::Boolean), elementwise),
        "to_whole" => (to_whole, ReturnType::This(DataType::Int64), elementwise),
        "try_to_whole" => (try_to_whole, ReturnType::This(DataType::Int64), elementwise),
        "part_of_text" => (part_of_text, ReturnType::This(DataType::String), elementwise),
        "round_half_away" => (round, ReturnType::Number, elementwise),
        "value_of_greatest" => (value_at_max, ReturnType::First, FunctionOptions::aggregation()),
        "value_of_least" => (value_at_min, ReturnType::First, FunctionOptions::aggregation()),
        _ => return None,
    })
}

/// Whether a function is one of these, which polars knows only in the steps of a statement.
pub fn is_own(name: &str) -> bool {
    own(name).is_some() || name.strip_prefix("window_").is_some_and(|number| number.parse::<usize>().is_ok())
}

impl FunctionRegistry for Functions {
    fn register(&mut self, name: &str, _: UserDefinedFunction) -> PolarsResult<()> {
        Err(PolarsError::ComputeError(format!("{name} cannot be registered").into()))
    }

    fn get_udf(&self, name: &str) -> PolarsResult<Option<UserDefinedFunction>> {
        if let Some(call) = self.window(name) {
            let (rows, types) = (call.clone(), call.clone());
            let compute = move |columns: &mut [Column]| rows.compute(columns);
            let field = move |_: &Schema, fields: &[Field]| Ok(types.field(fields));
            let mut function = UserDefinedFunction::new(PlSmallStr::from(name), BaseColumnUdf::new(compute, field));
            function.options = FunctionOptions::groupwise();
            return Ok(Some(function));
        }
        let Some((compute, gives, options)) = own(name) else { return Ok(None) };
        let compute = move |columns: &mut [Column]| compute(columns);
        let field = move |_: &Schema, fields: &[Field]| {
            let first = fields.first();
            let name = first.map_or(PlSmallStr::from_static("value"), |field| field.name().clone());
            Ok(Field::new(name, gives.data_type(first.map(|field| field.dtype()))))
        };
        let mut function = UserDefinedFunction::new(PlSmallStr::from(name), BaseColumnUdf::new(compute, field));
        function.options = options;
        Ok(Some(function))
    }

    fn contains(&self, name: &str) -> bool {
        self.window(name).is_some() || own(name).is_some()
    }
}

/// A type, with texts in place of dictionaries.
pub fn plain(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Categorical(_, _) | DataType::Enum(_, _) => DataType::String,
        other => other.clone(),
    }
}

pub fn wrong(reason: impl Into<String>) -> PolarsError {
    PolarsError::ComputeError(reason.into().into())
}

/// An argument as texts.
pub fn texts(columns: &[Column], at: usize) -> PolarsResult<StringChunked> {
    let column = columns.get(at).ok_or_else(|| wrong("a function lacks an argument"))?;
    Ok(column.cast(&DataType::String)?.str()?.clone())
}

/// An argument that is the same for all rows.
pub fn word(columns: &[Column], at: usize) -> PolarsResult<Option<String>> {
    if at >= columns.len() {
        return Ok(None);
    }
    Ok(texts(columns, at)?.get(0).map(ToOwned::to_owned))
}

/// A pattern, with the options of DuckDB.
fn pattern(columns: &[Column], options: usize, is_whole: bool) -> PolarsResult<Regex> {
    let given = word(columns, 1)?.ok_or_else(|| wrong("a regular expression is missing"))?;
    let options = word(columns, options)?.unwrap_or_default();
    let text = if is_whole { format!("^(?:{given})$") } else { given.clone() };
    let built = RegexBuilder::new(&text)
        .case_insensitive(options.contains('i'))
        .dot_matches_new_line(options.contains('s'))
        .multi_line(options.contains(['m', 'n', 'p']))
        .build();
    built.map_err(|error| {
        let error = error.to_string();
        let reason = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
        wrong(format!("invalid regular expression {given}: {reason}; correct it, or use contains for literal text"))
    })
}

fn replace(columns: &[Column]) -> PolarsResult<Column> {
    let (values, pattern) = (texts(columns, 0)?, pattern(columns, 3, false)?);
    let by = word(columns, 2)?.unwrap_or_default();
    // `\1` of DuckDB is `${1}` here.
    let by = by.replace('$', "$$");
    let groups = Regex::new(r"\\([0-9])").map_err(|error| wrong(error.to_string()))?;
    let by = groups.replace_all(&by, "$${$1}").into_owned();
    let all = word(columns, 3)?.is_some_and(|options| options.contains('g'));
    let replaced = |text: &str| pattern.replacen(text, if all { 0 } else { 1 }, by.as_str()).into_owned();
    let replaced = values.iter().map(|value| value.map(replaced));
    Ok(StringChunked::from_iter_options(values.name().clone(), replaced).into_series().into_column())
}

fn extract(columns: &[Column]) -> PolarsResult<Column> {
    let (values, pattern) = (texts(columns, 0)?, pattern(columns, 3, false)?);
    let group = word(columns, 2)?.and_then(|group| group.parse::<usize>().ok()).unwrap_or(0);
    let part = |text: &str| {
        let found = pattern.captures(text).and_then(|found| Some(found.get(group)?.as_str().to_owned()));
        found.unwrap_or_default()
    };
    let parts = values.iter().map(|value| value.map(part));
    Ok(StringChunked::from_iter_options(values.name().clone(), parts).into_series().into_column())
}

fn matched(columns: &[Column], is_whole: bool) -> PolarsResult<Column> {
    let (values, pattern) = (texts(columns, 0)?, pattern(columns, 2, is_whole)?);
    let matched = values.iter().map(|value| value.map(|text| pattern.is_match(text)));
    Ok(BooleanChunked::from_iter_options(values.name().clone(), matched).into_series().into_column())
}

fn matches_anywhere(columns: &[Column]) -> PolarsResult<Column> {
    matched(columns, false)
}

fn matches_whole(columns: &[Column]) -> PolarsResult<Column> {
    matched(columns, true)
}

fn value_at_max(columns: &[Column]) -> PolarsResult<Column> {
    value_of(columns, true)
}

fn value_at_min(columns: &[Column]) -> PolarsResult<Column> {
    value_of(columns, false)
}

/// The first column's value where the second is largest or smallest.
fn value_of(columns: &[Column], descending: bool) -> PolarsResult<Column> {
    let [values, by] = columns else { return Err(wrong("a function of two columns has others")) };
    let values = values.cast(&plain(values.dtype()))?;
    let known = values.is_not_null() & by.is_not_null();
    let (kept, by) = (values.filter(&known)?, by.filter(&known)?);
    let order = by
        .as_materialized_series()
        .arg_sort(SortOptions::default().with_order_descending(descending).with_maintain_order(true));
    let value = match order.get(0) {
        Some(at) => kept.get(at as usize)?.into_static(),
        None => polars::prelude::AnyValue::Null,
    };
    Ok(Column::new_scalar(values.name().clone(), Scalar::new(values.dtype().clone(), value), 1))
}
