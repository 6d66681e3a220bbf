//! Finds the common table expressions of a statement that group the rows of a table by columns.

use std::collections::{BTreeMap, BTreeSet};

use sqlparser::ast::{DataType, Expr, GroupByExpr, Query, Select, SelectItem, SetExpr, TableFactor};

use super::value::{Value, ValueKind, called};
use crate::expressions::{Expressions, bare_name};
use crate::parsed::ParsedStatement;
use wavesieve_model::schema;
use wavesieve_model::schema::{Origin, Table};

/// An aggregate over the rows of a group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aggregate {
    /// Number of rows.
    Count,
    /// Number of rows that have an integer.
    Counted(Value),
    /// Sum of integers.
    Sum(Value),
    /// The smallest integer.
    Min(Value),
    /// The largest integer.
    Max(Value),
    Median(Value),
    /// An interpolated quantile of integers, in thousandths.
    Quantile(Value, u16),
    /// The sample standard deviation of integers.
    Deviation(Value),
}

/// A column of a grouping.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Output {
    /// A value that the rows of a group have in common.
    Key(Value),
    /// An aggregate over the rows.
    Aggregate(Aggregate),
}

/// A common table expression that groups rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grouping {
    pub name: String,
    pub table: &'static Table,
    /// Conditions that must be true.
    pub filters: BTreeSet<Value>,
    /// Names and meanings of its columns.
    pub outputs: Vec<(String, Output)>,
}

/// A statement without its groupings.
pub struct Recognized {
    /// Groupings whose tables the rest reads.
    pub groupings: Vec<Grouping>,
    /// The rest of it.
    pub rest: ParsedStatement,
}

/// Values of the rows of a table that meet filters, by their names in the statement.
struct Rows {
    table: &'static Table,
    filters: BTreeSet<Value>,
    columns: BTreeMap<String, Value>,
}

/// Takes the groupings out of a statement; `None` if it has none.
pub fn recognize(statement: &ParsedStatement) -> Option<Recognized> {
    recognize_over(statement, &|table| table.origin != Origin::Derived)
}

/// Like [`recognize`], but includes derived tables. Use this if they are built for other consumers anyway, or are not kept afterwards.
pub(crate) fn recognize_all(statement: &ParsedStatement) -> Option<Recognized> {
    recognize_over(statement, &|_| true)
}

/// Selects the tables that are grouped here.
type GroupableTables<'a> = dyn Fn(&Table) -> bool + 'a;

fn recognize_over(statement: &ParsedStatement, may: &GroupableTables<'_>) -> Option<Recognized> {
    let mut expressions = Expressions::new(statement)?;
    let mut rows: BTreeMap<String, Rows> = BTreeMap::new();
    let mut groupings: Vec<Grouping> = Vec::new();
    expressions.with.cte_tables.retain(|cte| {
        let Some(name) = bare_name(cte) else { return true };
        let Some(select) = plain(&cte.query) else { return true };
        if let Some(outputs) = grouped(&name, select, &rows, may) {
            groupings.push(outputs);
            return false;
        }
        if let Some(chosen) = chosen(select, &rows, may) {
            rows.insert(name, chosen);
        }
        true
    });
    if groupings.is_empty() {
        return None;
    }
    // Expressions that only the groupings used must not be read.
    expressions.drop_unused();
    Some(Recognized { groupings, rest: expressions.into_statement() })
}

/// The SELECT of a query that has no other parts.
fn plain(query: &Query) -> Option<&Select> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    (query.to_string() == select.to_string()).then_some(select)
}

/// The parts of a SELECT that has only projection, one table, filter and grouping.
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
    // The text written from these parts must be the same; otherwise there are other parts.
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

fn known_table(name: &str, may: &GroupableTables<'_>) -> Option<&'static Table> {
    schema::table(name).filter(|table| may(table))
}

/// Source of a SELECT: a table, or rows that an earlier expression chose.
struct Source<'a> {
    table: &'static Table,
    chosen: Option<&'a Rows>,
}

impl<'a> Source<'a> {
    fn from_parts(parts: &Parts<'_>, rows: &'a BTreeMap<String, Rows>, may: &GroupableTables<'_>) -> Option<Self> {
        let chosen = rows.get(&parts.table);
        let table = chosen.map(|rows| rows.table).or_else(|| known_table(&parts.table, may))?;
        Some(Self { table, chosen })
    }

    fn value(&self, parts: &Parts<'_>, expr: &Expr) -> Option<Value> {
        let named = |name: &Expr| {
            let name = parts.column(&name.to_string())?;
            match self.chosen {
                Some(rows) => rows.columns.get(&name).cloned(),
                None => Value::column(self.table, &name),
            }
        };
        Value::from_expr(expr, &named)
    }

