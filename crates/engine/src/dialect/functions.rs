//! Functions of DuckDB that polars has under another name or can compute from others, and the documented functions.

use std::sync::LazyLock;

use serde::Deserialize;
use sqlparser::ast::{
    BinaryOperator, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause,
    FunctionArguments, Ident, UnaryOperator, Value, VisitMut,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

use super::parts::{Each, is_null, refused};
use crate::error::QueryError;
use crate::units::arguments;

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub enum FunctionKind {
    /// Computes one value from many rows.
    Aggregate,
    /// Computes a value from each row and the rows around it.
    Window,
    Number,
    Text,
    /// Missing values and choices.
    Choice,
}

/// A function as documented.
#[derive(Debug, Deserialize)]
pub struct Call {
    pub kind: FunctionKind,
    /// An expression over the table `kernels`.
    pub call: String,
    /// Its result.
    pub about: String,
}

#[derive(Debug, Deserialize)]
struct Rewrite {
    name: String,
    /// The function of polars that does the same with the same arguments.
    renamed: Option<String>,
    /// An expression of the arguments `{0}`, `{1}`, ….
    becomes: Option<String>,
    /// An alternative, if polars has no such function.
    instead: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct FunctionsFile {
    function: Vec<Call>,
    rewrite: Vec<Rewrite>,
}

static FILE: LazyLock<FunctionsFile> =
    LazyLock::new(|| toml::from_str(data!("share/sql/functions.toml")).unwrap_or_default());

/// The documented functions, in the order of the page.
pub fn calls() -> &'static [Call] {
    &FILE.function
}

/// Whether a function is supported, directly or by a rewrite.
pub fn is_known(name: &str) -> bool {
    let is_call = |call: &Call| call.call.split_once('(').is_some_and(|(known, _)| known == name);
    let is_other = |rewrite: &Rewrite| rewrite.name == name;
    AGGREGATES.contains(&name) || FILE.function.iter().any(is_call) || FILE.rewrite.iter().any(is_other)
}

/// Functions that compute one value from many rows.
const AGGREGATES: &[&str] = &[
    "any_value",
    "approx_count_distinct",
    "approx_quantile",
    "arg_max",
    "arg_min",
    "array_agg",
    "avg",
    "bool_and",
    "bool_or",
    "corr",
    "covar",
    "count",
    "count_if",
    "countif",
    "covar_pop",
    "covar_samp",
    "first",
    "group_concat",
    "last",
    "list",
    "listagg",
    "max",
    "max_by",
    "mean",
    "median",
    "min",
    "min_by",
    "mode",
    "percentile_cont",
    "percentile_disc",
    "quantile",
    "quantile_cont",
    "quantile_disc",
    "stdev",
    "stdev_samp",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "string_agg",
    "sum",
    "total",
    "var",
    "var_pop",
    "var_samp",
    "variance",
];

/// Whether a function computes one value of the rows of a group.
pub(crate) fn is_aggregate(function: &Function) -> bool {
    function.over.is_none() && AGGREGATES.contains(&name_of(function).as_str())
}

/// The name of a function in lower case.
pub fn name_of(function: &Function) -> String {
    function.name.to_string().to_lowercase()
}

pub fn call_of(name: &str, arguments: Vec<Expr>) -> Expr {
    let mut call = expression(&format!("{name}()")).unwrap_or(Expr::Identifier(Ident::new(name)));
    if let Expr::Function(Function { args: FunctionArguments::List(list), .. }) = &mut call {
        list.args = arguments.into_iter().map(|one| FunctionArg::Unnamed(FunctionArgExpr::Expr(one))).collect();
    }
    call
}

pub fn expression(text: &str) -> Option<Expr> {
    Parser::new(&GenericDialect {}).try_with_sql(text).ok()?.parse_expr().ok()
}

/// A number without its exponent, because polars cannot read exponents.
pub(crate) fn literal_number(digits: &str) -> Option<Expr> {
    if !digits.contains(['e', 'E']) {
        return None;
    }
    let value: f64 = digits.parse().ok().filter(|value: &f64| value.is_finite())?;
    let text = value.to_string();
    expression(&if text.contains('.') { text } else { text + ".0" })
}

/// An expression in the form of polars; `None` if it already has that form.
///
/// # Errors
/// When polars has nothing for it.
pub fn rewritten(expr: &mut Expr) -> Result<Option<Expr>, QueryError> {
    match expr {
        // polars fails on some of these. A value that varies by row stays one.
        Expr::BinaryOp { left, op, right } if is_arithmetic(op) && (is_null(left) || is_null(right)) => {
            let other = if is_null(left) { right } else { left };
            let template = if is_constant(other) { UNKNOWN } else { UNKNOWN_OF_ROWS };
            Ok(filled(template, &[other.as_ref().clone()]))
        }
        Expr::BinaryOp { left, op: BinaryOperator::DuckIntegerDivide | BinaryOperator::MyIntegerDivide, right } => {
            Ok(filled(QUOTIENT, &[left.as_ref().clone(), right.as_ref().clone()]))
        }
        Expr::BinaryOp { left, op: BinaryOperator::Modulo, right } => {
            Ok(filled(REMAINDER, &[left.as_ref().clone(), right.as_ref().clone()]))
        }
        Expr::BinaryOp { left, op: BinaryOperator::BitwiseXor | BinaryOperator::PGExp, right } => {
            Ok(filled(POWER, &[left.as_ref().clone(), right.as_ref().clone()]))
        }
        Expr::BinaryOp { left, op: BinaryOperator::PGRegexMatch, right } => {
            Ok(Some(matched("regexp_matches", left, right.as_ref().clone(), false)))
        }
        Expr::BinaryOp { left, op: BinaryOperator::PGRegexNotMatch, right } => {
            Ok(Some(matched("regexp_matches", left, right.as_ref().clone(), true)))
        }
        Expr::SimilarTo { negated, expr, pattern, .. } => {
            Ok(Some(matched("regexp_full_match", expr, pattern.as_ref().clone(), *negated)))
        }
        Expr::Like { negated, expr, pattern, escape_char: Some(escape), .. } => {
            like(expr, pattern, &escape.value, *negated, "(?s)")
        }
        Expr::ILike { negated, expr, pattern, escape_char: Some(escape), .. } => {
            like(expr, pattern, &escape.value, *negated, "(?is)")
        }
        Expr::Substring { expr, substring_from, substring_for, .. } => {
            let start = substring_from.as_deref().cloned().or_else(|| expression("1"));
            let parts = [Some(expr.as_ref().clone()), start, substring_for.as_deref().cloned()];
            Ok(Some(call_of("part_of_text", parts.into_iter().flatten().collect())))
        }
        Expr::Position { expr, r#in } => {
            let mut call = call_of("strpos", vec![r#in.as_ref().clone(), expr.as_ref().clone()]);
            let other = rewritten(&mut call)?;
            Ok(Some(other.unwrap_or(call)))
        }
        Expr::Trim { trim_what, trim_characters, .. } => {
            if let Some([characters]) = trim_characters.as_deref() {
                *trim_what = Some(Box::new(characters.clone()));
                *trim_characters = None;
            }
            Ok(None)
        }
        // Without parentheses, polars takes what follows for its right side too.
        Expr::IsDistinctFrom(..) | Expr::IsNotDistinctFrom(..) => Ok(Some(Expr::Nested(Box::new(expr.clone())))),
        Expr::IsTrue(inner) => Ok(filled("{0} IS NOT DISTINCT FROM TRUE", &[inner.as_ref().clone()])),
        Expr::IsFalse(inner) => Ok(filled("{0} IS NOT DISTINCT FROM FALSE", &[inner.as_ref().clone()])),
        Expr::IsNotTrue(inner) => Ok(filled("{0} IS DISTINCT FROM TRUE", &[inner.as_ref().clone()])),
        Expr::IsNotFalse(inner) => Ok(filled("{0} IS DISTINCT FROM FALSE", &[inner.as_ref().clone()])),
        Expr::IsUnknown(inner) => Ok(filled("{0} IS NULL", &[inner.as_ref().clone()])),
        Expr::IsNotUnknown(inner) => Ok(filled("{0} IS NOT NULL", &[inner.as_ref().clone()])),
        // Without the sign, the digits overflow 64 bits.
        Expr::UnaryOp { op: UnaryOperator::Minus, expr: inner } if is_least(inner) => {
            Ok(expression("(-9223372036854775807 - 1)"))
        }
        Expr::Function(function) => of_function(function),
        _ => Ok(None),
    }
}

fn is_arithmetic(op: &BinaryOperator) -> bool {
    use BinaryOperator as Op;
    matches!(
        op,
        Op::Plus | Op::Minus | Op::Multiply | Op::Divide | Op::Modulo | Op::DuckIntegerDivide | Op::MyIntegerDivide
    )
}

/// An unknown number.
const UNKNOWN: &str = "CAST(NULL AS BIGINT)";

/// An unknown number for each row.
const UNKNOWN_OF_ROWS: &str = "CASE WHEN {0} IS NULL THEN CAST(NULL AS BIGINT) END";

/// Integer division truncates toward zero; polars rounds down.
const QUOTIENT: &str = "CASE WHEN ({0} < 0) = ({1} < 0) THEN DIV({0}, {1}) ELSE -DIV(-({0}), {1}) END";

/// The remainder of a division has the sign of the dividend; in polars it has the sign of the divisor.
const REMAINDER: &str = "CASE WHEN ({0} < 0) = ({1} < 0) THEN MOD({0}, {1}) ELSE -MOD(-({0}), {1}) END";

/// The position of a text in another.
const FOUND_AT: &str = "CASE WHEN {0} IS NOT NULL THEN CAST(STRPOS({0}, {1}) AS BIGINT) END";

/// A power is a float, for operands of any type.
const POWER: &str = "POWER(CAST({0} AS DOUBLE), CAST({1} AS DOUBLE))";

/// Whether an expression is the size of the smallest number of 64 bits.
pub(crate) fn is_least(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if matches!(&value.value, Value::Number(digits, _) if digits == "9223372036854775808"))
}

/// Whether a text matches a regular expression.
fn matched(name: &str, text: &Expr, pattern: Expr, negated: bool) -> Expr {
    let call = call_of(name, vec![text.clone(), pattern]);
    if negated { Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(call) } } else { call }
}

/// LIKE with an escape character.
fn like(text: &Expr, pattern: &Expr, escape: &Value, negated: bool, options: &str) -> Result<Option<Expr>, QueryError> {
    let wrong =
        || refused("LIKE … ESCAPE takes a pattern and one character as texts of the statement; write them there");
    let (Some(pattern), Some(escape)) = (text_of(pattern), escape.clone().into_string()) else { return Err(wrong()) };
    let mut characters = escape.chars();
    let (Some(escape), None) = (characters.next(), characters.next()) else { return Err(wrong()) };
    let mut regex = options.to_owned();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            _ if letter == escape => regex += &regex::escape(&letters.next().ok_or_else(wrong)?.to_string()),
            '%' => regex += ".*",
            '_' => regex.push('.'),
            _ => regex += &regex::escape(&letter.to_string()),
        }
    }
    let regex = Expr::Value(Value::SingleQuotedString(regex).into());
    Ok(Some(matched("regexp_full_match", text, regex, negated)))
}

