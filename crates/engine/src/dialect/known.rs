//! Parts that a statement may consist of. Everything else is rejected here, in the terms of the statement: polars would name
//! its own types, and silently ignores some parts.

use std::fmt::Display;
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, CastKind, CeilFloorKind, DataType, DateTimeField, Distinct, DuplicateTreatment, Expr, Function,
    FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments, GroupByExpr, JoinConstraint, JoinOperator,
    LimitClause, OrderByExpr, OrderByKind, Query, Select, SelectFlavor, SelectItem, SelectItemQualifiedWildcardKind,
    SetExpr, SetOperator, SetQuantifier, TableFactor, UnaryOperator, Value, Visit, Visitor,
};

use super::functions::{is_least, name_of};
use super::parts::refused;
use super::types::is_known_type;
use crate::error::QueryError;

/// Advice for parts that nothing here can replace.
const DUCKDB: &str = "DuckDB has it, over a dataset of `wavesieve convert`";

/// The advice about dates: no column has dates, and timestamps do not record their origin.
const TIMES: &str = "times are nanoseconds since a start that formats choose, such as the boot of the node; subtract the first, as in \
                     start_ns - (SELECT min(start_ns) FROM kernels), and divide by 1e9 for seconds";

type Known = Result<(), QueryError>;

