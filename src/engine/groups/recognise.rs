//! Finds the common table expressions of a statement that group the rows of a table by columns.

use std::collections::{BTreeMap, BTreeSet};

use sqlparser::ast::{Cte, Expr, GroupByExpr, Query, Select, SelectItem, SetExpr, Statement, TableFactor};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

use crate::engine::mentions::mentions;
use crate::trace::schema::{self, ColumnType, Origin, Table};

/// What is taken of the rows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aggregate {
    /// Number of rows.
    Count,
    /// Sum of an integer column.
    Sum(&'static str),
    /// Its least value.
    Min(&'static str),
    /// Its greatest value.
    Max(&'static str),
    /// Its median.
    Median(&'static str),
    /// Its sample standard deviation.
    Deviation(&'static str),
}

/// A column of a grouping.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Output {
    /// What rows of a group have in common.
    Key(&'static str),
    /// What is taken of them.
    Aggregate(Aggregate),
}

/// A common table expression that groups rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grouping {
    /// Its name.
    pub name: String,
    /// The table that is grouped.
    pub table: &'static Table,
    /// Columns that must be true.
    pub filters: BTreeSet<&'static str>,
    /// Names and meanings of its columns.
    pub outputs: Vec<(String, Output)>,
}

/// A statement without its groupings.
pub struct Recognised {
    /// What it must be given as tables.
    pub groupings: Vec<Grouping>,
    /// The rest of it.
    pub sql: String,
}

/// Columns of a table, some under other names, of the rows for which some columns are true.
struct Rows {
    table: &'static Table,
    filters: BTreeSet<&'static str>,
    columns: BTreeMap<String, &'static str>,
}

/// Takes the groupings out of a statement; `None` where it has none.
pub fn recognise(sql: &str) -> Option<Recognised> {
    recognise_over(sql, &|table| table.origin != Origin::Derived)
}

/// As [`recognise`], of derived tables too: where these are made for others anyway, or are not kept after.
pub fn recognise_all(sql: &str) -> Option<Recognised> {
    recognise_over(sql, &|_| true)
}

/// Tells which tables are grouped here.
type May<'a> = dyn Fn(&Table) -> bool + 'a;

fn recognise_over(sql: &str, may: &May<'_>) -> Option<Recognised> {
    let statements = Parser::parse_sql(&GenericDialect {}, sql).ok()?;
    let Ok([Statement::Query(mut query)]) = <[Statement; 1]>::try_from(statements) else { return None };
    let mut with = query.with.take().filter(|with| !with.recursive)?;
    // A name that hides a table, or is given twice, would be taken for the other here.
    let names: BTreeSet<String> = with.cte_tables.iter().map(|cte| cte.alias.name.value.clone()).collect();
    if names.len() < with.cte_tables.len() || names.iter().any(|name| schema::table(name).is_some()) {
        return None;
    }
    let mut rows: BTreeMap<String, Rows> = BTreeMap::new();
    let mut groupings: Vec<Grouping> = Vec::new();
    with.cte_tables.retain(|cte| {
        let Some(name) = bare_name(cte) else { return true };
        let Some(select) = plain(&cte.query) else { return true };
        if let Some(outputs) = grouped(&name, select, &rows, may) {
            groupings.push(outputs);
            return false;
        }
        if let Some(chosen) = chosen(select, may) {
            rows.insert(name, chosen);
        }
        true
    });
    if groupings.is_empty() {
        return None;
    }
    // What only the groupings used must not be read.
    while let Some(unused) = with.cte_tables.iter().enumerate().rev().find_map(|(at, cte)| {
        let name = bare_name(cte)?;
        let later = with.cte_tables.iter().skip(at + 1).map(|later| later.query.to_string());
        let used = later.chain([query.to_string()]).any(|text| mentions(&text, &name.to_lowercase()));
        (!used).then_some(at)
    }) {
        with.cte_tables.remove(unused);
    }
    if !with.cte_tables.is_empty() {
        query.with = Some(with);
    }
    Some(Recognised { groupings, sql: query.to_string() })
}

/// The name of a common table expression that names nothing else, and needs no quotes.
fn bare_name(cte: &Cte) -> Option<String> {
    let name = &cte.alias.name;
    (cte.alias.columns.is_empty() && name.quote_style.is_none()).then(|| name.value.clone())
}

/// The SELECT of a query that is nothing else.
fn plain(query: &Query) -> Option<&Select> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    (query.to_string() == select.to_string()).then_some(select)
}

/// A SELECT of nothing but projection, one table, filter and grouping, taken apart.
struct Parts<'a> {
    table: String,
    alias: Option<String>,
    items: Vec<(Option<String>, &'a Expr)>,
    filters: Vec<&'a Expr>,
    keys: &'a [Expr],
}

fn parts(select: &Select) -> Option<Parts<'_>> {
    let [from] = select.from.as_slice() else { return None };
    let TableFactor::Table { name, alias, .. } = &from.relation else { return None };
    let GroupByExpr::Expressions(keys, modifiers) = &select.group_by else { return None };
    let items = select.projection.iter().map(|item| match item {
        SelectItem::UnnamedExpr(expr) => Some((None, expr)),
        SelectItem::ExprWithAlias { expr, alias } => Some((Some(alias.value.clone()), expr)),
        _ => None,
    });
    let mut filters = Vec::new();
    if let Some(condition) = &select.selection {
        conjuncts(condition, &mut filters);
    }
    let parts = Parts {
        table: name.to_string(),
        alias: alias.as_ref().map(|alias| alias.name.value.clone()),
        items: items.collect::<Option<_>>()?,
        filters,
        keys,
    };
    // Written again from these parts it must be the same, or it has others.
    let list = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>().join(", ");
    let mut text =
        format!("SELECT {} FROM {}", list(&mut select.projection.iter().map(ToString::to_string)), parts.table);
    if let Some(alias) = &parts.alias {
        text += &format!(" AS {alias}");
    }
    if let Some(condition) = &select.selection {
        text += &format!(" WHERE {condition}");
    }
    if !keys.is_empty() {
        text += &format!(" GROUP BY {}", list(&mut keys.iter().map(ToString::to_string)));
    }
    (modifiers.is_empty() && text == select.to_string()).then_some(parts)
}

fn conjuncts<'a>(condition: &'a Expr, conditions: &mut Vec<&'a Expr>) {
    match condition {
        Expr::BinaryOp { left, op: sqlparser::ast::BinaryOperator::And, right } => {
            conjuncts(left, conditions);
            conjuncts(right, conditions);
        }
        other => conditions.push(other),
    }
}