fn text_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(value) => value.value.clone().into_string(),
        _ => None,
    }
}

/// Functions that return unsigned integers in polars, whose differences wrap around.
const COUNTS: &[&str] = &["count", "length", "row_number", "rank", "dense_rank"];

fn of_function(function: &mut Function) -> Result<Option<Expr>, QueryError> {
    let name = name_of(function);
    if matches!(name.as_str(), "percentile_cont" | "percentile_disc") {
        return ordered_set(function, &name).map(Some);
    }
    if name.starts_with("regexp_") && arguments(function).iter().skip(1).any(|one| !matches!(one, Expr::Value(_))) {
        return Err(refused(format!(
            "{name} takes a pattern and options that are texts in the statement; write them there"
        )));
    }
    if let FunctionArguments::List(list) = &mut function.args {
        for clause in &mut list.clauses {
            if let FunctionArgumentClause::OrderBy(orders) = clause {
                orders.iter_mut().for_each(|order| {
                    order.options.nulls_first = order.options.nulls_first.or(Some(false));
                });
            }
        }
    }
    // DISTINCT does not change a minimum or maximum.
    if matches!(name.as_str(), "min" | "max")
        && let FunctionArguments::List(list) = &mut function.args
    {
        list.duplicate_treatment = None;
    }
    if FINDS_TEXT.contains(&name.as_str()) {
        escape(function)?;
    }
    filter_first(function)?;
    if matches!(name.as_str(), "strpos" | "instr") {
        // polars returns position 0 for a missing text.
        let given: Vec<Expr> = arguments(function).into_iter().cloned().collect();
        return Ok(filled(FOUND_AT, &given).filter(|_| given.len() == 2));
    }
    let Some(rewrite) = FILE.rewrite.iter().find(|rewrite| rewrite.name == name) else { return Ok(counted(function)) };
    if let Some(instead) = &rewrite.instead {
        return Err(refused(format!(
            "polars has no {name}; {instead}, or run the statement in DuckDB over a dataset of `wavesieve convert`"
        )));
    }
    if let Some(renamed) = &rewrite.renamed {
        function.name.0 = vec![sqlparser::ast::ObjectNamePart::Identifier(Ident::new(renamed))];
        return Ok(counted(function));
    }
    let Some(becomes) = &rewrite.becomes else { return Ok(None) };
    if function.over.is_some() {
        return Err(refused(format!(
            "polars has no {name} over a window; compute it in a grouped subquery and join that"
        )));
    }
    if matches!(&function.args, FunctionArguments::List(list) if list.duplicate_treatment == Some(DuplicateTreatment::Distinct))
    {
        return Err(refused(format!("polars has no {name} of distinct values; take them in a subquery")));
    }
    let mut given: Vec<Expr> = arguments(function).into_iter().cloned().collect();
    if let Some(filter) = &function.filter {
        // Missing values do not count in an aggregate.
        for argument in &mut given {
            *argument = filled("CASE WHEN {0} THEN {1} END", &[filter.as_ref().clone(), argument.clone()])
                .ok_or_else(|| refused(format!("{name} cannot be filtered; use WHERE")))?;
        }
    }
    let wanted = (0..).take_while(|at| becomes.contains(&format!("{{{at}}}"))).count();
    if given.len() != wanted {
        return Err(refused(format!("{name} takes {wanted} arguments here, not {}; change the call", given.len())));
    }
    Ok(filled(becomes, &given))
}

