//! Adds the statements of AMD's names to a statement that uses them.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{Cte, Ident, ObjectName, ObjectNamePart, Query, TableAlias, TableFactor, VisitMut, VisitorMut};
use sqlparser::dialect::{DuckDbDialect, GenericDialect};

use super::names::NAMES;
use crate::depth::{only_query, parse};
use crate::dialect::with;
use wavesieve_model::schema;

/// The names that a statement uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Dialect {
    /// The canonical tables, and names that only AMD's databases have
    #[default]
    Wavesieve,
    /// The tables and views of AMD's rocpd databases, also where a canonical table has the same name
    Rocpd,
}

/// The name of a copy `c` in AMD's databases and files.
pub const COPY_NAME: &str = data!("queries/_copy_name.sql");

/// Name of the expression for a name; no table or other expression has such a name.
fn own_name(name: &str) -> String {
    format!("rocpd_name_{name}")
}

/// The names and their descriptions.
pub fn described() -> impl Iterator<Item = (&'static str, String)> {
    NAMES.iter().map(|(name, statement)| {
        let comment = statement.lines().map_while(|line| line.strip_prefix("-- "));
        (*name, comment.collect::<Vec<_>>().join(" "))
    })
}

/// The statement with the expressions of the names that it uses; unchanged if it uses none, or cannot be parsed.
pub fn with_rocpd_names(sql: &str, dialect: Dialect) -> String {
    let Some(mut query) = parsed(sql) else { return sql.to_owned() };
    let mut own = OwnNames::default();
    let _ = VisitMut::visit(&mut query, &mut own);
    let mut names = Names { dialect, own: own.0, used: BTreeSet::new() };
    let _ = VisitMut::visit(&mut query, &mut names);
    let expressions: Vec<Cte> = names.used.iter().filter_map(|name| expression(name)).collect();
    if expressions.is_empty() {
        return sql.to_owned();
    }
    match &mut query.with {
        Some(with) => with.cte_tables.splice(0..0, expressions).for_each(drop),
        None => query.with = Some(with(expressions)),
    }
    query.to_string()
}

fn parsed(sql: &str) -> Option<Box<Query>> {
    let read = parse(&GenericDialect {}, sql).or_else(|_| parse(&DuckDbDialect {}, sql));
    only_query(read.ok()?)
}

/// The expression of a name.
fn expression(name: &str) -> Option<Cte> {
    let (_, statement) = NAMES.iter().find(|(known, _)| *known == name)?;
    let statement = statement.replace("{copy_name}", COPY_NAME);
    let query = parsed(&format!("WITH {} AS ({statement}) SELECT 1", own_name(name)))?;
    query.with?.cte_tables.into_iter().next()
}

/// Names of the expressions of a statement, at any depth.
#[derive(Default)]
struct OwnNames(BTreeSet<String>);

impl VisitorMut for OwnNames {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        for expression in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.0.insert(expression.alias.name.value.to_lowercase());
        }
        ControlFlow::Continue(())
    }
}

/// Gives tables the names of their expressions, and keeps their own names as aliases.
struct Names {
    dialect: Dialect,
    own: BTreeSet<String>,
    used: BTreeSet<String>,
}

impl VisitorMut for Names {
    type Break = ();

    fn pre_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<()> {
        let TableFactor::Table { name, alias, args: None, .. } = table else { return ControlFlow::Continue(()) };
        let [ObjectNamePart::Identifier(written)] = name.0.as_slice() else { return ControlFlow::Continue(()) };
        let key = written.value.to_lowercase();
        let is_known = NAMES.iter().any(|(known, _)| *known == key);
        let is_canonical = schema::table(&key).is_some() && self.dialect == Dialect::Wavesieve;
        if !is_known || is_canonical || self.own.contains(&key) {
            return ControlFlow::Continue(());
        }
        if alias.is_none() {
            let columns = Vec::new();
            *alias =
                Some(TableAlias { explicit: true, name: Ident::with_quote('"', &written.value), columns, at: None });
        }
        *name = ObjectName(vec![ObjectNamePart::Identifier(Ident::new(own_name(&key)))]);
        self.used.insert(key);
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_amd_are_put_in_front() {
        let rewritten = with_rocpd_names("SELECT name FROM top LIMIT 5", Dialect::Wavesieve);
        assert!(rewritten.starts_with("WITH rocpd_name_top AS (SELECT o.name AS name"), "{rewritten}");
        assert!(rewritten.ends_with("SELECT name FROM rocpd_name_top AS \"top\" LIMIT 5"), "{rewritten}");
    }

    #[test]
    fn canonical_tables_stay_unless_the_dialect_is_amds() {
        let sql = "SELECT COUNT(*) FROM kernels";
        assert_eq!(with_rocpd_names(sql, Dialect::Wavesieve), sql);
        assert!(with_rocpd_names(sql, Dialect::Rocpd).contains("FROM rocpd_name_kernels AS \"kernels\""));
        let own = "WITH top AS (SELECT 1 AS a) SELECT a FROM top";
        assert_eq!(with_rocpd_names(own, Dialect::Rocpd), own);
    }

    #[test]
    fn every_name_is_a_statement_with_a_description() {
        for (name, about) in described() {
            assert!(expression(name).is_some(), "{name}");
            assert!(about.ends_with('.'), "{name}: {about}");
        }
    }
}