    /// Conditions on rows, including the filters of an earlier expression.
    fn filters(&self, parts: &Parts<'_>) -> Option<BTreeSet<Value>> {
        let own = parts.filters.iter().map(|filter| self.value(parts, filter)?.only(ValueKind::Truth));
        let mut filters: BTreeSet<Value> = own.collect::<Option<_>>()?;
        filters.extend(self.chosen.iter().flat_map(|rows| rows.filters.iter().cloned()));
        Some(filters)
    }
}

/// A SELECT that only takes values from the rows of a canonical table.
fn chosen(select: &Select, rows: &BTreeMap<String, Rows>, may: &GroupableTables<'_>) -> Option<Rows> {
    let parts = parts(select).filter(|parts| parts.keys.is_empty())?;
    let source = Source::from_parts(&parts, rows, may)?;
    let mut columns = BTreeMap::new();
    for (alias, expr) in &parts.items {
        let name = alias.clone().or_else(|| parts.column(&expr.to_string()))?;
        columns.insert(name, source.value(&parts, expr)?);
    }
    Some(Rows { table: source.table, filters: source.filters(&parts)?, columns })
}

fn grouped(name: &str, select: &Select, rows: &BTreeMap<String, Rows>, may: &GroupableTables<'_>) -> Option<Grouping> {
    let parts = parts(select).filter(|parts| !parts.keys.is_empty())?;
    let source = Source::from_parts(&parts, rows, may)?;
    let key = |expr: &Expr| {
        // A number is the place of a column.
        let key = source.value(&parts, expr).filter(|_| !matches!(expr, Expr::Value(_)))?;
        (key.kind == ValueKind::Integer || key.kind == ValueKind::Text && !key.is_computed()).then_some(key)
    };
    let mut outputs = Vec::new();
    let mut keys = BTreeSet::new();
    for (alias, expr) in &parts.items {
        if let Some(written) = parts.column(&expr.to_string()) {
            let key = key(expr)?;
            keys.insert(key.clone());
            outputs.push((alias.clone().unwrap_or(written), Output::Key(key)));
        } else {
            let integer = |expr: &Expr| source.value(&parts, expr)?.only(ValueKind::Integer);
            outputs.push((alias.clone()?, Output::Aggregate(aggregate(expr, &integer)?)));
        }
    }
    let by: BTreeSet<Value> = parts.keys.iter().map(key).collect::<Option<_>>()?;
    // Duplicate names are left to the engine, which reports them better.
    let names: BTreeSet<&String> = outputs.iter().map(|(name, _)| name).collect();
    if names.len() < outputs.len() {
        return None;
    }
    let filters = source.filters(&parts)?;
    (by == keys).then(|| Grouping { name: name.to_owned(), table: source.table, filters, outputs })
}

/// An aggregate in the spelling of queries.
fn aggregate(expr: &Expr, integer: &dyn Fn(&Expr) -> Option<Value>) -> Option<Aggregate> {
    let is_bigint = |expr: &Expr| matches!(expr, Expr::Cast { data_type: DataType::BigInt(None), .. });
    let function = match expr {
        Expr::Cast { expr: inner, .. } if is_bigint(expr) => inner,
        other => other,
    };
    let is_integer = is_bigint(expr);
    if function.to_string() == "COUNT(*)" {
        return Some(Aggregate::Count);
    }
    let (name, arguments) = called(function)?;
    let double = |argument: &Expr| match argument {
        Expr::Cast { expr, data_type: DataType::Double(_), .. } if !is_integer => integer(expr),
        _ => None,
    };
    match (name.as_str(), arguments.as_slice()) {
        ("COUNT", [argument]) => integer(argument).map(Aggregate::Counted),
        ("SUM", [argument]) => integer(argument).map(Aggregate::Sum),
        ("MIN", [argument]) => integer(argument).map(Aggregate::Min),
        ("MAX", [argument]) => integer(argument).map(Aggregate::Max),
        ("MEDIAN", [argument]) => double(argument).map(Aggregate::Median),
        ("STDDEV", [argument]) => double(argument).map(Aggregate::Deviation),
        ("QUANTILE_CONT", [argument, share]) => Some(Aggregate::Quantile(double(argument)?, thousandths(share)?)),
        _ => None,
    }
}