/// Filters only the first argument of an aggregate with several. polars filters all arguments, so that the fraction of a quantile has no
/// value left.
fn filter_first(function: &mut Function) -> Result<(), QueryError> {
    if !AGGREGATES.contains(&name_of(function).as_str()) || arguments(function).len() < 2 || function.over.is_some() {
        return Ok(());
    }
    let Some(filter) = function.filter.take() else { return Ok(()) };
    let FunctionArguments::List(list) = &mut function.args else { return Ok(()) };
    if let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(first))) = list.args.first_mut() {
        // Missing values do not count in an aggregate.
        *first = filled("CASE WHEN {0} THEN {1} END", &[*filter, first.clone()])
            .ok_or_else(|| refused("an aggregate cannot be filtered; use WHERE"))?;
    }
    Ok(())
}

/// Casts a count to a signed integer, so that differences can be negative.
fn counted(function: &Function) -> Option<Expr> {
    if !COUNTS.contains(&name_of(function).as_str()) {
        return None;
    }
    let mut cast = expression("CAST(1 AS BIGINT)")?;
    if let Expr::Cast { expr, .. } = &mut cast {
        **expr = Expr::Function(function.clone());
    }
    Some(cast)
}

/// Functions whose second argument is a text, which polars takes for a regular expression.
const FINDS_TEXT: [&str; 3] = ["contains", "instr", "strpos"];

