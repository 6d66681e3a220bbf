//! Conditions over the columns of a table, as users write them in SQL.

use std::collections::BTreeSet;

use polars::prelude::{AggExpr, BooleanFunction, DataType, Expr, FunctionExpr, IntoLazy, StringFunction};
use polars::sql::sql_expr;

use super::depth::{DEEPEST, is_too_deep};
use super::dialect::bound_condition;
use crate::failures::reasons::reason_of;
use wavesieve_model::schema::{Table, tables};
use wavesieve_model::text::similar::closest;
use wavesieve_tables::columns::frames::empty_frame;
use wavesieve_tables::trace::selection::Condition;

/// Reads an SQL expression.
///
/// # Errors
/// When it is not a condition, names no column, or names columns that no table has together.
pub fn parse_condition(written: &str) -> Result<Condition, String> {
    if is_too_deep(written) {
        return Err(format!("the condition has more than {DEEPEST} operators in a row; put many values into IN"));
    }
    // Every function of one row has arguments, and some functions of polars panic without them.
    if calls_without_arguments(written) {
        return Err(refusal(written, "a function has no arguments"));
    }
    let expression = sql_expr(bound_condition(written)).map_err(|error| refusal(written, &error.to_string()))?;
    if let Some(reason) = (&expression).into_iter().find_map(beyond_one_row) {
        return Err(format!("{written} {reason}"));
    }
    let columns: BTreeSet<String> = (&expression)
        .into_iter()
        .filter_map(|node| match node {
            Expr::Column(name) => Some(name.to_string()),
            _ => None,
        })
        .collect();
    if columns.is_empty() {
        return Err(format!("{written} has no column; write a condition such as \"duration_ns > 1000\""));
    }
    let condition = Condition::new(written, expression, columns);
    for column in condition.columns() {
        if !tables().iter().any(|table| table.column(column).is_some()) {
            let known = tables().iter().flat_map(|table| table.column_names());
            let hint = closest(column, known).map(|name| format!("; did you mean {name}")).unwrap_or_default();
            return Err(format!("no table has column {column} of {written}{hint}"));
        }
    }
    if tables().iter().any(|table| condition.fits(table)) {
        tried(condition)
    } else {
        Err(format!("no table has all columns of {written}; see wavesieve schema"))
    }
}

/// The condition for one table only: the table that a query is about.
///
/// # Errors
/// When the table lacks a column.
pub fn condition_on(condition: Condition, table: &'static Table) -> Result<Condition, String> {
    let missing = condition.columns().find(|column| table.column(column).is_none());
    if let Some(column) = missing {
        let hint = closest(column, table.column_names());
        let hint = hint.map(|name| format!("; did you mean {name}")).unwrap_or_default();
        return Err(format!("{} has no column {column}, which {} needs{hint}", table.name, condition.written()));
    }
    if let Some(reason) = reason_against(&condition, table) {
        return Err(reason);
    }
    Ok(condition.of_table(table))
}

/// Tries a condition on every table that it fits, to detect incompatible types: columns with the same name may differ in type.
fn tried(condition: Condition) -> Result<Condition, String> {
    let (mut refused, mut mistyped) = (None, BTreeSet::new());
    for table in tables().iter().filter(|table| condition.fits(table)) {
        if let Some(reason) = reason_against(&condition, table) {
            mistyped.insert(table.name);
            refused.get_or_insert(reason);
        }
    }
    let condition = condition.except(mistyped);
    let reason = refused.filter(|_| !tables().iter().any(|table| condition.fits(table)));
    reason.map_or(Ok(condition), Err)
}

