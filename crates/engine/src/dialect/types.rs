//! Types of numbers: targets of casts, and result types of expressions in DuckDB, where a literal with a point is a decimal.

use sqlparser::ast::{BinaryOperator, DataType, Expr, Value};

use super::functions::name_of;
use super::scope::Scope;
use crate::units::arguments;
use wavesieve_model::schema::ColumnType;

/// A type of whole numbers of at most 64 bits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct IntegerType {
    pub name: &'static str,
    /// Other names of it.
    others: &'static [&'static str],
    /// The smallest number.
    pub least: i64,
    /// The largest number; for unsigned 64-bit integers, the largest that polars has here.
    pub greatest: i64,
}

const fn whole(name: &'static str, others: &'static [&'static str], least: i64, greatest: i64) -> IntegerType {
    IntegerType { name, others, least, greatest }
}

const WHOLE: &[IntegerType] = &[
    whole("TINYINT", &["INT1"], i8::MIN as i64, i8::MAX as i64),
    whole("SMALLINT", &["INT2", "SHORT", "INT16"], i16::MIN as i64, i16::MAX as i64),
    whole("INTEGER", &["INT", "INT4", "SIGNED", "INT32"], i32::MIN as i64, i32::MAX as i64),
    whole("BIGINT", &["INT8", "LONG", "INT64"], i64::MIN, i64::MAX),
    whole("UTINYINT", &["UINT8"], 0, u8::MAX as i64),
    whole("USMALLINT", &["UINT16"], 0, u16::MAX as i64),
    whole("UINTEGER", &["UINT32"], 0, u32::MAX as i64),
    whole("UBIGINT", &["UINT64"], 0, i64::MAX),
];

/// The integer type with this name.
pub(crate) fn whole_named(name: &str) -> Option<&'static IntegerType> {
    WHOLE.iter().find(|whole| whole.name == name || whole.others.contains(&name))
}

/// The integer type that an SQL type names, if it is one.
pub(crate) fn whole_type(data_type: &DataType) -> Option<&'static IntegerType> {
    whole_named(&data_type.to_string().to_uppercase())
}

/// Whether values can be cast to a type.
pub(crate) fn is_known_type(data_type: &DataType) -> bool {
    let is_other = matches!(
        data_type,
        DataType::Double(_)
            | DataType::DoublePrecision
            | DataType::Float(_)
            | DataType::Float4
            | DataType::Float8
            | DataType::Real
            | DataType::Varchar(_)
            | DataType::CharVarying(_)
            | DataType::Char(_)
            | DataType::Text
            | DataType::String(_)
            | DataType::Bool
            | DataType::Boolean
    );
    is_other || whole_type(data_type).is_some()
}

/// Kind of the numbers of an expression in DuckDB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Whole.
    IntegerType,
    /// With a fixed number of digits after the point.
    Decimal,
    Float,
    /// Unknown, or not a number.
    Open,
}

use Number::{Decimal, Float, Open};

/// Functions whose result has the kind of their first argument.
const OF_FIRST: &[&str] = &[
    "abs",
    "any_value",
    "arg_max",
    "arg_min",
    "first",
    "first_value",
    "lag",
    "last",
    "last_value",
    "lead",
    "max",
    "max_by",
    "min",
    "min_by",
    "mod",
    "nth_value",
    "nullif",
    "quantile",
    "quantile_disc",
    "round",
    "sum",
];

impl Number {
    /// Kind of the numbers in a column of a canonical table.
    pub fn of_column(column_type: ColumnType) -> Self {
        match column_type {
            ColumnType::I64 => Self::IntegerType,
            ColumnType::F64 => Float,
            _ => Open,
        }
    }

    /// Kind that results from numbers of two kinds.
    pub fn with(self, other: Self) -> Self {
        match (self, other) {
            (Open, _) | (_, Open) => Open,
            (Float, _) | (_, Float) => Float,
            (Decimal, _) | (_, Decimal) => Decimal,
            (Self::IntegerType, Self::IntegerType) => Self::IntegerType,
        }
    }

