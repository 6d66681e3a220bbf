//! A value of each row of a table: a column, or computed from columns.

use std::collections::BTreeSet;

use sqlparser::ast::{
    BinaryOperator, CaseWhen, CastKind, DataType, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator,
    Value as Literal,
};

use wavesieve_model::schema::{ColumnType, Table};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueKind {
    /// 64-bit integers.
    Integer,
    /// True or false.
    Truth,
    /// Texts of a dictionary, or one text.
    Text,
    /// Floats, which are only compared or turned into integers: sums of floats depend on their order.
    Float,
}

/// A value of each row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value {
    /// The name of a column of the table, or an expression over columns.
    pub text: String,
    /// The columns that it is computed from.
    pub columns: BTreeSet<&'static str>,
    pub kind: ValueKind,
}

impl Value {
    /// A column of a table; `None` if the table has no such column, or if it has floats or plain texts.
    pub fn column(table: &'static Table, name: &str) -> Option<Self> {
        let column = table.column(name)?;
        let kind = match column.column_type {
            ColumnType::I64 => ValueKind::Integer,
            ColumnType::Cat => ValueKind::Text,
            ColumnType::Bool => ValueKind::Truth,
            ColumnType::F64 | ColumnType::Str => return None,
        };
        Some(Self { text: column.name.to_owned(), columns: BTreeSet::from([column.name]), kind })
    }

    /// Whether it must be computed from columns.
    pub(crate) fn is_computed(&self) -> bool {
        !self.columns.contains(self.text.as_str())
    }

