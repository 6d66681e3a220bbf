//! Statements in the SQL of DataFusion. Statements that would return other rows there are refused.

use std::ops::ControlFlow;
use std::sync::LazyLock;

use serde::Deserialize;
use sqlparser::ast::{
    BinaryOperator, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, JoinConstraint,
    JoinOperator, LimitClause, Query, Select, Visit, Visitor, visit_expressions_mut,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

use crate::depth::{only_query, parse};
use crate::dialect::bind;

/// An aggregate with another definition.
#[derive(Debug, Deserialize)]
struct Replaced {
    function: String,
    becomes: String,
}

/// A function of the same name with other results.
#[derive(Debug, Deserialize)]
struct Refused {
    function: String,
    /// The number of arguments with which it differs; any number if absent.
    arguments: Option<usize>,
    /// The difference, and what to do.
    reason: String,
}

#[derive(Debug, Default, Deserialize)]
struct ReplacedFunctionsFile {
    #[serde(default)]
    replaced: Vec<Replaced>,
    #[serde(default)]
    refused: Vec<Refused>,
}

static FILE: LazyLock<ReplacedFunctionsFile> =
    LazyLock::new(|| toml::from_str(data!("share/sql/cluster.toml")).unwrap_or_default());

/// Writes out the aggregates that DataFusion computes differently.
///
/// # Errors
/// When such an aggregate is called in a way that cannot be written out.
pub(super) fn with_exact_aggregates(sql: &str) -> Result<String, String> {
    let lower = sql.to_lowercase();
    if !FILE.replaced.iter().any(|replaced| lower.contains(&replaced.function)) {
        return Ok(sql.to_owned());
    }
    let mut query = query_of(sql)?;
    let replaced = visit_expressions_mut(&mut query, |expr| {
        let Expr::Function(function) = expr else { return ControlFlow::Continue(()) };
        let name = function.name.to_string().to_lowercase();
        let Some(replaced) = FILE.replaced.iter().find(|replaced| replaced.function == name) else {
            return ControlFlow::Continue(());
        };
        match written_out(function, &replaced.becomes) {
            Some(written) => {
                *expr = written;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(format!("this form of {name} is not exact there")),
        }
    });
    match replaced {
        ControlFlow::Continue(()) => Ok(query.to_string()),
        ControlFlow::Break(reason) => Err(reason),
    }
}

/// The expression that replaces the call of an aggregate.
fn written_out(function: &Function, becomes: &str) -> Option<Expr> {
    let FunctionArguments::List(list) = &function.args else { return None };
    let is_plain = function.over.is_none()
        && function.filter.is_none()
        && function.within_group.is_empty()
        && list.duplicate_treatment.is_none()
        && list.clauses.is_empty();
    let [FunctionArg::Unnamed(FunctionArgExpr::Expr(value)), FunctionArg::Unnamed(FunctionArgExpr::Expr(fraction))] =
        list.args.as_slice()
    else {
        return None;
    };
    let written = becomes.replace("{value}", &value.to_string()).replace("{fraction}", &fraction.to_string());
    let expr = Parser::new(&GenericDialect {}).try_with_sql(&written).ok()?.parse_expr().ok()?;
    is_plain.then(|| Expr::Nested(Box::new(expr)))
}

/// A statement of the user in the form that DataFusion runs, and whether it orders its rows.
///
/// # Errors
/// When DataFusion would return other rows than this program.
pub(super) fn of_user(sql: &str) -> Result<(String, bool), String> {
    let mut query = query_of(sql)?;
    let is_ordered = query.order_by.is_some();
    match query.visit(&mut Differences) {
        ControlFlow::Break(reason) => return Err(reason),
        ControlFlow::Continue(()) => {}
    }
    // DataFusion truncates quotients of integers.
    let _: ControlFlow<()> = visit_expressions_mut(&mut query, |expr| {
        if let Expr::BinaryOp { left, op: BinaryOperator::Divide, .. } = expr {
            let dividend = std::mem::replace(left.as_mut(), Expr::value(sqlparser::ast::Value::Null));
            **left = as_float(dividend);
        }
        ControlFlow::Continue(())
    });
    Ok((with_exact_aggregates(&query.to_string())?, is_ordered))
}

fn as_float(expr: Expr) -> Expr {
    Expr::Cast {
        kind: sqlparser::ast::CastKind::Cast,
        expr: Box::new(expr),
        data_type: DataType::Double(sqlparser::ast::ExactNumberInfo::None),
        array: false,
        format: None,
    }
}

fn query_of(sql: &str) -> Result<Box<Query>, String> {
    let mut statements = parse(&GenericDialect {}, sql).map_err(|error| error.to_string())?;
    // DataFusion has the same parser.
    bind(&mut statements);
    only_query(statements).ok_or_else(|| "it is not one SELECT statement".to_owned())
}

/// Looks for parts of a statement that have other results in DataFusion.
struct Differences;

impl Visitor for Differences {
    type Break = String;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<String> {
        let is_cut = query.fetch.is_some() || query.limit_clause.as_ref().is_some_and(cuts);
        if is_cut && query.order_by.is_none() {
            return refused("LIMIT without ORDER BY keeps arbitrary rows; add an ORDER BY that orders all rows");
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<String> {
        let joins = select.from.iter().flat_map(|from| &from.joins);
        for join in joins {
            if let JoinOperator::FullOuter(JoinConstraint::Using(_) | JoinConstraint::Natural) = &join.join_operator {
                return refused("FULL JOIN with USING gives the columns of the left side alone; write ON");
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<String> {
        match expr {
            Expr::BinaryOp { op, .. } => match op {
                BinaryOperator::BitwiseXor | BinaryOperator::PGExp => {
                    refused("^ is XOR in DataFusion; use POWER(a, b)")
                }
                BinaryOperator::DuckIntegerDivide | BinaryOperator::MyIntegerDivide => {
                    refused("whole division differs there; write FLOOR(a / b)")
                }
                _ => ControlFlow::Continue(()),
            },
            Expr::Function(function) => {
                let name = function.name.to_string().to_lowercase();
                let count = arguments(function);
                let is_meant =
                    |refused: &&Refused| refused.function == name && refused.arguments.is_none_or(|one| one == count);
                match FILE.refused.iter().find(is_meant) {
                    Some(Refused { reason, .. }) => refused(reason),
                    None => ControlFlow::Continue(()),
                }
            }
            Expr::Cast { data_type, expr, .. } if is_integer(data_type) && !is_whole(expr) => {
                refused("CAST to whole numbers cuts there and may round here; write CAST(FLOOR(x) AS BIGINT), or ROUND")
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

fn arguments(function: &Function) -> usize {
    if let FunctionArguments::List(list) = &function.args { list.args.len() } else { 0 }
}

fn refused(reason: &str) -> ControlFlow<String> {
    ControlFlow::Break(reason.to_owned())
}

fn cuts(limit: &LimitClause) -> bool {
    !matches!(limit, LimitClause::LimitOffset { limit: None, offset: None, .. })
}

fn is_integer(data_type: &DataType) -> bool {
    let name = data_type.to_string().to_lowercase();
    ["int", "signed", "long", "short"].iter().any(|word| name.contains(word)) && !name.contains("interval")
}

/// Whether an expression surely has whole values: a call that rounds or counts. The types of columns are not known here.
fn is_whole(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_whole(inner),
        Expr::Floor { .. } | Expr::Ceil { .. } => true,
        Expr::Function(function) => {
            let name = function.name.to_string().to_lowercase();
            ["ceiling", "round", "trunc", "count", "row_number", "rank", "dense_rank", "length"]
                .contains(&name.as_str())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::of_user;

    #[test]
    fn casts_of_whole_numbers_are_taken() {
        for (value, is_taken) in [("FLOOR(x / 7)", true), ("(CEIL(x))", true), ("ROUND(x)", true), ("x / 7", false)] {
            let sql = format!("SELECT CAST({value} AS BIGINT) AS whole FROM kernels");
            assert_eq!(of_user(&sql).is_ok(), is_taken, "{value}");
        }
    }
}