    /// Common kind of the expressions for the values of one column.
    pub fn of_all<'a>(all: impl Iterator<Item = &'a Expr>, scope: &Scope) -> Self {
        // A missing value is of any kind.
        let is_missing = |expr: &&Expr| matches!(expr, Expr::Value(value) if value.value == Value::Null);
        let mut all = all.filter(|expr| !is_missing(expr));
        let Some(first) = all.next() else { return Open };
        all.fold(Self::infer(first, scope), |number, expr| number.with(Self::infer(expr, scope)))
    }

    /// Kind of the numbers that an expression over the columns of a scope returns.
    pub fn infer(expr: &Expr, scope: &Scope) -> Self {
        match expr {
            Expr::Nested(inner) | Expr::UnaryOp { expr: inner, .. } => Self::infer(inner, scope),
            Expr::Value(value) => match &value.value {
                Value::Number(digits, _) if digits.contains(['e', 'E']) => Float,
                Value::Number(digits, _) if digits.contains('.') => Decimal,
                Value::Number(..) => Self::IntegerType,
                _ => Open,
            },
            Expr::Identifier(name) => scope.number(std::slice::from_ref(name)),
            Expr::CompoundIdentifier(parts) => scope.number(parts),
            Expr::BinaryOp { left, op, right } => match op {
                BinaryOperator::Plus
                | BinaryOperator::Minus
                | BinaryOperator::Multiply
                | BinaryOperator::Modulo
                | BinaryOperator::DuckIntegerDivide
                | BinaryOperator::MyIntegerDivide => Self::infer(left, scope).with(Self::infer(right, scope)),
                BinaryOperator::Divide => Float,
                _ => Open,
            },
            Expr::Cast { data_type, .. } if whole_type(data_type).is_some() => Self::IntegerType,
            Expr::Cast { data_type: DataType::Double(_) | DataType::Float(_) | DataType::Real, .. } => Float,
            Expr::Case { conditions, else_result, .. } => {
                let results = conditions.iter().map(|branch| &branch.result);
                Self::of_all(results.chain(else_result.as_deref()), scope)
            }
            Expr::Function(function) => {
                let given = arguments(function);
                let first = given.first().map_or(Open, |first| Self::infer(first, scope));
                match name_of(function).as_str() {
                    "count" | "length" => Self::IntegerType,
                    "median" | "quantile_cont" => {
                        if first == Decimal {
                            Decimal
                        } else {
                            Float
                        }
                    }
                    name if OF_FIRST.contains(&name) => first,
                    "coalesce" | "ifnull" | "greatest" | "least" => Self::of_all(given.into_iter(), scope),
                    "if" => Self::of_all(given.into_iter().skip(1), scope),
                    _ => Open,
                }
            }
            _ => Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::functions::expression;

    fn number(text: &str) -> Number {
        Number::infer(&expression(text).unwrap(), &Scope::default())
    }

    #[test]
    fn literals_with_a_point_are_decimals() {
        for (text, expected) in [
            ("2.5", Decimal),
            ("-(2.5 + 1)", Decimal),
            ("2.5e0 + 1.5", Float),
            ("5 / 2", Float),
            ("2 * 3", Number::IntegerType),
            ("CASE WHEN true THEN 1 ELSE 1.5 END", Decimal),
            ("round(2.5 * 3, 1)", Decimal),
            ("CAST(2.5 AS DOUBLE)", Float),
            ("coalesce(NULL, 2.5)", Decimal),
            ("median(2)", Float),
            ("sqrt(2.5)", Open),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
    }

    #[test]
    fn types_have_several_names() {
        let name = |text: &str| match expression(&format!("CAST(1 AS {text})")) {
            Some(Expr::Cast { data_type, .. }) => whole_type(&data_type).map(|whole| whole.name),
            _ => None,
        };
        assert_eq!(
            ["int", "INTEGER", "int8", "TINYINT"].map(name),
            ["INTEGER", "INTEGER", "BIGINT", "TINYINT"].map(Some)
        );
        assert_eq!(["DOUBLE", "HUGEINT"].map(name), [None, None]);
    }
}
