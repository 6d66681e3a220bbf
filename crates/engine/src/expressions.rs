//! The common table expressions of a statement.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{Cte, ObjectName, ObjectNamePart, Query, With, visit_relations};

use super::parsed::ParsedStatement;
use wavesieve_model::schema;

/// A statement and its common table expressions.
pub(crate) struct Expressions {
    /// The expressions in their order.
    pub with: With,
    query: Box<Query>,
}

impl Expressions {
    /// Splits a statement; `None` if it is not a query with expressions, or if an expression has the name of a table or of another
    /// expression, which would be ambiguous.
    pub fn new(statement: &ParsedStatement) -> Option<Self> {
        let query = statement.query()?;
        let with = query.with.as_ref().filter(|with| !with.recursive)?;
        let names: BTreeSet<String> = with.cte_tables.iter().map(|cte| cte.alias.name.value.clone()).collect();
        let is_clear = names.len() == with.cte_tables.len() && names.iter().all(|name| schema::table(name).is_none());
        is_clear.then(|| Self { with: with.clone(), query: Box::new(without_expressions(query)) })
    }

    /// Drops expressions that are not read.
    pub(crate) fn drop_unused(&mut self) {
        self.drop_unused_but(&[]);
    }

    fn drop_unused_but(&mut self, kept: &[String]) {
        while let Some(unused) = self.with.cte_tables.iter().enumerate().rev().find_map(|(at, cte)| {
            let name = bare_name(cte).filter(|name| !kept.contains(name))?;
            let later = self.with.cte_tables.iter().skip(at + 1).map(|later| &later.query);
            (!later.chain([&self.query]).any(|query| reads(query, &name))).then_some(at)
        }) {
            self.with.cte_tables.remove(unused);
        }
    }

    /// The statement.
    pub(crate) fn into_statement(self) -> ParsedStatement {
        let mut query = self.query;
        if !self.with.cte_tables.is_empty() {
            query.with = Some(self.with);
        }
        ParsedStatement::of_query(query)
    }

    /// A statement of some of the expressions and the expressions that they read. Its rows are the rows of the last one.
    pub(crate) fn statement_of(&self, names: &[String]) -> Option<ParsedStatement> {
        let is_one = |cte: &Cte| bare_name(cte).is_some_and(|name| names.contains(&name));
        let query = self.with.cte_tables.iter().rfind(|cte| is_one(cte))?.query.clone();
        if query.with.is_some() {
            return None;
        }
        let mut only = Self { with: self.with.clone(), query };
        only.drop_unused_but(names);
        Some(only.into_statement())
    }
}

/// A query without its common table expressions.
pub(crate) fn without_expressions(query: &Query) -> Query {
    Query {
        with: None,
        body: query.body.clone(),
        order_by: query.order_by.clone(),
        limit_clause: query.limit_clause.clone(),
        fetch: query.fetch.clone(),
        locks: query.locks.clone(),
        for_clause: query.for_clause.clone(),
        settings: query.settings.clone(),
        format_clause: query.format_clause.clone(),
        pipe_operators: query.pipe_operators.clone(),
    }
}

/// The name of a common table expression, if it has no names for columns and no quotes.
pub(crate) fn bare_name(cte: &Cte) -> Option<String> {
    let name = &cte.alias.name;
    (cte.alias.columns.is_empty() && name.quote_style.is_none()).then(|| name.value.clone())
}

/// Whether a query reads a table of that name, or a table with a qualified name.
fn reads(query: &Query, name: &str) -> bool {
    let is_another = |relation: &ObjectName| match relation.0.as_slice() {
        [ObjectNamePart::Identifier(word)] => !word.value.eq_ignore_ascii_case(name),
        _ => false,
    };
    let another = |relation: &ObjectName| match is_another(relation) {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    visit_relations(query, another).is_break()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQL: &str = "WITH a AS (SELECT x FROM t), b AS (SELECT y FROM t), c AS (SELECT x FROM a), \
                       d AS (SELECT c.x FROM c) SELECT x FROM d";

    #[test]
    fn what_nobody_reads_is_left_out() {
        let mut expressions = Expressions::new(&SQL.into()).unwrap();
        expressions.drop_unused();
        let left: Vec<_> = expressions.with.cte_tables.iter().filter_map(bare_name).collect();
        assert_eq!(left, ["a", "c", "d"]);
    }

    #[test]
    fn some_of_them() {
        let expressions = Expressions::new(&SQL.into()).unwrap();
        let sql = |names: &[&str]| {
            expressions.statement_of(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap()
        };
        assert_eq!(sql(&["c"]).sql(), "WITH a AS (SELECT x FROM t), c AS (SELECT x FROM a) SELECT x FROM a");
        assert_eq!(sql(&["a", "b"]).sql(), "WITH a AS (SELECT x FROM t), b AS (SELECT y FROM t) SELECT y FROM t");
    }

    #[test]
    fn names_that_could_mean_another_table() {
        for sql in [
            "WITH kernels AS (SELECT 1 AS x) SELECT x FROM kernels",
            "WITH a AS (SELECT 1 AS x), a AS (SELECT 2 AS x) SELECT x FROM a",
            "WITH RECURSIVE a AS (SELECT 1 AS x) SELECT x FROM a",
            "SELECT 1 AS x",
        ] {
            assert!(Expressions::new(&sql.into()).is_none(), "{sql}");
        }
    }
}
