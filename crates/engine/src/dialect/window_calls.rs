//! Functions over ordered windows. polars computes them row by row, without regard to equal rows, and without frames.

use polars::prelude::{DataType, Field, PlSmallStr};
use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArguments, Value, WindowFrame, WindowFrameBound, WindowFrameUnits,
    WindowType,
};

use super::functions::{expression, name_of};
use super::parts::refused;
use super::regexps::plain;
use super::rewriter::constant;
use crate::error::QueryError;
use crate::units::arguments;

/// Function computed over the rows of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compute {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    Ntile(i64),
    /// The value this many rows before (negative: after).
    Shift(i64),
    First,
    Last,
    Nth(i64),
    /// Rows, or values that are not missing.
    Count,
    Sum,
    Avg,
    Min,
    Max,
}

/// One end of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// The end of the partition on this side.
    Open,
    /// This many rows, or this distance, after the present row.
    At(f64),
}

/// The rows around the present one that count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Whether the ends are rows; otherwise they are values of the order.
    pub is_rows: bool,
    pub start: Bound,
    pub end: Bound,
}

/// Order of a window by one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    pub descending: bool,
    pub nulls_first: bool,
}

/// A call of a function over a window; its columns are the arguments, then those of the partition, then those of the order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WindowCall {
    pub compute: Compute,
    /// Number of argument columns: none, the value, or the value and its default.
    pub arguments: usize,
    /// Number of columns of the partition.
    pub partition: usize,
    pub order: Vec<Order>,
    pub frame: Frame,
}

const WITHOUT_ARGUMENTS: &[&str] = &["row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile"];
/// Functions over whole partitions that polars does not have.
const NEVER_OF_POLARS: &[&str] =
    &["percent_rank", "cume_dist", "ntile", "nth_value", "first_value", "last_value", "lag", "lead"];

impl WindowCall {
    /// The call for a function with OVER, with the columns that it takes; `None` if polars computes it correctly.
    ///
    /// # Errors
    /// When neither polars nor this program can compute it.
    pub(crate) fn from_function(function: &Function) -> Result<Option<(Self, Vec<Expr>)>, QueryError> {
        let Some(WindowType::WindowSpec(spec)) = &function.over else { return Ok(None) };
        let name = name_of(function);
        let is_plain = spec.order_by.is_empty() && spec.window_frame.is_none();
        if is_plain && !NEVER_OF_POLARS.contains(&name.as_str()) {
            return Ok(None);
        }
        if spec.window_name.is_some() {
            return Err(refused("a window that extends a named one is not known here; write it out"));
        }
        if function.null_treatment.is_some() {
            return Err(refused(format!("polars has no {name} with IGNORE NULLS; filter in a subquery")));
        }
        if let FunctionArguments::List(list) = &function.args
            && list.duplicate_treatment == Some(DuplicateTreatment::Distinct)
        {
            return Err(refused(format!("polars has no {name} of distinct values over a window; group in a subquery")));
        }
        let given = arguments(function);
        let compute = compute_of(&name, &given)?;
        let mut columns: Vec<Expr> = match name.as_str() {
            _ if WITHOUT_ARGUMENTS.contains(&name.as_str()) => Vec::new(),
            "lag" | "lead" => given.first().into_iter().chain(given.get(2)).map(|one| (*one).clone()).collect(),
            _ => given.first().map(|one| (*one).clone()).into_iter().collect(),
        };
        if let Some(filter) = &function.filter {
            let value = columns.first().map_or("1".to_owned(), ToString::to_string);
            let text = format!("CASE WHEN {filter} THEN {value} END");
            columns = vec![expression(&text).ok_or_else(|| refused(format!("{name} cannot be filtered; use WHERE")))?];
        }
        let call = Self {
            compute,
            arguments: columns.len(),
            partition: spec.partition_by.len(),
            order: spec
                .order_by
                .iter()
                .map(|order| Order {
                    descending: order.options.asc == Some(false),
                    nulls_first: order.options.nulls_first == Some(true),
                })
                .collect(),
            frame: frame_of(spec.window_frame.as_ref(), spec.order_by.is_empty())?,
        };
        columns.extend(spec.partition_by.iter().cloned());
        columns.extend(spec.order_by.iter().map(|order| order.expr.clone()));
        if columns.is_empty() {
            return Err(refused(format!("{name} over all rows needs an order; add ORDER BY to its window")));
        }
        Ok(Some((call, columns)))
    }