/// Refuses a statement with an unknown kind of part.
///
/// # Errors
/// When the statement has one.
pub fn check(query: &Query) -> Known {
    match query.visit(&mut Check { is_least: false }) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// Checks each part of a statement.
struct Check {
    /// Whether the next expression is the magnitude of the smallest 64-bit integer, after its sign.
    is_least: bool,
}

impl Visitor for Check {
    type Break = QueryError;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<QueryError> {
        flow(of_query(query))
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<QueryError> {
        flow(of_select(select))
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<QueryError> {
        flow(of_table(factor))
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<QueryError> {
        if std::mem::take(&mut self.is_least) {
            return ControlFlow::Continue(());
        }
        if let Expr::UnaryOp { op: UnaryOperator::Minus, expr: inner } = expr {
            self.is_least = is_least(inner);
        }
        flow(of_expr(expr))
    }
}

fn flow(known: Known) -> ControlFlow<QueryError> {
    known.map_or_else(ControlFlow::Break, ControlFlow::Continue)
}

/// A refusal of a part that polars does not support.
fn lacking(what: impl Display, instead: &str) -> Known {
    Err(refused(format!("polars has no {what}; {instead}")))
}

/// Refuses the first of some parts that is present.
fn none_of(parts: &[(bool, &str, &str)]) -> Known {
    match parts.iter().find(|(is_there, _, _)| *is_there) {
        Some((_, what, instead)) => lacking(what, instead),
        None => Ok(()),
    }
}

/// A part of a statement as it is written, short enough for a message.
fn quoted(part: &impl Display) -> String {
    format!("`{}`", shortened(&part.to_string()))
}

/// A part of a statement that is short enough for a message.
fn shortened(part: &str) -> String {
    const LONGEST: usize = 60;
    let text = part.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}

fn of_query(query: &Query) -> Known {
    none_of(&[
        (
            query.for_clause.is_some() || query.format_clause.is_some(),
            "FOR or FORMAT after a query",
            "-f is the format",
        ),
        (!query.locks.is_empty(), "FOR UPDATE", "leave it out, as nothing is written"),
        (query.settings.is_some(), "SETTINGS", "leave them out"),
        (!query.pipe_operators.is_empty(), "|> operators", "put the steps into WITH expressions"),
    ])?;
    if let Some(fetch) = &query.fetch {
        none_of(&[
            (fetch.with_ties, "FETCH WITH TIES", "filter by rank() OVER (ORDER BY …) in a subquery"),
            (fetch.percent, "FETCH of a percentage", "filter by percent_rank() OVER (ORDER BY …) in a subquery"),
        ])?;
    }
    if let Some(order) = &query.order_by {
        let has_more = |orders: &[OrderByExpr]| orders.iter().any(|order| order.with_fill.is_some());
        let has_fill = matches!(&order.kind, OrderByKind::Expressions(orders) if has_more(orders));
        none_of(&[(has_fill || order.interpolate.is_some(), "WITH FILL", DUCKDB)])?;
    }
    limits(query.limit_clause.as_ref())?;
    body(&query.body)
}

fn limits(clause: Option<&LimitClause>) -> Known {
    let (limit, offset) = match clause {
        None => return Ok(()),
        Some(LimitClause::LimitOffset { limit_by, .. }) if !limit_by.is_empty() => {
            return lacking("LIMIT BY", "filter by row_number() OVER (PARTITION BY …) in a subquery");
        }
        Some(LimitClause::LimitOffset { limit, offset, .. }) => {
            (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
        }
        Some(LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
    };
    let is_count = |expr: &Expr| match expr {
        Expr::Value(value) => matches!(&value.value, Value::Number(digits, _) if digits.parse::<u32>().is_ok()),
        _ => false,
    };
    match limit.into_iter().chain(offset).find(|expr| !is_count(expr)) {
        Some(other) => {
            Err(refused(format!("LIMIT and OFFSET take a number of rows, not {}; write the number", quoted(other))))
        }
        None => Ok(()),
    }
}

fn body(part: &SetExpr) -> Known {
    match part {
        // Queries and SELECTs are visited themselves.
        SetExpr::Select(_) | SetExpr::Query(_) => Ok(()),
        SetExpr::Values(values) => {
            let mut widths = values.rows.iter().map(|row| row.content.len());
            let first = widths.next();
            match widths.all(|width| Some(width) == first) {
                true => Ok(()),
                false => {
                    Err(refused("the rows of VALUES have different numbers of values; write NULL for missing ones"))
                }
            }
        }
        SetExpr::SetOperation { op, set_quantifier, left, right } => {
            let is_by_name = matches!(
                set_quantifier,
                SetQuantifier::ByName | SetQuantifier::AllByName | SetQuantifier::DistinctByName
            );
            let is_all = *set_quantifier == SetQuantifier::All && *op != SetOperator::Union;
            none_of(&[
                (is_by_name, "set operation BY NAME", "name the columns of both sides in the same order"),
                (is_all, "INTERSECT ALL or EXCEPT ALL", DUCKDB),
                (*op == SetOperator::Minus, "MINUS", "write EXCEPT"),
            ])?;
            body(left)?;
            body(right)
        }
        SetExpr::Table(_) => lacking("TABLE", "write SELECT * FROM"),
        SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
            Err(refused("a trace is read-only; start with SELECT or WITH"))
        }
    }
}

fn of_select(select: &Select) -> Known {
    none_of(&[
        (select.top.is_some(), "TOP", "write LIMIT at the end"),
        (select.into.is_some(), "SELECT INTO", "-o FILE writes the rows"),
        (select.exclude.is_some(), "EXCLUDE after the columns", "write SELECT * EXCLUDE (…)"),
        (!select.lateral_views.is_empty(), "LATERAL VIEW", DUCKDB),
        (select.prewhere.is_some(), "PREWHERE", "write WHERE"),
        (!select.connect_by.is_empty(), "CONNECT BY", DUCKDB),
        (!select.cluster_by.is_empty() || !select.distribute_by.is_empty(), "CLUSTER BY", "leave it out"),
        (!select.sort_by.is_empty(), "SORT BY", "write ORDER BY"),
        (select.value_table_mode.is_some(), "SELECT AS", "name the columns"),
        (
            select.select_modifiers.is_some() || !select.optimizer_hints.is_empty(),
            "hints after SELECT",
            "leave them out",
        ),
    ])?;
    if select.projection.is_empty() && select.flavor == SelectFlavor::Standard {
        return Err(refused("SELECT has no column; write * for all"));
    }
    if select.from.is_empty() && select.projection.iter().any(|item| matches!(item, SelectItem::Wildcard(_))) {
        return Err(refused("* has no table to take columns from; add FROM"));
    }
    let (GroupByExpr::All(modifiers) | GroupByExpr::Expressions(_, modifiers)) = &select.group_by;
    if !modifiers.is_empty() {
        return groupings("WITH ROLLUP, CUBE or TOTALS");
    }
    for item in &select.projection {
        match item {
            SelectItem::ExprWithAliases { .. } => return lacking("several names for a column", "use one"),
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(expr), _) => {
                return lacking(quoted(&format!("{expr}.*")), "name the columns");
            }
            _ => {}
        }
    }
    if matches!(&select.distinct, Some(Distinct::On(_))) && (select.qualify.is_some() || select.having.is_some()) {
        return lacking("DISTINCT ON with QUALIFY or HAVING", "put the rest into a subquery");
    }
    select.from.iter().flat_map(|table| &table.joins).try_for_each(|join| of_join(&join.join_operator))
}

fn groupings(what: &str) -> Known {
    lacking(what, "write a SELECT with GROUP BY for each grouping and put UNION ALL between them")
}

/// Whether a join is known.
pub(crate) fn of_join(operator: &JoinOperator) -> Known {
    match operator {
        JoinOperator::CrossJoin(JoinConstraint::None) => Ok(()),
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::Right(constraint)
        | JoinOperator::RightOuter(constraint)
        | JoinOperator::FullOuter(constraint)
        | JoinOperator::Semi(constraint)
        | JoinOperator::LeftSemi(constraint)
        | JoinOperator::Anti(constraint)
        | JoinOperator::LeftAnti(constraint) => match constraint {
            JoinConstraint::None => {
                Err(refused("a join has no condition; add ON or USING, or write CROSS JOIN for all pairs of rows"))
            }
            _ => Ok(()),
        },
        JoinOperator::CrossJoin(_) => lacking("CROSS JOIN with a condition", "write JOIN"),
        JoinOperator::RightSemi(_) | JoinOperator::RightAnti(_) => {
            lacking("SEMI or ANTI JOIN of the right side", "swap the tables")
        }
        JoinOperator::AsOf { .. } => lacking(
            "ASOF JOIN",
            "join by the other columns and filter by row_number() OVER (PARTITION BY … ORDER BY … DESC) = 1 in a subquery",
        ),
        _ => lacking("APPLY, STRAIGHT or ARRAY JOIN", DUCKDB),
    }
}

fn of_table(factor: &TableFactor) -> Known {
    const SAMPLE: &str = "filter by a remainder, as in WHERE dispatch_id % 10 = 0";
    match factor {
        TableFactor::Table { name, args: Some(_), .. } | TableFactor::Function { name, .. } => match () {
            () if ["generate_series", "range"].contains(&name.to_string().to_lowercase().as_str()) => {
                lacking(format!("table function {name}"), "the table numbers has n from 0 to 65535")
            }
            () => lacking(format!("table function {name}"), "name a table; `wavesieve schema` lists them"),
        },
        TableFactor::Table {
            with_hints, version, with_ordinality, partitions, json_path, sample, index_hints, ..
        } => none_of(&[
            (sample.is_some(), "TABLESAMPLE", SAMPLE),
            (version.is_some(), "versions of tables", "leave them out"),
            (*with_ordinality, "WITH ORDINALITY", "take row_number() OVER (ORDER BY …)"),
            (!partitions.is_empty() || json_path.is_some(), "parts of tables", "filter with WHERE"),
            (!with_hints.is_empty() || !index_hints.is_empty(), "hints after tables", "leave them out"),
        ]),
        TableFactor::Derived { lateral, sample, .. } => none_of(&[
            (*lateral, "LATERAL subquery", "join a grouped subquery"),
            (sample.is_some(), "TABLESAMPLE", SAMPLE),
        ]),
        TableFactor::NestedJoin { table_with_joins, .. } => {
            table_with_joins.joins.iter().try_for_each(|join| of_join(&join.join_operator))
        }
        TableFactor::UNNEST { .. } => lacking("UNNEST", "write the values as (VALUES (1), (2)) AS t(n)"),
        TableFactor::Pivot { .. } => lacking("PIVOT", "take an aggregate with FILTER (WHERE …) for each column"),
        TableFactor::Unpivot { .. } => lacking("UNPIVOT", "put UNION ALL between a SELECT for each column"),
        other => lacking(quoted(other), DUCKDB),
    }
}

fn of_expr(expr: &Expr) -> Known {
    match expr {
        Expr::Identifier(_)
        | Expr::CompoundIdentifier(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotUnknown(_)
        | Expr::IsDistinctFrom(..)
        | Expr::IsNotDistinctFrom(..)
        | Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::Between { .. }
        | Expr::Position { .. }
        | Expr::Substring { .. }
        | Expr::Nested(_)
        | Expr::Case { .. }
        | Expr::Exists { .. }
        | Expr::Subquery(_)
        | Expr::Wildcard(_)
        | Expr::QualifiedWildcard(..) => Ok(()),
        Expr::Extract { .. } | Expr::Interval(_) => lacking(quoted(expr), TIMES),
        Expr::TypedString(typed) => of_type(&typed.data_type),
        Expr::Value(value) => of_value(&value.value),
        Expr::BinaryOp { op, .. } => of_operator(op, expr),
        Expr::UnaryOp { op: UnaryOperator::Plus | UnaryOperator::Minus | UnaryOperator::Not, .. } => Ok(()),
        Expr::Like { any, pattern, .. } | Expr::ILike { any, pattern, .. } => {
            none_of(&[(*any, "LIKE ANY", "put OR between a LIKE for each pattern")])?;
            text(pattern, "LIKE")
        }
        Expr::SimilarTo { pattern, escape_char, .. } => {
            none_of(&[(escape_char.is_some(), "SIMILAR TO with ESCAPE", "write a backslash before the character")])?;
            text(pattern, "SIMILAR TO")
        }
        Expr::RLike { .. } => lacking("RLIKE", "write regexp_matches(text, 'pattern')"),
        Expr::Cast { kind, data_type, format, .. } => {
            none_of(&[
                (*kind == CastKind::SafeCast, "SAFE_CAST", "write TRY_CAST"),
                (format.is_some(), "FORMAT", DUCKDB),
            ])?;
            of_type(data_type)
        }
        Expr::Ceil { field, .. } | Expr::Floor { field, .. } => match field {
            CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) => Ok(()),
            _ => lacking(quoted(expr), "divide, take floor or ceil, and multiply"),
        },
        Expr::Trim { trim_what, trim_characters, .. } => {
            let characters = trim_characters.iter().flatten().chain(trim_what.as_deref());
            characters.into_iter().try_for_each(|characters| text(characters, "trim"))
        }
        Expr::Function(function) => of_function(function),
        Expr::Rollup(_) | Expr::Cube(_) | Expr::GroupingSets(_) => groupings("ROLLUP, CUBE or GROUPING SETS"),
        Expr::AnyOp { .. } | Expr::AllOp { .. } => {
            lacking("comparison with ANY or ALL", "write IN (SELECT …), or compare with (SELECT max(…) FROM …)")
        }
        Expr::Tuple(_) => {
            lacking(format!("row value {}", quoted(expr)), "compare the columns one by one, with AND between them")
        }
        Expr::Collate { .. } => lacking("COLLATE", "compare lower(text)"),
        Expr::Overlay { .. } => lacking("OVERLAY", "join results of substr with ||"),
        Expr::CompoundFieldAccess { .. } => {
            lacking(format!("subscript {}", quoted(expr)), "substr(text, start, length) is a part of a text")
        }
        Expr::Array(_) | Expr::Struct { .. } | Expr::Dictionary(_) | Expr::Map(_) => {
            lacking(format!("list or structure {}", quoted(expr)), DUCKDB)
        }
        other => lacking(quoted(other), DUCKDB),
    }
}

fn of_value(value: &Value) -> Known {
    match value {
        Value::Number(digits, _)
            if digits.bytes().all(|digit| digit.is_ascii_digit()) && digits.parse::<i64>().is_err() =>
        {
            Err(refused(format!("{digits} overflows 64-bit integers; write {digits}.0")))
        }
        Value::Number(..)
        | Value::SingleQuotedString(_)
        | Value::DollarQuotedString(_)
        | Value::Boolean(_)
        | Value::Null => Ok(()),
        Value::Placeholder(_) => lacking(format!("parameter {}", quoted(value)), "write the value"),
        other => lacking(format!("literal {}", quoted(other)), "write a number, or a text in single quotes"),
    }
}

/// Whether a pattern is a text of the statement.
fn text(pattern: &Expr, what: &str) -> Known {
    match pattern {
        Expr::Value(value) if matches!(value.value, Value::SingleQuotedString(_) | Value::DollarQuotedString(_)) => {
            Ok(())
        }
        _ => Err(refused(format!(
            "{what} takes a literal pattern, not {}; write a literal, or use contains or starts_with",
            quoted(pattern)
        ))),
    }
}

fn of_operator(op: &BinaryOperator, expr: &Expr) -> Known {
    use BinaryOperator as Op;
    match op {
        Op::Plus | Op::Minus | Op::Multiply | Op::Divide | Op::Modulo | Op::DuckIntegerDivide | Op::MyIntegerDivide => {
            Ok(())
        }
        Op::Gt | Op::Lt | Op::GtEq | Op::LtEq | Op::Eq | Op::NotEq | Op::Spaceship | Op::And | Op::Or => Ok(()),
        Op::StringConcat | Op::BitwiseAnd | Op::BitwiseOr | Op::BitwiseXor | Op::PGExp | Op::PGStartsWith => Ok(()),
        Op::PGRegexMatch | Op::PGRegexNotMatch => match expr {
            Expr::BinaryOp { right, .. } => text(right, "the operator ~"),
            _ => Ok(()),
        },
        Op::PGBitwiseShiftLeft => lacking("operator <<", "multiply by a power of two"),
        Op::PGBitwiseShiftRight => lacking("operator >>", "divide with // by a power of two"),
        Op::PGLikeMatch | Op::PGNotLikeMatch | Op::PGILikeMatch | Op::PGNotILikeMatch => {
            lacking(format!("operator {op}"), "write LIKE or ILIKE")
        }
        Op::PGRegexIMatch | Op::PGRegexNotIMatch => {
            lacking(format!("operator {op}"), "write regexp_matches(text, 'pattern', 'i')")
        }
        Op::Arrow | Op::LongArrow if matches!(expr, Expr::BinaryOp { right, .. } if matches!(**right, Expr::Value(_))) => {
            lacking("JSON", DUCKDB)
        }
        other => lacking(format!("operator {other}"), DUCKDB),
    }
}

fn of_type(data_type: &DataType) -> Known {
    if is_known_type(data_type) {
        return Ok(());
    }
    let instead = match data_type.to_string().to_uppercase().as_str() {
        "HUGEINT" | "UHUGEINT" | "INT128" => "integers have 64 bits here, so take DOUBLE",
        name if ["DATE", "TIME", "INTERVAL"].iter().any(|start| name.starts_with(start)) => TIMES,
        name if name.starts_with("DECIMAL") || name.starts_with("NUMERIC") => "take DOUBLE, and round(…, digits)",
        _ => "take BIGINT, DOUBLE, VARCHAR or BOOLEAN",
    };
    lacking(format!("type {data_type}"), instead)
}

/// Functions that join several texts into one.
const JOINS_TEXTS: &[&str] = &["string_agg", "listagg", "group_concat"];
/// Functions that polars computes over distinct values, or that return the same for them.
const KEEPS_DISTINCT: &[&str] = &["count", "min", "max", "array_agg"];

fn of_function(function: &Function) -> Known {
    let name = name_of(function);
    if matches!(name.as_str(), "grouping" | "grouping_id") {
        return groupings("GROUPING");
    }
    if !matches!(function.parameters, FunctionArguments::None) || function.uses_odbc_syntax {
        return lacking(quoted(function), DUCKDB);
    }
    let list = match &function.args {
        FunctionArguments::None => return Ok(()),
        FunctionArguments::Subquery(_) => {
            return Err(refused(format!(
                "{name} takes a value, not a query; put the query in two pairs of parentheses"
            )));
        }
        FunctionArguments::List(list) => list,
    };
    for argument in &list.args {
        match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(_)) => {}
            FunctionArg::Unnamed(FunctionArgExpr::Wildcard | FunctionArgExpr::QualifiedWildcard(_))
                if name == "count" => {}
            other => {
                return Err(refused(format!("{name} takes values, not {}; write them in their order", quoted(other))));
            }
        }
    }
    let is_joining = JOINS_TEXTS.contains(&name.as_str());
    if !is_joining
        && !KEEPS_DISTINCT.contains(&name.as_str())
        && list.duplicate_treatment == Some(DuplicateTreatment::Distinct)
    {
        return lacking(format!("{name} of distinct values"), "take the values in a subquery with SELECT DISTINCT");
    }
    if !function.within_group.is_empty() && !name.starts_with("percentile_") {
        return lacking(
            format!("{name} with WITHIN GROUP"),
            "write ORDER BY inside of the parentheses, as in string_agg(x, ',' ORDER BY x)",
        );
    }
    let orders = |clause: &FunctionArgumentClause| matches!(clause, FunctionArgumentClause::OrderBy(_));
    if !is_joining && name != "array_agg" && list.clauses.iter().any(orders) {
        return lacking(format!("{name} with ORDER BY"), "take arg_min(value, order) or arg_max(value, order)");
    }
    match list.clauses.iter().find(|clause| !orders(clause)) {
        Some(clause) => lacking(format!("{} in {name}", quoted(clause)), "leave it out, or filter in a subquery"),
        None => Ok(()),
    }
}
