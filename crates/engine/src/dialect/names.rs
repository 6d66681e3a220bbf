//! Names of columns without an alias: the expression, written as DuckDB writes it.

use sqlparser::ast::{
    BinaryOperator, CastKind, DataType, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentClause, FunctionArguments, Ident, OrderByExpr, UnaryOperator, Value, WindowFrame, WindowFrameBound,
    WindowFrameUnits, WindowSpec, WindowType,
};

use super::keywords::quoted;
use crate::units::clauses;

/// An expression as the name of its column.
pub fn name_of(expr: &Expr) -> String {
    match expr {
        Expr::Identifier(name) => name.value.clone(),
        Expr::CompoundIdentifier(parts) => parts.last().map(|name| name.value.clone()).unwrap_or_default(),
        Expr::Nested(inner) => name_of(inner),
        other => written(other),
    }
}

fn written(expr: &Expr) -> String {
    match expr {
        Expr::Identifier(name) => identifier(name),
        Expr::CompoundIdentifier(parts) => parts.iter().map(identifier).collect::<Vec<_>>().join("."),
        Expr::Nested(inner) => written(inner),
        Expr::Value(value) => literal(&value.value),
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => format!("(NOT {})", written(expr)),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match expr.as_ref() {
            Expr::Value(value) => format!("-{}", literal(&value.value)),
            other => format!("(-({}))", written(other)),
        },
        Expr::UnaryOp { op, expr } => format!("({op}({}))", written(expr)),
        Expr::BinaryOp { left, op: op @ (BinaryOperator::And | BinaryOperator::Or), right } => {
            let mut parts = Vec::new();
            flatten(left, op, &mut parts);
            flatten(right, op, &mut parts);
            format!("({})", parts.join(&format!(" {op} ")))
        }
        Expr::BinaryOp { left, op: op @ (BinaryOperator::PGRegexMatch | BinaryOperator::PGRegexNotMatch), right } => {
            let is_negated = *op == BinaryOperator::PGRegexNotMatch;
            negation(format!("regexp_matches({}, {})", written(left), written(right)), is_negated)
        }
        Expr::BinaryOp { left, op, right } => {
            let op = if *op == BinaryOperator::NotEq { "!=".to_owned() } else { op.to_string() };
            format!("({} {op} {})", written(left), written(right))
        }
        Expr::IsNull(inner) => format!("({} IS NULL)", written(inner)),
        Expr::IsNotNull(inner) => format!("({} IS NOT NULL)", written(inner)),
        Expr::IsTrue(inner) => truth(inner, "NOT DISTINCT FROM true"),
        Expr::IsFalse(inner) => truth(inner, "NOT DISTINCT FROM false"),
        Expr::IsNotTrue(inner) => truth(inner, "DISTINCT FROM true"),
        Expr::IsNotFalse(inner) => truth(inner, "DISTINCT FROM false"),
        Expr::IsDistinctFrom(one, other) => format!("({} IS DISTINCT FROM {})", written(one), written(other)),
        Expr::IsNotDistinctFrom(one, other) => format!("({} IS NOT DISTINCT FROM {})", written(one), written(other)),
        Expr::InList { expr, list, negated } => {
            negation(format!("({} IN ({}))", written(expr), all(list.iter())), *negated)
        }
        Expr::Between { expr, negated, low, high } => {
            negation(format!("({} BETWEEN {} AND {})", written(expr), written(low), written(high)), *negated)
        }
        Expr::Like { negated, expr, pattern, escape_char: Some(escape), .. } => {
            negation(format!("like_escape({}, {}, {escape})", written(expr), written(pattern)), *negated)
        }
        Expr::ILike { negated, expr, pattern, escape_char: Some(escape), .. } => {
            negation(format!("ilike_escape({}, {}, {escape})", written(expr), written(pattern)), *negated)
        }
        Expr::Like { negated, expr, pattern, .. } => pattern_match(expr, pattern, *negated, ""),
        Expr::ILike { negated, expr, pattern, .. } => pattern_match(expr, pattern, *negated, "*"),
        Expr::SimilarTo { negated, expr, pattern, .. } => {
            negation(format!("regexp_full_match({}, {})", written(expr), written(pattern)), *negated)
        }
        Expr::IsUnknown(inner) => format!("({} IS NULL)", written(inner)),
        Expr::IsNotUnknown(inner) => format!("({} IS NOT NULL)", written(inner)),
        Expr::Case { operand, conditions, else_result, .. } => {
            let mut text = "CASE ".to_owned();
            for branch in conditions {
                let condition = written(&branch.condition);
                let condition = operand
                    .as_ref()
                    .map_or(condition.clone(), |operand| format!("({} = {condition})", written(operand)));
                text += &format!(" WHEN ({condition}) THEN ({})", written(&branch.result));
            }
            let other = else_result.as_ref().map_or("NULL".to_owned(), |other| written(other));
            format!("{text} ELSE {other} END")
        }
        Expr::Cast { kind, expr, data_type, .. } => {
            let word = if *kind == CastKind::TryCast { "TRY_CAST" } else { "CAST" };
            format!("{word}({} AS {})", written(expr), type_name(data_type))
        }
        Expr::Ceil { expr, .. } => format!("ceil({})", written(expr)),
        Expr::Floor { expr, .. } => format!("floor({})", written(expr)),
        Expr::Substring { expr, substring_from, substring_for, shorthand, .. } => {
            let name = if *shorthand { "substr" } else { "\"substring\"" };
            let start = substring_from.as_ref().map_or("1".to_owned(), |start| written(start));
            let length = substring_for.as_ref().map(|length| written(length));
            let parts = [Some(written(expr)), Some(start), length];
            format!("{name}({})", parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
        }
        Expr::Trim { expr, trim_what, trim_characters, .. } => {
            let what = trim_what.as_deref().or(trim_characters.as_ref().and_then(|characters| characters.first()));
            format!("\"trim\"({})", all([Some(expr.as_ref()), what].into_iter().flatten()))
        }
        Expr::Position { expr, r#in } => format!("\"position\"({}, {})", written(r#in), written(expr)),
        Expr::Exists { subquery, negated } => negation(format!("EXISTS({subquery})"), *negated),
        Expr::Function(function) => call(function),
        other => other.to_string(),
    }
}

fn identifier(name: &Ident) -> String {
    quoted(&name.value)
}

fn literal(value: &Value) -> String {
    match value {
        Value::Number(digits, _) => digits.clone(),
        Value::SingleQuotedString(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Boolean(truth) => truth.to_string(),
        other => other.to_string(),
    }
}

fn all<'a>(list: impl Iterator<Item = &'a Expr>) -> String {
    list.map(written).collect::<Vec<_>>().join(", ")
}

fn flatten(expr: &Expr, op: &BinaryOperator, parts: &mut Vec<String>) {
    match expr {
        Expr::BinaryOp { left, op: inner, right } if inner == op => {
            flatten(left, op, parts);
            flatten(right, op, parts);
        }
        other => parts.push(written(other)),
    }
}

fn negation(text: String, negated: bool) -> String {
    if negated { format!("(NOT {text})") } else { text }
}

fn truth(expr: &Expr, words: &str) -> String {
    format!("(CAST({} AS BOOLEAN) IS {words})", written(expr))
}

fn pattern_match(expr: &Expr, pattern: &Expr, negated: bool, star: &str) -> String {
    let not = if negated { "!" } else { "" };
    format!("({} {not}~~{star} {})", written(expr), written(pattern))
}

fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Int(_) => "INTEGER".to_owned(),
        DataType::Real => "FLOAT".to_owned(),
        other => other.to_string(),
    }
}

