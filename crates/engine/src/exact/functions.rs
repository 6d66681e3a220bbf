//! Functions that polars calls in place of its own sums, means and divisions.

use std::sync::Arc;

use polars::prelude::{
    Column, DataType, Field, Float64Chunked, Int64Chunked, IntoColumn, NewChunkedArray, PlSmallStr, PolarsError,
    PolarsResult, Schema, arity,
};
use polars_plan::dsl::{AnonymousColumnsUdf, ColumnsUdf};

use super::floats::{mean, ratio, sum, variance};
use super::integers::Operation;

/// High halves of integers are multiples of this, and low halves are below it. Sums of fewer than 2^31 halves fit in 64 bits.
pub const HALF: i64 = 1 << 32;

/// A function of columns.
#[derive(Clone, Debug)]
pub enum Function {
    /// The sum of the sums of the high and the low halves of integers, as an integer of a type. Fails if the sum overflows that type.
    Sum(DataType),
    /// The mean from the sums of the high and the low halves of integers, and their number.
    Mean,
    /// The quotient of two numbers as floats.
    Quotient,
    /// The result, in a type, of an operation on one or two integers. The other columns are the conditions of the branches around it. A row
    /// counts if each condition has the value given here.
    Whole(Operation, DataType, Vec<bool>),
    /// The sum of floats.
    FloatSum,
    FloatMean,
    /// The variance of numbers, with the degrees of freedom that are lost.
    Variance(u8),
    /// The standard deviation of numbers, with the degrees of freedom that are lost.
    Deviation(u8),
}

impl Function {
    /// Whether it computes one value from all rows.
    pub(crate) fn is_aggregate(&self) -> bool {
        matches!(self, Self::FloatSum | Self::FloatMean | Self::Variance(_) | Self::Deviation(_))
    }

    fn apply(&self, columns: &[Column]) -> PolarsResult<Column> {
        match (self, columns) {
            (Self::Whole(operation, data_type, taken), _) => operation.compute(columns, taken, data_type),
            (Self::Sum(data_type), [high, low]) => {
                let is_beyond = || {
                    let name = high.name();
                    let reason = format!("a sum of {name} is beyond 64 bits; sum CAST({name} AS DOUBLE) instead");
                    PolarsError::ComputeError(reason.into())
                };
                let whole = |high, low| i64::try_from(of_halves(high, low)).map_err(|_| is_beyond());
                let sums: Int64Chunked = arity::try_binary_elementwise(high.i64()?, low.i64()?, |high, low| {
                    high.zip(low).map(|(high, low)| whole(high, low)).transpose()
                })?;
                sums.into_column().strict_cast(data_type).map_err(|_| is_beyond())
            }
            (Self::Mean, [high, low, counts]) => {
                let counts = counts.cast(&DataType::Int64)?;
                let of_all = high.i64()?.iter().zip(low.i64()?.iter()).zip(counts.i64()?.iter());
                let means = of_all.map(|((high, low), count)| {
                    let count = u64::try_from(count?).ok().filter(|count| *count > 0)?;
                    Some(ratio(of_halves(high?, low?), count))
                });
                Ok(Float64Chunked::from_iter_options(high.name().clone(), means).into_column())
            }
            (Self::Quotient, [dividend, divisor]) => {
                let (dividend, divisor) = (dividend.cast(&DataType::Float64)?, divisor.cast(&DataType::Float64)?);
                let quotients: Float64Chunked = arity::broadcast_binary_elementwise_values(
                    dividend.f64()?,
                    divisor.f64()?,
                    |dividend: f64, divisor: f64| dividend / divisor,
                );
                Ok(quotients.with_name(dividend.name().clone()).into_column())
            }
            (_, [values]) => self.of_values(values),
            _ => Err(PolarsError::ComputeError("internal: a function with other columns than it takes".into())),
        }
    }

    fn of_values(&self, column: &Column) -> PolarsResult<Column> {
        let floats = column.cast(&DataType::Float64)?;
        let values: Vec<f64> = floats.f64()?.iter().flatten().collect();
        let values = values.iter().copied();
        let value = match self {
            Self::FloatSum => Some(sum(values)),
            Self::FloatMean => mean(values),
            Self::Variance(degrees) => variance(values, *degrees),
            Self::Deviation(degrees) => variance(values, *degrees).map(f64::sqrt),
            Self::Sum(_) | Self::Mean | Self::Quotient | Self::Whole(..) => None,
        };
        Ok(Float64Chunked::from_iter_options(column.name().clone(), std::iter::once(value)).into_column())
    }
}

/// The sum of high and low halves.
fn of_halves(high: i64, low: i64) -> i128 {
    i128::from(high) * i128::from(HALF) + i128::from(low)
}

impl ColumnsUdf for Function {
    fn call_udf(&self, columns: &mut [Column]) -> PolarsResult<Column> {
        self.apply(columns)
    }
}

impl AnonymousColumnsUdf for Function {
    fn as_column_udf(self: Arc<Self>) -> Arc<dyn ColumnsUdf> {
        self
    }

    fn deep_clone(self: Arc<Self>) -> Arc<dyn AnonymousColumnsUdf> {
        self
    }

    fn get_field(&self, _: &Schema, fields: &[Field]) -> PolarsResult<Field> {
        let name = fields.first().map_or(PlSmallStr::EMPTY, |field| field.name().clone());
        let data_type = match self {
            Self::Sum(data_type) | Self::Whole(_, data_type, _) => data_type.clone(),
            _ => DataType::Float64,
        };
        Ok(Field::new(name, data_type))
    }
}