/// Characters with a meaning in regular expressions; the first escapes the others.
const SPECIAL: [&str; 14] = ["\\", ".", "+", "*", "?", "(", ")", "|", "[", "]", "{", "}", "^", "$"];

/// Escapes the searched text, so that it is matched literally.
fn escape(function: &mut Function) -> Result<(), QueryError> {
    let FunctionArguments::List(list) = &mut function.args else { return Ok(()) };
    match list.args.get_mut(1) {
        Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(value)))) => {
            if let Value::SingleQuotedString(text) = &mut value.value {
                *text = regex::escape(text);
            }
        }
        Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))) => {
            // The text differs by row.
            for special in SPECIAL {
                let template = format!("REPLACE({{0}}, '{special}', '\\{special}')");
                let escaped = filled(&template, std::slice::from_ref(expr))
                    .ok_or_else(|| refused("internal: no REPLACE".to_owned()))?;
                *expr = escaped;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Whether a function computes one value from its first argument over several rows, of a group or a window.
pub(crate) fn is_of_rows(function: &Function) -> bool {
    function.within_group.is_empty() && AGGREGATES.contains(&name_of(function).as_str())
}

/// Gives constant arguments of an aggregate a value for each row, because polars would take them as one value for all rows. `column` is any
/// column of these rows.
///
/// # Errors
/// When no column is known.
pub fn spread(function: &mut Function, column: Option<Expr>) -> Result<(), QueryError> {
    let is_count = name_of(function) == "count";
    let FunctionArguments::List(list) = &mut function.args else { return Ok(()) };
    if let [FunctionArg::Unnamed(argument)] = list.args.as_mut_slice()
        && let FunctionArgExpr::Expr(Expr::Value(value)) = &*argument
        && is_count
        && value.value != Value::Null
        && list.duplicate_treatment.is_none()
    {
        *argument = FunctionArgExpr::Wildcard;
    }
    let first = match list.args.first_mut() {
        Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))) => Some(expr),
        _ => None,
    };
    for constant in first.into_iter().chain(function.filter.as_deref_mut()).filter(|expr| is_constant(expr)) {
        let column = column.clone().ok_or_else(|| {
            refused(format!("the aggregate of the constant {constant} needs a column; multiply it by count(*)"))
        })?;
        if let Some(spread) = spread_over(&column, constant) {
            *constant = spread;
        }
    }
    Ok(())
}

