//! Splits statements into steps that are computed one after the other.
//!
//! polars resolves the types of a whole plan again for every part that is added to it, and each part that reads a common table
//! expression has a copy of its plan. Statements of a dozen expressions take longer to plan than to run over a small trace.

use std::collections::BTreeSet;

use polars::prelude::{DataFrame, IntoLazy, LazyFrame, PolarsResult};
use polars::sql::SQLContext;
use sqlparser::ast::{GroupByExpr, Query, Select, SetExpr};

use super::expressions::without_expressions;
use super::parsed::ParsedStatement;
use wavesieve_model::schema;

/// A common table expression.
#[derive(Debug, PartialEq, Eq)]
struct StatementStep {
    name: String,
    sql: String,
    /// Whether it is computed before it is read. Not if it only chooses rows of one table and computes with each row: its readers then do
    /// this with only the columns they need.
    is_table: bool,
    /// Steps that no later step reads.
    done: Vec<String>,
}

/// A statement as its common table expressions and the final query.
#[derive(Debug, PartialEq, Eq)]
pub struct Steps {
    steps: Vec<StatementStep>,
    last: String,
}

impl Steps {
    /// The steps of a statement. Steps named in `tables` are always computed. `None` if the statement has no steps, or if their names are
    /// ambiguous.
    pub fn new(statement: &ParsedStatement, tables: &[String]) -> Option<Self> {
        let query = statement.query()?;
        let with = query.with.as_ref().filter(|with| !with.recursive)?;
        let is_bare = |name: &str| name.chars().all(|letter| matches!(letter, 'a'..='z' | '0'..='9' | '_'));
        let names: BTreeSet<&str> = with.cte_tables.iter().map(|cte| cte.alias.name.value.as_str()).collect();
        let is_table = |name: &str| schema::table(name).is_some();
        if names.len() < with.cte_tables.len() || names.iter().any(|name| !is_bare(name) || is_table(name)) {
            return None;
        }
        let last = without_expressions(query).to_string();
        let read_by = |sql: &str| -> BTreeSet<String> {
            words(sql).filter(|word| names.contains(word)).map(ToOwned::to_owned).collect()
        };
        let mut read = read_by(&last);
        read.extend(tables.iter().filter(|name| names.contains(name.as_str())).cloned());
        let mut steps = Vec::new();
        for cte in with.cte_tables.iter().rev() {
            if !cte.alias.columns.is_empty() || cte.materialized.is_some() || cte.from.is_some() {
                return None;
            }
            let sql = cte.query.to_string();
            let name = cte.alias.name.value.clone();
            if !read.contains(&name) {
                continue;
            }
            let done = read_by(&sql).into_iter().filter(|name| read.insert(name.clone())).collect();
            steps.push(StatementStep {
                is_table: tables.contains(&name) || is_more_than_rows(&cte.query),
                name,
                done,
                sql,
            });
        }
        steps.reverse();
        Some(Self { steps, last })
    }

    /// Computes all steps except the last over the tables of a context; `after` may add a table after a step. Returns the plan of the last
    /// step.
    ///
    /// # Errors
    /// When a step cannot be planned or run.
    pub fn plan(
        &self,
        context: &mut SQLContext,
        collect: impl Fn(LazyFrame) -> PolarsResult<DataFrame>,
        after: impl Fn(&str, &DataFrame) -> PolarsResult<Option<(String, LazyFrame)>>,
    ) -> PolarsResult<LazyFrame> {
        for step in &self.steps {
            let mut plan = context.execute(&step.sql)?;
            if step.is_table {
                let rows = collect(plan)?;
                if let Some((name, frame)) = after(&step.name, &rows)? {
                    context.register(&name, frame);
                }
                plan = rows.lazy();
            }
            context.register(&step.name, plan);
            step.done.iter().for_each(|name| context.unregister(name));
        }
        context.execute(&self.last)
    }
}

/// Whether a query does more than choose rows of one table and compute with each row.
fn is_more_than_rows(query: &Query) -> bool {
    let SetExpr::Select(select) = query.body.as_ref() else { return true };
    let is_only_select = query.to_string() == select.to_string();
    !is_only_select || !is_of_rows(select)
}