    /// The value of an expression over the values that `resolve` knows by name. `None` if the result might differ from
    /// the engine's.
    pub(crate) fn from_expr(expr: &Expr, resolve: &dyn Fn(&Expr) -> Option<Self>) -> Option<Self> {
        let of = |expr: &Expr| Self::from_expr(expr, resolve);
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => resolve(expr),
            Expr::Nested(inner) => of(inner),
            Expr::Value(literal) => Self::of_literal(&literal.value),
            Expr::UnaryOp { op: UnaryOperator::Minus, expr } => of(expr)?.only(ValueKind::Integer)?.within("-(", ")"),
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => of(expr)?.only(ValueKind::Truth)?.within("NOT (", ")"),
            Expr::IsNull(expr) => of(expr)?.of_kind(ValueKind::Truth).within("(", ") IS NULL"),
            Expr::IsNotNull(expr) => of(expr)?.of_kind(ValueKind::Truth).within("(", ") IS NOT NULL"),
            Expr::Cast { expr, data_type: DataType::BigInt(None), kind: CastKind::Cast, .. } => {
                let cast = of(expr)?;
                match cast.kind {
                    ValueKind::Integer => Some(cast),
                    ValueKind::Float => cast.of_kind(ValueKind::Integer).within("CAST(", " AS BIGINT)"),
                    _ => None,
                }
            }
            Expr::Floor { expr: inner, .. } => {
                let floor = of(inner)?.only(ValueKind::Float)?.within("FLOOR(", ")")?;
                (expr.to_string() == format!("FLOOR({inner})")).then_some(floor)
            }
            Expr::Function(_) => Self::of_function(expr, &of),
            Expr::Cast { expr, data_type: DataType::Double(_), kind: CastKind::Cast, .. } => {
                let cast = of(expr)?;
                let is_number =
                    cast.kind == ValueKind::Integer || cast.kind == ValueKind::Text && cast.columns.is_empty();
                is_number.then(|| cast.of_kind(ValueKind::Float).within("CAST(", " AS DOUBLE)"))?
            }
            Expr::InList { expr, list, negated } => {
                let mut found = of(expr)?.only(ValueKind::Text)?;
                let texts: Vec<Self> = list.iter().map(of).collect::<Option<_>>()?;
                let are_constant = texts.iter().all(|text| text.columns.is_empty() && text.kind == ValueKind::Text);
                let texts: Vec<String> = texts.into_iter().map(|text| text.text).collect();
                let not = if *negated { "NOT " } else { "" };
                found.text = format!("{} {not}IN ({})", found.text, texts.join(", "));
                are_constant.then(|| found.of_kind(ValueKind::Truth))
            }
            Expr::BinaryOp { left, op, right } => {
                let (left, right) = (of(left)?, of(right)?);
                let kind = kind_of(op, left.kind, right.kind)?;
                let text = format!("({} {op} {})", left.text, right.text);
                Some(Self { text, columns: left.columns.into_iter().chain(right.columns).collect(), kind })
            }
            Expr::Case { operand: None, conditions, else_result, .. } => {
                Self::of_case(conditions, else_result.as_deref(), &of)
            }
            _ => None,
        }
    }

    fn of_function(expr: &Expr, of: &dyn Fn(&Expr) -> Option<Self>) -> Option<Self> {
        let (name, arguments) = called(expr)?;
        let is_known = matches!((name.as_str(), arguments.len()), ("LOG2", 1) | ("POWER", 2));
        let arguments: Vec<Self> =
            arguments.into_iter().map(|argument| of(argument)?.only(ValueKind::Float)).collect::<Option<_>>()?;
        let texts: Vec<&str> = arguments.iter().map(|argument| argument.text.as_str()).collect();
        let text = format!("{name}({})", texts.join(", "));
        let columns = arguments.into_iter().flat_map(|argument| argument.columns).collect();
        is_known.then_some(Self { text, columns, kind: ValueKind::Float })
    }

    fn of_literal(literal: &Literal) -> Option<Self> {
        let (text, kind) = match literal {
            Literal::Number(digits, _) => (digits.parse::<i64>().ok()?.to_string(), ValueKind::Integer),
            Literal::SingleQuotedString(_) => (literal.to_string(), ValueKind::Text),
            _ => return None,
        };
        Some(Self { text, columns: BTreeSet::new(), kind })
    }

    fn of_case(conditions: &[CaseWhen], otherwise: Option<&Expr>, of: &dyn Fn(&Expr) -> Option<Self>) -> Option<Self> {
        let mut text = "CASE".to_owned();
        let mut columns = BTreeSet::new();
        let mut part = |word: &str, expr: &Expr, kind: ValueKind| {
            let value = of(expr)?.only(kind)?;
            text += &format!(" {word} {}", value.text);
            columns.extend(value.columns);
            Some(())
        };
        for CaseWhen { condition, result } in conditions {
            part("WHEN", condition, ValueKind::Truth)?;
            part("THEN", result, ValueKind::Integer)?;
        }
        if let Some(otherwise) = otherwise {
            part("ELSE", otherwise, ValueKind::Integer)?;
        }
        text += " END";
        Some(Self { text, columns, kind: ValueKind::Integer })
    }

    /// The value, if it is of a kind.
    pub fn only(self, kind: ValueKind) -> Option<Self> {
        (self.kind == kind).then_some(self)
    }

    fn of_kind(self, kind: ValueKind) -> Self {
        Self { kind, ..self }
    }

    fn within(self, before: &str, after: &str) -> Option<Self> {
        Some(Self { text: format!("{before}{}{after}", self.text), ..self })
    }
}

/// The name of a function and its arguments, if the call has no other parts.
pub fn called(expr: &Expr) -> Option<(String, Vec<&Expr>)> {
    let Expr::Function(called) = expr else { return None };
    let FunctionArguments::List(list) = &called.args else { return None };
    let argument = |argument| match argument {
        &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref argument)) => Some(argument),
        _ => None,
    };
    let arguments: Vec<&Expr> = list.args.iter().map(argument).collect::<Option<_>>()?;
    // Written again from these parts it must be the same, or it has others.
    let name = called.name.to_string();
    let texts: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    (expr.to_string() == format!("{name}({})", texts.join(", "))).then_some((name, arguments))
}