/// A constant as a value for each row of the table that has the column.
pub(crate) fn spread_over(column: &Expr, constant: &Expr) -> Option<Expr> {
    filled("CASE WHEN {0} IS NULL THEN {1} ELSE {1} END", &[column.clone(), constant.clone()])
}

/// Whether an expression has the same value for all rows.
pub fn is_constant(expr: &Expr) -> bool {
    let mut is_constant = true;
    let mut look = |expr: &mut Expr| {
        is_constant &= !matches!(
            expr,
            Expr::Identifier(_)
                | Expr::CompoundIdentifier(_)
                | Expr::Subquery(_)
                | Expr::Exists { .. }
                | Expr::Wildcard(_)
                | Expr::QualifiedWildcard(..)
        );
    };
    let _ = expr.clone().visit(&mut Each::new(&mut look));
    is_constant
}

/// A template with expressions in place of its numbers.
fn filled(template: &str, given: &[Expr]) -> Option<Expr> {
    let named = (0..given.len())
        .fold(template.to_owned(), |text, at| text.replace(&format!("{{{at}}}"), &format!("argument_{at}")));
    let mut whole = Expr::Nested(Box::new(expression(&named)?));
    let mut place = |expr: &mut Expr| {
        if let Expr::Identifier(word) = expr
            && let Some(at) = word.value.strip_prefix("argument_").and_then(|at| at.parse::<usize>().ok())
            && let Some(argument) = given.get(at)
        {
            *expr = match argument {
                Expr::BinaryOp { .. } => Expr::Nested(Box::new(argument.clone())),
                other => other.clone(),
            };
        }
    };
    let _ = whole.visit(&mut Each::new(&mut place));
    Some(whole)
}

/// `percentile_cont(q) WITHIN GROUP (ORDER BY x)` as a quantile.
fn ordered_set(function: &Function, name: &str) -> Result<Expr, QueryError> {
    let wrong = || refused(format!("{name} takes a share from 0 to 1 and WITHIN GROUP (ORDER BY column); write both"));
    let given = arguments(function);
    let ([share], [order]) = (given.as_slice(), function.within_group.as_slice()) else { return Err(wrong()) };
    let Expr::Value(value) = share else { return Err(wrong()) };
    let Value::Number(digits, _) = &value.value else { return Err(wrong()) };
    let share: f64 = digits.parse().map_err(|_| wrong())?;
    let share = if order.options.asc == Some(false) { 1.0 - share } else { share };
    let quantile = if name == "percentile_cont" { "quantile_cont" } else { "quantile_disc" };
    let share = expression(&format!("{share:?}")).ok_or_else(wrong)?;
    let mut call = call_of(quantile, vec![order.expr.clone(), share]);
    if let Expr::Function(quantile) = &mut call {
        quantile.filter.clone_from(&function.filter);
    }
    Ok(call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_can_be_read() {
        let file: FunctionsFile = toml::from_str(data!("share/sql/functions.toml")).unwrap();
        for rewrite in &file.rewrite {
            let ways = [&rewrite.renamed, &rewrite.becomes, &rewrite.instead];
            assert_eq!(ways.iter().filter(|way| way.is_some()).count(), 1, "{}", rewrite.name);
        }
        for call in &file.function {
            assert!(expression(&call.call).is_some(), "{}", call.call);
        }
    }

    #[test]
    fn numbers_with_exponents() {
        let shown = |digits| literal_number(digits).map(|expr| expr.to_string());
        assert_eq!(shown("1e6").as_deref(), Some("1000000.0"));
        assert_eq!(shown("2.5E-3").as_deref(), Some("0.0025"));
        assert_eq!(shown("12"), None);
    }
}