    /// Name and type of the result.
    pub fn field(&self, fields: &[Field]) -> Field {
        let first = fields.first();
        let name = first.map_or(PlSmallStr::from_static("window"), |field| field.name().clone());
        Field::new(name, self.data_type(first.map(|field| field.dtype())))
    }

    /// The result type for values of a type.
    pub fn data_type(&self, value: Option<&DataType>) -> DataType {
        let value = value.filter(|_| self.arguments > 0);
        match self.compute {
            Compute::RowNumber | Compute::Rank | Compute::DenseRank | Compute::Ntile(_) | Compute::Count => {
                DataType::Int64
            }
            Compute::PercentRank | Compute::CumeDist | Compute::Avg => DataType::Float64,
            Compute::Sum if value.is_some_and(|value| value.is_integer() || *value == DataType::Boolean) => {
                DataType::Int64
            }
            Compute::Sum => DataType::Float64,
            _ => value.map_or(DataType::Int64, plain),
        }
    }
}

fn compute_of(name: &str, given: &[&Expr]) -> Result<Compute, QueryError> {
    let whole = |at: usize, otherwise: Option<i64>| match given.get(at) {
        None => otherwise.ok_or_else(|| refused(format!("{name} lacks an argument; add it"))),
        Some(expr) => {
            let number = constant(expr).and_then(|number| i64::try_from(number).ok());
            number.ok_or_else(|| refused(format!("{name} takes a literal whole number; write a literal")))
        }
    };
    Ok(match name {
        "row_number" => Compute::RowNumber,
        "rank" => Compute::Rank,
        "dense_rank" => Compute::DenseRank,
        "percent_rank" => Compute::PercentRank,
        "cume_dist" => Compute::CumeDist,
        "ntile" => match whole(0, None)? {
            parts if parts > 0 => Compute::Ntile(parts),
            _ => return Err(refused("ntile takes a positive number of parts; change it")),
        },
        "lag" => Compute::Shift(whole(1, Some(1))?),
        "lead" => Compute::Shift(whole(1, Some(1))?.saturating_neg()),
        "first_value" | "first" => Compute::First,
        "last_value" | "last" => Compute::Last,
        "nth_value" => Compute::Nth(whole(1, None)?),
        "count" => Compute::Count,
        "sum" => Compute::Sum,
        "avg" | "mean" => Compute::Avg,
        "min" => Compute::Min,
        "max" => Compute::Max,
        other => {
            return Err(refused(format!(
                "polars has no {other} over an ordered window; DuckDB has it, over a dataset of `wavesieve convert`"
            )));
        }
    })
}

fn frame_of(frame: Option<&WindowFrame>, is_unordered: bool) -> Result<Frame, QueryError> {
    let Some(frame) = frame else {
        // Without an order all rows are equal.
        let end = if is_unordered { Bound::Open } else { Bound::At(0.0) };
        return Ok(Frame { is_rows: false, start: Bound::Open, end });
    };
    let is_rows = match frame.units {
        WindowFrameUnits::Rows => true,
        WindowFrameUnits::Range => false,
        WindowFrameUnits::Groups => {
            return Err(refused(
                "polars has no frames of GROUPS; DuckDB has them, over a dataset of `wavesieve convert`",
            ));
        }
    };
    let wrong = || refused("the ends of a frame are literal numbers; write literals");
    let bound = |bound: &WindowFrameBound| -> Result<Bound, QueryError> {
        let distance = |expr: &Expr| match expr {
            Expr::Value(value) => match &value.value {
                Value::Number(digits, _) => digits.parse::<f64>().map_err(|_| wrong()),
                _ => Err(wrong()),
            },
            _ => Err(wrong()),
        };
        Ok(match bound {
            WindowFrameBound::CurrentRow => Bound::At(0.0),
            WindowFrameBound::Preceding(None) | WindowFrameBound::Following(None) => Bound::Open,
            WindowFrameBound::Preceding(Some(expr)) => Bound::At(-distance(expr)?),
            WindowFrameBound::Following(Some(expr)) => Bound::At(distance(expr)?),
        })
    };
    let start = bound(&frame.start_bound)?;
    let end = frame.end_bound.as_ref().map_or(Ok(Bound::At(0.0)), bound)?;
    Ok(Frame { is_rows, start, end })
}