/// A share that is written as `0.95`.
fn thousandths(share: &Expr) -> Option<u16> {
    let text = share.to_string();
    let digits = text.strip_prefix("0.").filter(|digits| digits.len() <= 3)?;
    format!("{digits:0<3}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grouping_of_chosen_rows() {
        let sql = "WITH d AS (SELECT k.rank, k.kernel_name AS name, k.duration_ns FROM kernels AS k WHERE k.valid), \
                   g AS (SELECT rank, name, CAST(COUNT(*) AS BIGINT) AS calls, STDDEV(CAST(duration_ns AS DOUBLE)) AS s \
                   FROM d GROUP BY rank, name) SELECT calls FROM g ORDER BY calls";
        let recognized = recognize(&sql.into()).unwrap();
        assert_eq!(recognized.rest.sql(), "SELECT calls FROM g ORDER BY calls");
        let [grouping] = recognized.groupings.as_slice() else { unreachable!() };
        assert_eq!((grouping.name.as_str(), grouping.table.name), ("g", "kernels"));
        let column = |name: &str| Value::column(grouping.table, name).unwrap();
        assert_eq!(grouping.filters, BTreeSet::from([column("valid")]));
        let outputs: Vec<(&str, Output)> =
            grouping.outputs.iter().map(|(name, output)| (name.as_str(), output.clone())).collect();
        assert_eq!(
            outputs,
            [
                ("rank", Output::Key(column("rank"))),
                ("name", Output::Key(column("kernel_name"))),
                ("calls", Output::Aggregate(Aggregate::Count)),
                ("s", Output::Aggregate(Aggregate::Deviation(column("duration_ns")))),
            ]
        );
    }

    #[test]
    fn anything_more_is_left_to_the_engine() {
        for body in [
            "SELECT rank, COUNT(DISTINCT gpu) AS n FROM kernels GROUP BY rank",
            "SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank HAVING COUNT(*) > 1",
            "SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank, gpu",
            "SELECT rank, COUNT(*) AS n FROM kernels WHERE duration_ns / 2 > 5 GROUP BY rank",
            "SELECT rank, SUM(duration_ns / 2) AS n FROM kernels GROUP BY rank",
            "SELECT rank, MEDIAN(CAST(duration_ns AS DOUBLE)) OVER (ORDER BY rank) AS n FROM kernels GROUP BY rank",
            "SELECT rank, QUANTILE_CONT(CAST(duration_ns AS DOUBLE), 1.5) AS n FROM kernels GROUP BY rank",
            "SELECT rank, COUNT(*) FILTER (WHERE valid) AS n FROM kernels GROUP BY rank",
            "SELECT rank, SUM(DISTINCT gpu) AS n FROM kernels GROUP BY rank",
            "SELECT rank, MEDIAN(duration_ns) AS n FROM kernels GROUP BY rank",
            "SELECT k.rank, COUNT(*) AS n FROM kernels AS k JOIN agents AS a ON a.process = k.process GROUP BY k.rank",
            "SELECT rank, COUNT(*) AS n FROM gpu_segments GROUP BY rank",
            "SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank LIMIT 1",
            "SELECT DISTINCT rank, COUNT(*) AS n FROM kernels GROUP BY rank",
            "SELECT COUNT(*) AS n FROM kernels",
        ] {
            assert!(
                recognize(&ParsedStatement::new(format!("WITH g AS ({body}) SELECT n FROM g"))).is_none(),
                "{body}"
            );
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
            assert!(recognize(&sql.into()).is_none(), "{sql}");
        }
    }

    #[test]
    fn columns_with_the_name_of_a_step_do_not_use_it() {
        let sql = "WITH calls AS (SELECT rank, duration_ns FROM kernels), \
                   g AS (SELECT rank, COUNT(*) AS calls FROM calls GROUP BY rank) SELECT calls FROM g ORDER BY calls";
        assert_eq!(recognize(&sql.into()).unwrap().rest.sql(), "SELECT calls FROM g ORDER BY calls");
    }

    #[test]
    fn what_others_use_stays() {
        let sql = "WITH D AS (SELECT rank, duration_ns FROM kernels), \"a d\" AS (SELECT rank FROM D), \
                   G AS (SELECT rank, COUNT(*) AS n FROM D GROUP BY rank) SELECT G.n FROM G, D, \"a d\"";
        let recognized = recognize(&sql.into()).unwrap();
        assert_eq!(recognized.groupings.len(), 1);
        assert_eq!(
            recognized.rest.sql(),
            "WITH D AS (SELECT rank, duration_ns FROM kernels), \"a d\" AS (SELECT rank FROM D) SELECT G.n FROM G, D, \"a d\""
        );
    }
}
