//! The unit of an expression: it follows the expression, and a name counts only if the expression leaves it open.

use sqlparser::ast::{
    BinaryOperator, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments,
    Ident, UnaryOperator, Value,
};

use super::declarations::ColumnUnit;
use wavesieve_model::schema::{Column, ColumnType, Unit};

/// Meaning of the values of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// In a unit, or certainly without a unit that a name could suggest.
    In(ColumnUnit),
    /// A literal number, which takes the unit of the value that it is added to or chosen with.
    Constant,
    /// Unknown: a name that ends in a unit determines it.
    Open,
}

use Meaning::{Constant, In, Open};

/// Functions that keep the meaning of their first argument.
const KEEP: &[&str] = &[
    "min",
    "max",
    "median",
    "quantile",
    "quantile_cont",
    "quantile_disc",
    "percentile_cont",
    "percentile_disc",
    "first",
    "last",
    "any_value",
    "first_value",
    "last_value",
    "nth_value",
    "lag",
    "lead",
    "arg_max",
    "arg_min",
    "max_by",
    "min_by",
    "mode",
    "upper",
    "lower",
    "substr",
    "substring",
    "left",
    "right",
    "replace",
    "regexp_replace",
    "regexp_extract",
    "trim",
    "split_part",
];

/// Functions that keep a measure, but do not keep identifiers.
const KEEP_MEASURE: &[&str] = &["avg", "mean", "abs", "round", "floor", "ceil", "ceiling", "trunc"];

/// Functions whose arguments all have the same meaning.
const CHOOSE: &[&str] = &["coalesce", "ifnull", "nullif", "greatest", "least"];

/// Functions that count.
const COUNT: &[&str] = &[
    "count",
    "count_if",
    "countif",
    "row_number",
    "rank",
    "dense_rank",
    "ntile",
    "length",
    "len",
    "strlen",
    "strpos",
    "sign",
];

/// Functions whose values have no unit, or a square of one.
const PLAIN: &[&str] = &[
    "variance",
    "var",
    "var_samp",
    "var_pop",
    "corr",
    "covar_samp",
    "covar_pop",
    "percent_rank",
    "cume_dist",
    "sqrt",
    "ln",
    "log",
    "log2",
    "log10",
    "exp",
];

impl Meaning {
    /// Meaning of the values in a column of a canonical table.
    pub fn of_column(column: &Column) -> Self {
        let by_name = || ColumnUnit::of_name(column.name);
        match column.unit {
            Unit::Nanoseconds if is_instant(column.name) => In(ColumnUnit::Instant),
            Unit::Nanoseconds => In(ColumnUnit::Nanoseconds),
            Unit::Bytes => In(ColumnUnit::Bytes),
            Unit::Id => In(ColumnUnit::Id),
            Unit::None if matches!(column.column_type, ColumnType::Str | ColumnType::Cat | ColumnType::Bool) => {
                In(by_name().filter(|unit| *unit == ColumnUnit::Name).unwrap_or(ColumnUnit::Text))
            }
            Unit::None => by_name().map_or(Open, In),
            _ => In(ColumnUnit::Count),
        }
    }

    /// The unit in which a column is shown. A name given in the statement counts if the expression is open; a name derived from the
    /// expression does not.
    pub fn unit(self, name: &str, is_given: bool) -> ColumnUnit {
        match self {
            In(unit) => unit,
            Constant | Open => ColumnUnit::of_name(name).filter(|_| is_given).unwrap_or(ColumnUnit::Text),
        }
    }

    /// Common meaning of values from two sources.
    pub fn united(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Constant, other) | (other, Constant) => other,
            _ => Open,
        }
    }

    fn as_measure(self) -> Self {
        match self {
            In(ColumnUnit::Id | ColumnUnit::Name | ColumnUnit::Text) => Open,
            other => other,
        }
    }
}

/// Whether a column of canonical tables holds points in time.
fn is_instant(name: &str) -> bool {
    ["start_ns", "end_ns", "time_ns"].iter().any(|ending| name.ends_with(ending))
        && ["duration", "idle_time", "busy_time"].iter().all(|word| !name.contains(word))
}