fn call(function: &Function) -> String {
    let name = function.name.to_string().to_lowercase();
    let (distinct, arguments) = match &function.args {
        FunctionArguments::List(list) => {
            (list.duplicate_treatment == Some(DuplicateTreatment::Distinct), list.args.as_slice())
        }
        _ => (false, [].as_slice()),
    };
    let is_star = |argument: &FunctionArg| matches!(argument, FunctionArg::Unnamed(FunctionArgExpr::Wildcard));
    let mut inner = if distinct { "DISTINCT ".to_owned() } else { String::new() };
    let shown = arguments.iter().filter(|argument| !is_star(argument)).map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => written(expr),
        other => other.to_string(),
    });
    inner += &shown.collect::<Vec<_>>().join(", ");
    let within = clauses(function).iter().find_map(|clause| match clause {
        FunctionArgumentClause::OrderBy(order) => Some(order.as_slice()),
        _ => None,
    });
    if let Some(order) = within.or(Some(function.within_group.as_slice()).filter(|order| !order.is_empty())) {
        inner += &format!(" ORDER BY {}", orders(order));
    }
    let counts_rows = name == "count" && inner.is_empty() && function.over.is_none();
    let name = match name.as_str() {
        "count" if counts_rows => "count_star".to_owned(),
        "coalesce" | "ifnull" => "COALESCE".to_owned(),
        "percentile_cont" => "quantile_cont".to_owned(),
        "percentile_disc" => "quantile_disc".to_owned(),
        other => quoted(other),
    };
    let mut text = format!("{name}({inner})");
    if let Some(filter) = &function.filter {
        text += &format!(" FILTER (WHERE {})", written(filter));
    }
    match &function.over {
        Some(WindowType::WindowSpec(spec)) => text += &format!(" OVER ({})", window(spec)),
        Some(WindowType::NamedWindow(word)) => text += &format!(" OVER {}", identifier(word)),
        None => {}
    }
    text
}

fn orders(order: &[OrderByExpr]) -> String {
    let one = |order: &OrderByExpr| written(&order.expr) + &order.options.to_string();
    order.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn window(spec: &WindowSpec) -> String {
    let mut parts = Vec::new();
    if !spec.partition_by.is_empty() {
        parts.push(format!("PARTITION BY {}", all(spec.partition_by.iter())));
    }
    if !spec.order_by.is_empty() {
        parts.push(format!("ORDER BY {}", orders(&spec.order_by)));
    }
    parts.extend(spec.window_frame.as_ref().and_then(frame));
    parts.join(" ")
}

/// A frame; `None` for the default frame.
fn frame(frame: &WindowFrame) -> Option<String> {
    let end = frame.end_bound.as_ref().unwrap_or(&WindowFrameBound::CurrentRow);
    let is_usual = frame.units == WindowFrameUnits::Range
        && frame.start_bound == WindowFrameBound::Preceding(None)
        && *end == WindowFrameBound::CurrentRow;
    (!is_usual).then(|| format!("{} BETWEEN {} AND {end}", frame.units, frame.start_bound))
}