/// The reason why a condition cannot filter a table, if there is one.
fn reason_against(condition: &Condition, table: &Table) -> Option<String> {
    let named: BTreeSet<&str> = condition.columns().collect();
    let columns: Vec<_> = table.columns.iter().filter(|column| named.contains(column.name)).collect();
    match empty_frame(&columns).lazy().select([condition.expression().alias("met")]).collect() {
        Err(error) => Some(refusal(condition.written(), &error.to_string())),
        Ok(tried) => {
            let is_condition = tried.column("met").is_ok_and(|met| met.dtype() == &DataType::Boolean);
            (!is_condition).then(|| refusal(condition.written(), "it is neither true nor false"))
        }
    }
}

/// The message for a text that is not a condition, with the readable first line of the reason.
fn refusal(written: &str, reason: &str) -> String {
    let reason = reason.lines().next().unwrap_or_default();
    let reason = reason_of(reason.split_once('{').map_or(reason, |(before, _)| before).trim());
    format!("{written} is not a condition ({reason}); write one such as \"duration_ns > 1000\"")
}

/// Whether any call has empty parentheses, outside of texts and quoted names.
fn calls_without_arguments(written: &str) -> bool {
    let mut quote = None;
    let mut opened = false;
    for letter in written.chars() {
        match quote {
            Some(end) if letter == end => quote = None,
            Some(_) => {}
            None if opened && letter == ')' => return true,
            None => {
                opened = letter == '(' || opened && letter.is_whitespace();
                quote = Some(letter).filter(|letter| matches!(letter, '\'' | '"'));
            }
        }
    }
    false
}

/// The problem of an expression whose value for a row depends on more than that row.
fn beyond_one_row(node: &Expr) -> Option<String> {
    let rather = "use a query with `wavesieve sql`";
    let known = match node {
        Expr::Column(_)
        | Expr::Literal(_)
        | Expr::BinaryExpr { .. }
        | Expr::Cast { .. }
        | Expr::Ternary { .. }
        | Expr::Alias(..) => true,
        // The list behind IN.
        Expr::Agg(AggExpr::Implode { input, .. }) => matches!(input.as_ref(), Expr::Literal(_)),
        Expr::Selector(_) => return Some("selects columns by a pattern; list each of them".to_owned()),
        Expr::Function { input, function } => {
            if let (Some(Expr::Column(table)), true) = (input.first(), function.to_string().contains("field_by_name")) {
                return Some(format!("qualifies a column with {table}; write the column alone"));
            }
            if !is_of_one_row(function) {
                return Some(format!("calls {function}, which is unsupported in conditions; {rather}"));
            }
            true
        }
        Expr::AnonymousFunction { options, .. } => options.is_elementwise(),
        _ => false,
    };
    (!known).then(|| format!("needs more than one row; {rather}"))
}