/// Meaning of an expression; `columns` returns the meaning of identifiers.
pub fn meaning(expr: &Expr, columns: &dyn Fn(&[Ident]) -> Meaning) -> Meaning {
    let of = |expr: &Expr| meaning(expr, columns);
    match expr {
        Expr::Identifier(name) => columns(std::slice::from_ref(name)),
        Expr::CompoundIdentifier(parts) => columns(parts),
        Expr::Nested(inner) => of(inner),
        Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr } => of(expr).as_measure(),
        Expr::Value(value) => match &value.value {
            Value::Number(..) | Value::Null | Value::Placeholder(_) => Constant,
            _ => In(ColumnUnit::Text),
        },
        Expr::BinaryOp { left, op, right } => binary(of(left), op, of(right)),
        Expr::Cast { expr, data_type, .. } if is_number(data_type) => of(expr),
        Expr::Cast { .. } => In(ColumnUnit::Text),
        Expr::Ceil { expr, .. } | Expr::Floor { expr, .. } => of(expr).as_measure(),
        Expr::Substring { expr, .. } | Expr::Trim { expr, .. } => of(expr),
        Expr::Case { conditions, else_result, .. } => {
            let results = conditions.iter().map(|branch| &branch.result).chain(else_result.as_deref());
            chosen(results.map(of))
        }
        Expr::Function(function) => of_function(function, columns),
        Expr::IsNull(_) | Expr::IsNotNull(_) | Expr::InList { .. } | Expr::Between { .. } | Expr::Like { .. } => {
            In(ColumnUnit::Text)
        }
        _ => Open,
    }
}

/// The meaning of a value chosen from several.
fn chosen(all: impl Iterator<Item = Meaning>) -> Meaning {
    all.reduce(Meaning::united).unwrap_or(Open)
}

fn binary(left: Meaning, op: &BinaryOperator, right: Meaning) -> Meaning {
    use ColumnUnit::{Instant, Nanoseconds};
    match (op, left, right) {
        (BinaryOperator::Minus, In(Instant), In(Instant)) => In(Nanoseconds),
        (BinaryOperator::Plus, In(Instant), In(Instant)) => Open,
        (BinaryOperator::Plus | BinaryOperator::Minus, In(Instant), In(Nanoseconds) | Constant) => In(Instant),
        (BinaryOperator::Plus, In(Nanoseconds) | Constant, In(Instant)) => In(Instant),
        (BinaryOperator::Plus | BinaryOperator::Minus, one, other) => one.united(other).as_measure(),
        (BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::Modulo, Constant, Constant) => Constant,
        (BinaryOperator::StringConcat, ..)
        | (BinaryOperator::Eq | BinaryOperator::NotEq | BinaryOperator::And | BinaryOperator::Or, ..)
        | (BinaryOperator::Lt | BinaryOperator::LtEq | BinaryOperator::Gt | BinaryOperator::GtEq, ..) => {
            In(ColumnUnit::Text)
        }
        _ => Open,
    }
}

fn of_function(function: &Function, columns: &dyn Fn(&[Ident]) -> Meaning) -> Meaning {
    let name = function.name.to_string().to_lowercase();
    let name = name.as_str();
    let arguments = arguments(function);
    let of = |expr: &&Expr| meaning(expr, columns);
    // An ordered-set function computes from its order.
    let ordered = function.within_group.first().map(|order| &order.expr);
    let first = || ordered.or(arguments.first().copied()).map_or(Open, |expr| of(&expr));
    if COUNT.contains(&name) {
        return In(ColumnUnit::Count);
    }
    if PLAIN.contains(&name) {
        return In(ColumnUnit::Number);
    }
    match name {
        "sum" | "total" => match first().as_measure() {
            In(ColumnUnit::Instant) => Open,
            other => other,
        },
        // The spread of points in time is a duration.
        "stddev" | "stddev_samp" | "stddev_pop" | "stdev" => match first().as_measure() {
            In(ColumnUnit::Instant) => In(ColumnUnit::Nanoseconds),
            other => other,
        },
        "if" | "iff" => chosen(arguments.iter().skip(1).map(of)),
        _ if KEEP.contains(&name) => first(),
        _ if KEEP_MEASURE.contains(&name) => first().as_measure(),
        _ if CHOOSE.contains(&name) => chosen(arguments.iter().map(of)),
        _ => Open,
    }
}

/// The arguments of a function that are expressions.
pub fn arguments(function: &Function) -> Vec<&Expr> {
    let FunctionArguments::List(list) = &function.args else { return Vec::new() };
    list.args
        .iter()
        .filter_map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
            _ => None,
        })
        .collect()
}

/// Clauses within the parentheses of a function.
pub fn clauses(function: &Function) -> &[FunctionArgumentClause] {
    match &function.args {
        FunctionArguments::List(list) => &list.clauses,
        _ => &[],
    }
}

fn is_number(data_type: &DataType) -> bool {
    let name = data_type.to_string().to_lowercase();
    ["int", "float", "double", "real", "decimal", "numeric", "number"].iter().any(|word| name.contains(word))
}
