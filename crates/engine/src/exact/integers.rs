//! Integer arithmetic that fails on overflow, where polars wraps around.

use polars::prelude::{ChunkAgg, Column, DataType, Int64Chunked, IntoColumn, PolarsError, PolarsResult, arity};
use polars_plan::dsl::Operator;

use super::place;

/// An operation on two whole numbers, or on one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a * b`
    Multiply,
    /// `abs(a)`
    Absolute,
}

impl Operation {
    /// The operation of a polars operator, if it can overflow.
    pub(crate) fn from_operator(operator: Operator) -> Option<Self> {
        match operator {
            Operator::Plus => Some(Self::Add),
            Operator::Minus => Some(Self::Subtract),
            Operator::Multiply => Some(Self::Multiply),
            _ => None,
        }
    }

    /// The result modulo 2^64, and whether it overflowed.
    fn wrapped(self, left: i64, right: i64) -> (i64, bool) {
        match self {
            Self::Add => left.overflowing_add(right),
            Self::Subtract => left.overflowing_sub(right),
            Self::Multiply => left.overflowing_mul(right),
            Self::Absolute => left.overflowing_abs(),
        }
    }

    fn written(self, left: i64, right: i64) -> String {
        match self {
            Self::Add => format!("{left} + {right}"),
            // polars represents a sign as a difference.
            Self::Subtract if left == 0 => format!("-({right})"),
            Self::Subtract => format!("{left} - {right}"),
            Self::Multiply => format!("{left} * {right}"),
            Self::Absolute => format!("abs({left})"),
        }
    }

    /// Computes the operation on two columns, one of which may have one row. The columns after them are the conditions around it in a CASE.
    /// polars computes all branches for all rows, but only taken branches count: those whose conditions equal `taken`.
    ///
    /// # Errors
    /// When a result that counts overflows the type.
    pub fn compute(self, columns: &[Column], taken: &[bool], data_type: &DataType) -> PolarsResult<Column> {
        let [left, rest @ ..] = columns else { return Err(beyond("a number")) };
        let (right, conditions) = match rest {
            [right, conditions @ ..] if self != Self::Absolute => (right, conditions),
            conditions => (left, conditions),
        };
        let (left, right) = (whole(left)?, whole(right)?);
        let values: Int64Chunked = match self {
            Self::Add => &left + &right,
            Self::Subtract => &left - &right,
            Self::Multiply => &left * &right,
            Self::Absolute => arity::unary_elementwise_values(&left, i64::wrapping_abs),
        };
        if self.may_wrap(&left, &right) {
            self.refuse_taken(&left, &right, conditions, taken, values.len())?;
        }
        let values = values.with_name(left.name().clone()).into_column();
        if *data_type == DataType::Int64 {
            return Ok(values);
        }
        values.strict_cast(data_type).map_err(|_| beyond(&format!("a result of {}", name(self))))
    }

    /// Whether any result could wrap around: the extreme results come from the extreme values of both sides.
    fn may_wrap(self, left: &Int64Chunked, right: &Int64Chunked) -> bool {
        let ends = |numbers: &Int64Chunked| Some([numbers.min()?, numbers.max()?]);
        let (Some(left), Some(right)) = (ends(left), ends(right)) else { return false };
        left.iter().any(|left| right.iter().any(|right| self.wrapped(*left, *right).1))
    }

    /// Fails if a result that counts wrapped around. Missing values and branches that are not taken do not count.
    fn refuse_taken(
        self,
        left: &Int64Chunked,
        right: &Int64Chunked,
        conditions: &[Column],
        taken: &[bool],
        height: usize,
    ) -> PolarsResult<()> {
        let conditions: Vec<_> = conditions.iter().map(Column::bool).collect::<PolarsResult<_>>()?;
        for at in 0..height {
            let is_taken = conditions
                .iter()
                .zip(taken)
                .all(|(condition, wanted)| (condition.get(place(at, condition.len())) == Some(true)) == *wanted);
            let (left, right) = (left.get(place(at, left.len())), right.get(place(at, right.len())));
            if let (true, Some(left), Some(right)) = (is_taken, left, right)
                && self.wrapped(left, right).1
            {
                return Err(beyond(&self.written(left, right)));
            }
        }
        Ok(())
    }
}

fn name(operation: Operation) -> &'static str {
    match operation {
        Operation::Add => "an addition",
        Operation::Subtract => "a subtraction",
        Operation::Multiply => "a multiplication",
        Operation::Absolute => "abs",
    }
}

fn whole(column: &Column) -> PolarsResult<Int64Chunked> {
    let column = column.strict_cast(&DataType::Int64).map_err(|_| beyond(&format!("a value of {}", column.name())))?;
    Ok(column.i64()?.clone())
}

fn beyond(what: &str) -> PolarsError {
    let reason = format!("{what} overflows 64-bit integers; cast an operand to DOUBLE");
    PolarsError::ComputeError(reason.into())
}

#[cfg(test)]
mod tests {
    use polars::prelude::{BooleanChunked, IntoSeries, NewChunkedArray, PlSmallStr};

    use super::*;

    fn column(values: &[Option<i64>]) -> Column {
        Int64Chunked::from_slice_options(PlSmallStr::EMPTY, values).into_series().into_column()
    }

    fn computed(operation: Operation, columns: &[Column], taken: &[bool]) -> Result<Vec<Option<i64>>, String> {
        let column = operation.compute(columns, taken, &DataType::Int64).map_err(|error| error.to_string())?;
        Ok(column.i64().unwrap().iter().collect())
    }

    #[test]
    fn results_are_exact_or_refused() {
        let values = [column(&[Some(i64::MAX), None, Some(-5)]), column(&[Some(-1), Some(3), Some(7)])];
        assert_eq!(computed(Operation::Add, &values, &[]), Ok(vec![Some(i64::MAX - 1), None, Some(2)]));
        assert_eq!(computed(Operation::Multiply, &values, &[]), Ok(vec![Some(-i64::MAX), None, Some(-35)]));
        let refused = computed(Operation::Subtract, &values, &[]).unwrap_err();
        assert!(refused.contains("9223372036854775807 - -1 overflows") && refused.contains("DOUBLE"), "{refused}");
        let least = column(&[Some(i64::MIN)]);
        assert!(
            computed(Operation::Absolute, std::slice::from_ref(&least), &[])
                .unwrap_err()
                .contains("abs(-9223372036854775808)")
        );
        assert!(computed(Operation::Subtract, &[column(&[Some(0)]), least], &[]).unwrap_err().contains("-(-92233"));
    }

    #[test]
    fn one_row_stands_for_all() {
        let values = column(&[Some(1), Some(2), None]);
        let two = column(&[Some(2)]);
        assert_eq!(computed(Operation::Multiply, &[two, values], &[]), Ok(vec![Some(2), Some(4), None]));
    }

    #[test]
    fn branches_that_are_not_taken_do_not_count() {
        let values = column(&[Some(i64::MAX), Some(3)]);
        let is_small = BooleanChunked::from_slice(PlSmallStr::EMPTY, &[false, true]).into_series().into_column();
        let columns = [values.clone(), values, is_small];
        assert!(computed(Operation::Multiply, &columns, &[true]).is_ok());
        assert!(computed(Operation::Multiply, &columns, &[false]).is_err());
    }
}