impl Parts<'_> {
    /// The name of a column of the only table.
    fn column(&self, text: &str) -> Option<String> {
        let own = self.alias.as_ref().unwrap_or(&self.table);
        let name = match text.split_once('.') {
            Some((table, name)) if table == own => name,
            Some(_) => return None,
            None => text,
        };
        let is_word = name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
        (is_word && !name.is_empty()).then(|| name.to_owned())
    }
}

fn known_table(name: &str, may: &May<'_>) -> Option<&'static Table> {
    schema::table(name).filter(|table| may(table))
}

fn of_table(table: &'static Table, name: &str) -> Option<&'static str> {
    table.column(name).map(|column| column.name)
}

/// A SELECT that does nothing but name columns of rows of a canonical table.
fn chosen(select: &Select, may: &May<'_>) -> Option<Rows> {
    let parts = parts(select).filter(|parts| parts.keys.is_empty())?;
    let table = known_table(&parts.table, may)?;
    let mut columns = BTreeMap::new();
    for (alias, expr) in &parts.items {
        let name = parts.column(&expr.to_string())?;
        columns.insert(alias.clone().unwrap_or_else(|| name.clone()), of_table(table, &name)?);
    }
    let filters = filters(&parts, |name| of_table(table, name), table)?;
    Some(Rows { table, filters, columns })
}

fn filters(
    parts: &Parts<'_>,
    resolve: impl Fn(&str) -> Option<&'static str>,
    table: &'static Table,
) -> Option<BTreeSet<&'static str>> {
    let column = |expr: &&Expr| {
        let name = resolve(&parts.column(&expr.to_string())?)?;
        (table.column(name)?.column_type == ColumnType::Bool).then_some(name)
    };
    parts.filters.iter().map(column).collect()
}

fn grouped(name: &str, select: &Select, rows: &BTreeMap<String, Rows>, may: &May<'_>) -> Option<Grouping> {
    let parts = parts(select).filter(|parts| !parts.keys.is_empty())?;
    let known = rows.get(&parts.table);
    let table = match known {
        Some(rows) => rows.table,
        None => known_table(&parts.table, may)?,
    };
    let resolve = |name: &str| match known {
        Some(rows) => rows.columns.get(name).copied(),
        None => of_table(table, name),
    };
    let type_of = |name: &'static str| table.column(name).map(|column| column.column_type);
    let mut outputs = Vec::new();
    let mut keys = BTreeSet::new();
    for (alias, expr) in &parts.items {
        let text = expr.to_string();
        if let Some(written) = parts.column(&text) {
            let column = resolve(&written)
                .filter(|column| matches!(type_of(column), Some(ColumnType::I64 | ColumnType::Cat)))?;
            keys.insert(column);
            outputs.push((alias.clone().unwrap_or(written), Output::Key(column)));
        } else {
            let value =
                |text: &str| resolve(&parts.column(text)?).filter(|name| type_of(name) == Some(ColumnType::I64));
            outputs.push((alias.clone()?, Output::Aggregate(aggregate(&text, value)?)));
        }
    }
    let by: BTreeSet<&'static str> =
        parts.keys.iter().map(|key| resolve(&parts.column(&key.to_string())?)).collect::<Option<_>>()?;
    // What is wrong with names that are given twice the engine says better.
    let names: BTreeSet<&String> = outputs.iter().map(|(name, _)| name).collect();
    if names.len() < outputs.len() {
        return None;
    }
    let mut filters = filters(&parts, resolve, table)?;
    filters.extend(known.iter().flat_map(|rows| rows.filters.iter().copied()));
    (by == keys).then(|| Grouping { name: name.to_owned(), table, filters, outputs })
}

/// An aggregate by the way it is written in queries.
fn aggregate(text: &str, value: impl Fn(&str) -> Option<&'static str>) -> Option<Aggregate> {
    let uncast = text.strip_prefix("CAST(").and_then(|text| text.strip_suffix(" AS BIGINT)")).unwrap_or(text);
    let inner = |function: &str| uncast.strip_prefix(function)?.strip_prefix('(')?.strip_suffix(')');
    let double = |function: &str| inner(function)?.strip_prefix("CAST(")?.strip_suffix(" AS DOUBLE)").and_then(&value);
    if uncast == "COUNT(*)" {
        return Some(Aggregate::Count);
    }
    let is_integer = uncast == text;
    inner("SUM")
        .and_then(&value)
        .map(Aggregate::Sum)
        .or_else(|| inner("MIN").and_then(&value).map(Aggregate::Min))
        .or_else(|| inner("MAX").and_then(&value).map(Aggregate::Max))
        .or_else(|| double("MEDIAN").filter(|_| is_integer).map(Aggregate::Median))
        .or_else(|| double("STDDEV").filter(|_| is_integer).map(Aggregate::Deviation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grouping_of_chosen_rows() {
        let sql = "WITH d AS (SELECT k.rank, k.kernel_name AS name, k.duration_ns FROM kernels AS k WHERE k.valid), \
                   g AS (SELECT rank, name, CAST(COUNT(*) AS BIGINT) AS calls, STDDEV(CAST(duration_ns AS DOUBLE)) AS s \
                   FROM d GROUP BY rank, name) SELECT calls FROM g ORDER BY calls";
        let recognised = recognise(sql).unwrap();
        assert_eq!(recognised.sql, "SELECT calls FROM g ORDER BY calls");
        let [grouping] = recognised.groupings.as_slice() else { unreachable!() };
        assert_eq!((grouping.name.as_str(), grouping.table.name), ("g", "kernels"));
        assert_eq!(grouping.filters, BTreeSet::from(["valid"]));
        let outputs: Vec<(&str, Output)> =
            grouping.outputs.iter().map(|(name, output)| (name.as_str(), output.clone())).collect();
        assert_eq!(
            outputs,
            [
                ("rank", Output::Key("rank")),
                ("name", Output::Key("kernel_name")),
                ("calls", Output::Aggregate(Aggregate::Count)),
                ("s", Output::Aggregate(Aggregate::Deviation("duration_ns"))),
            ]
        );
    }

    #[test]
    fn anything_more_is_left_to_the_engine() {
        for body in [
            "SELECT rank, COUNT(DISTINCT gpu) AS n FROM kernels GROUP BY rank",
            "SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank HAVING COUNT(*) > 1",
            "SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank, gpu",
            "SELECT rank, COUNT(*) AS n FROM kernels WHERE duration_ns > 5 GROUP BY rank",
            "SELECT rank, COUNT(*) FILTER (WHERE valid) AS n FROM kernels GROUP BY rank",
            "SELECT rank, SUM(DISTINCT gpu) AS n FROM kernels GROUP BY rank",
            "SELECT rank, MEDIAN(duration_ns) AS n FROM kernels GROUP BY rank",
            "SELECT k.rank, COUNT(*) AS n FROM kernels AS k JOIN agents AS a ON a.process = k.process GROUP BY k.rank",
            "SELECT rank, COUNT(*) AS n FROM gpu_segments GROUP BY rank",
            "SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank LIMIT 1",
            "SELECT DISTINCT rank, COUNT(*) AS n FROM kernels GROUP BY rank",
            "SELECT COUNT(*) AS n FROM kernels",
        ] {
            assert!(recognise(&format!("WITH g AS ({body}) SELECT n FROM g")).is_none(), "{body}");
        }
    }

    #[test]
    fn names_that_could_mean_another_table_are_left_to_the_engine() {
        for sql in [
            "WITH kernels AS (SELECT * FROM kernels WHERE duration_ns > 5), \
             g AS (SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank) SELECT n FROM g",
            "WITH kernels AS (SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank) SELECT n FROM kernels",
            "WITH g AS (SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank), \
             g AS (SELECT rank, COUNT(*) AS n FROM regions GROUP BY rank) SELECT n FROM g",
            "WITH g(r, n) AS (SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank) SELECT r, n FROM g",
            "WITH \"a g\" AS (SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank) SELECT n FROM \"a g\"",
            "WITH g AS (SELECT rank, COUNT(*) AS rank FROM kernels GROUP BY rank) SELECT rank FROM g",
        ] {
            assert!(recognise(sql).is_none(), "{sql}");
        }
    }

    #[test]
    fn what_others_use_stays() {
        let sql = "WITH D AS (SELECT rank, duration_ns FROM kernels), \"a d\" AS (SELECT rank FROM D), \
                   G AS (SELECT rank, COUNT(*) AS n FROM D GROUP BY rank) SELECT G.n FROM G, D, \"a d\"";
        let recognised = recognise(sql).unwrap();
        assert_eq!(recognised.groupings.len(), 1);
        assert_eq!(
            recognised.sql,
            "WITH D AS (SELECT rank, duration_ns FROM kernels), \"a d\" AS (SELECT rank FROM D) SELECT G.n FROM G, D, \"a d\""
        );
    }
}