/// Whether a function takes each row by itself and accepts any value.
fn is_of_one_row(function: &FunctionExpr) -> bool {
    match function {
        FunctionExpr::StringExpr(function) => !matches!(
            function,
            StringFunction::ConcatVertical { .. } | StringFunction::PadStart { .. } | StringFunction::PadEnd { .. }
        ),
        FunctionExpr::Boolean(function) => matches!(
            function,
            BooleanFunction::IsNull
                | BooleanFunction::IsNotNull
                | BooleanFunction::IsFinite
                | BooleanFunction::IsInfinite
                | BooleanFunction::IsNan
                | BooleanFunction::IsNotNan
                | BooleanFunction::IsIn { .. }
                | BooleanFunction::AllHorizontal
                | BooleanFunction::AnyHorizontal
                | BooleanFunction::Not
        ),
        FunctionExpr::Negate
        | FunctionExpr::FillNull
        | FunctionExpr::Coalesce
        | FunctionExpr::Clip { .. }
        | FunctionExpr::Round { .. }
        | FunctionExpr::Truncate { .. }
        | FunctionExpr::Floor
        | FunctionExpr::Ceil
        | FunctionExpr::MaxHorizontal
        | FunctionExpr::MinHorizontal
        | FunctionExpr::Abs => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use polars::prelude::{DataFrame, df};

    use super::*;
    use wavesieve_model::schema;
    use wavesieve_tables::trace::selection::{SharedMask, TextMask};

    fn table(name: &str) -> &'static Table {
        schema::table(name).unwrap()
    }

    #[test]
    fn it_fits_tables_with_all_columns() {
        let condition = parse_condition("duration_ns > 1000 AND kernel_name LIKE 'a%'").unwrap();
        assert!(condition.fits(table("kernels")) && !condition.fits(table("regions")));
        let condition = parse_condition("valid").unwrap();
        assert!(condition.fits(table("regions")));
        let condition = condition_on(condition, table("kernels")).unwrap();
        assert!(condition.fits(table("kernels")) && !condition.fits(table("regions")));
    }

    #[test]
    fn functions_of_one_row() {
        for text in [
            "gpu IN (0, NULL)",
            "category LIKE '%()'",
            "UPPER(category) = 'GEMM' OR LENGTH(kernel_name) > 5",
            "COALESCE(gpu, 7) BETWEEN 1 AND 7",
            "CASE WHEN valid THEN duration_ns END > 1.5",
            "\"duration_ns\" / 0 > 1 AND kernel_name || 'x' <> short_name",
            "NULLIF(GREATEST(duration_ns, grid_x), 0) IS NOT NULL",
        ] {
            assert_eq!(parse_condition(text).err(), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_condition() {
        for (text, part) in [
            ("1 = 1", "has no column"),
            ("durations_ns > 1", "did you mean duration_ns"),
            ("bytes > 1 AND grid_x = 1", "no table has all columns"),
            ("duration_ns >", "is not a condition"),
            ("SELECT 1", "is not a condition"),
            ("duration_ns", "neither true nor false"),
            ("duration_ns > 'x'", "is not a condition"),
            ("duration_ns > AVG(duration_ns)", "more than one row"),
            ("valid AND COUNT(*) > 1", "more than one row"),
            ("SUM(duration_ns) OVER (PARTITION BY gpu) > 5", "more than one row"),
            ("MEDIAN(duration_ns) < duration_ns", "use a query with"),
            ("UNNEST(duration_ns) > 1", "more than one row"),
            ("GREATEST( ) > duration_ns", "has no arguments"),
            ("POW(duration_ns, 99) > 1", "unsupported in conditions"),
            ("valid AND COLUMNS('dur.*') > 5", "by a pattern"),
            ("kernels.duration_ns > 5", "write the column alone"),
        ] {
            let reason = parse_condition(text).unwrap_err();
            assert!(reason.contains(part), "{text}: {reason}");
        }
        let reason = condition_on(parse_condition("bytes > 1").unwrap(), table("kernels")).unwrap_err();
        assert!(reason.starts_with("kernels has no column bytes"), "{reason}");
    }

    #[derive(Debug)]
    struct Stars;

    impl TextMask for Stars {
        fn masked(&self, _: &str, _: &str) -> String {
            "***".to_owned()
        }

        fn with_names(&self, sql: &str) -> String {
            sql.to_owned()
        }

        fn pattern_with_names(&self, pattern: &str) -> String {
            pattern.to_owned()
        }
    }

    /// `value` is a number in counters and a text in arguments.
    #[test]
    fn columns_of_one_name_are_masked_where_they_are_texts() {
        let mask: SharedMask = Arc::new(Stars);
        let met = |condition: &str, frame: DataFrame| {
            let condition = parse_condition(condition).unwrap().behind(Arc::clone(&mask));
            frame.lazy().filter(condition.expression()).collect().unwrap().height()
        };
        let numbers = df!("value" => [9.0, 20.0, 100.0]).unwrap();
        assert_eq!((met("value > 15", numbers.clone()), met("value < 1000", numbers)), (2, 3));
        let texts = df!("value" => ["9", "secret"]).unwrap();
        assert_eq!((met("value = 'secret'", texts.clone()), met("value = '***'", texts)), (0, 2));
    }
}