/// Words that a query of single rows does not have. For functions with several arguments, polars returns a value per row read, unless the
/// step is computed.
const COMPUTES_WITH_MANY_ROWS: &[&str] = &[
    "over",
    "distinct",
    "count",
    "sum",
    "min",
    "max",
    "median",
    "stddev",
    "avg",
    "corr",
    "covar",
    "covar_pop",
    "covar_samp",
    "quantile_cont",
    "quantile_disc",
    "value_of_greatest",
    "value_of_least",
    "variance",
];

fn is_of_rows(select: &Select) -> bool {
    let ungrouped = matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty());
    let [from] = select.from.as_slice() else { return false };
    let is_other = |word: &str| COMPUTES_WITH_MANY_ROWS.iter().any(|other| word.eq_ignore_ascii_case(other));
    ungrouped && from.joins.is_empty() && !words(&select.to_string()).any(is_other)
}

/// Words of a statement, including words in texts: an extra step that counts as read does no harm, and a tokenizer takes longer.
fn words(sql: &str) -> impl Iterator<Item = &str> {
    sql.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;

    fn step(name: &str, is_table: bool, done: &[&str]) -> (String, bool, Vec<String>) {
        (name.to_owned(), is_table, done.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn what_is_read_in_turn() {
        let sql = "WITH chosen AS (SELECT a, b * 2 AS c FROM t WHERE a > 1), unread AS (SELECT 1 AS d FROM chosen), \
                   summed AS (SELECT a, SUM(c) AS c FROM chosen GROUP BY a), \
                   joined AS (SELECT s.c FROM summed AS s JOIN chosen AS x ON x.a = s.a) \
                   SELECT MAX(c) AS most FROM joined WHERE c < (SELECT MAX(c) FROM summed)";
        let steps = Steps::new(&sql.into(), &[]).unwrap();
        let parts: Vec<_> = steps.steps.iter().map(|one| step(&one.name, one.is_table, &[])).collect();
        assert_eq!(parts, [step("chosen", false, &[]), step("summed", true, &[]), step("joined", true, &[])]);
        let done: Vec<_> = steps.steps.into_iter().map(|one| one.done).collect();
        assert_eq!(done, [vec![], vec![], vec!["chosen".to_owned()]]);
    }

    #[test]
    fn as_in_one() {
        let sql = "WITH chosen AS (SELECT a, b FROM t WHERE b > 1), \
                   summed AS (SELECT a, SUM(b) AS b, COUNT(*) AS n FROM chosen GROUP BY a) \
                   SELECT c.a, c.b, s.b AS total, s.n FROM chosen AS c JOIN summed AS s ON s.a = c.a ORDER BY c.a, c.b";
        let table = df!("a" => [1_i64, 1, 2, 2, 3], "b" => [1_i64, 2, 3, 4, 5]).unwrap();
        let mut context = SQLContext::new();
        context.register("t", table.lazy());
        let whole = context.execute(sql).unwrap().collect().unwrap();
        let steps = Steps::new(&sql.into(), &[]).unwrap();
        assert_eq!(steps.plan(&mut context, LazyFrame::collect, |_, _| Ok(None)).unwrap().collect().unwrap(), whole);
    }

    #[test]
    fn names_that_could_mean_something_else() {
        for sql in [
            "SELECT 1 AS a",
            "WITH kernels AS (SELECT 1 AS a) SELECT a FROM kernels",
            "WITH a AS (SELECT 1 AS n), a AS (SELECT 2 AS n) SELECT n FROM a",
            "WITH \"A\" AS (SELECT 1 AS n) SELECT n FROM \"A\"",
            "WITH a(m) AS (SELECT 1 AS n) SELECT m FROM a",
            "WITH RECURSIVE a AS (SELECT 1 AS n) SELECT n FROM a",
        ] {
            assert_eq!(Steps::new(&sql.into(), &[]), None, "{sql}");
        }
    }
}