/// Kind of the result of an operator. `None` if it does not take these kinds, or for a division, which engines round in different ways.
fn kind_of(operator: &BinaryOperator, left: ValueKind, right: ValueKind) -> Option<ValueKind> {
    use BinaryOperator as Op;
    let kind = (left == right).then_some(left)?;
    let is_number = matches!(kind, ValueKind::Integer | ValueKind::Float);
    match operator {
        Op::Plus | Op::Minus | Op::Multiply if is_number => Some(kind),
        Op::Modulo if kind == ValueKind::Integer => Some(kind),
        Op::Lt | Op::LtEq | Op::Gt | Op::GtEq if is_number => Some(ValueKind::Truth),
        Op::Eq | Op::NotEq if is_number || kind == ValueKind::Text => Some(ValueKind::Truth),
        Op::And | Op::Or if kind == ValueKind::Truth => Some(ValueKind::Truth),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use sqlparser::dialect::GenericDialect;
    use sqlparser::parser::Parser;

    use super::*;
    use wavesieve_model::schema::table;

    fn value(sql: &str) -> Option<Value> {
        let expr = Parser::new(&GenericDialect {}).try_with_sql(sql).unwrap().parse_expr().unwrap();
        Value::from_expr(&expr, &|name| Value::column(table("kernels").unwrap(), &name.to_string()))
    }

    #[test]
    fn what_is_taken_of_rows() {
        let texts = [
            ("duration_ns", "duration_ns", ValueKind::Integer),
            ("end_ns - start_ns * 2", "(end_ns - (start_ns * 2))", ValueKind::Integer),
            ("duration_ns - duration_ns % 8", "(duration_ns - (duration_ns % 8))", ValueKind::Integer),
            ("CASE WHEN valid THEN 1 END", "CASE WHEN valid THEN 1 END", ValueKind::Integer),
            (
                "CASE WHEN CAST(duration_ns AS DOUBLE) < CAST('10' AS DOUBLE) * CAST(1000 AS DOUBLE) THEN 1 ELSE 0 END",
                "CASE WHEN (CAST(duration_ns AS DOUBLE) < (CAST('10' AS DOUBLE) * CAST(1000 AS DOUBLE))) THEN 1 ELSE 0 END",
                ValueKind::Integer,
            ),
            ("category = 'a' AND gpu IS NULL", "((category = 'a') AND (gpu) IS NULL)", ValueKind::Truth),
            (
                "CAST(FLOOR(LOG2(CAST(duration_ns AS DOUBLE))) AS BIGINT)",
                "CAST(FLOOR(LOG2(CAST(duration_ns AS DOUBLE))) AS BIGINT)",
                ValueKind::Integer,
            ),
            ("category NOT IN ('a', 'b')", "category NOT IN ('a', 'b')", ValueKind::Truth),
        ];
        for (sql, text, kind) in texts {
            let value = value(sql).unwrap();
            assert_eq!((value.text.as_str(), value.kind, value.is_computed()), (text, kind, sql != "duration_ns"));
        }
        assert_eq!(value("end_ns - start_ns").unwrap().columns, BTreeSet::from(["end_ns", "start_ns"]));
        assert!(value("1").unwrap().is_computed());
    }

    #[test]
    fn what_is_left_to_the_engine() {
        for sql in [
            "duration_ns / 2",
            "COALESCE(gpu, 0)",
            "unknown",
            "category || 'a'",
            "CASE gpu WHEN 1 THEN 2 END",
            "CASE WHEN valid THEN category END",
            "duration_ns > CAST(1 AS DOUBLE)",
            "1.5",
            "category < 'a'",
            "CAST(duration_ns AS VARCHAR)",
            "FLOOR(duration_ns)",
            "TRY_CAST(LOG2(CAST(duration_ns AS DOUBLE)) AS BIGINT)",
            "TRY_CAST(duration_ns AS DOUBLE) > CAST('1' AS DOUBLE)",
            "POWER(CAST(duration_ns AS DOUBLE))",
            "SQRT(CAST(duration_ns AS DOUBLE))",
            "LAG(start_ns) OVER (ORDER BY start_ns)",
        ] {
            assert_eq!(value(sql), None, "{sql}");
        }
    }
}
