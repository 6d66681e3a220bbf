//! Distinguishes queries with and without rows for the recorded tables, by `share/query_rows.toml` and the declarations of derived tables.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::Deserialize;

use super::registry::{Query, Registry};
use wavesieve_model::schema::table;
use wavesieve_tables::derive::{RowsWhen, declaration};

const QUERY_ROWS: &str = data!("share/query_rows.toml");

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Condition {
    #[serde(default)]
    all: Vec<String>,
    #[serde(default)]
    any: Vec<String>,
    #[serde(default)]
    searches: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryRowsFile {
    query: BTreeMap<String, Condition>,
}

/// The conditions of the program; a test reads them, so that there are always some.
fn conditions() -> &'static QueryRowsFile {
    static FILE: OnceLock<QueryRowsFile> = OnceLock::new();
    FILE.get_or_init(|| toml::from_str(QUERY_ROWS).unwrap_or_default())
}

/// Whether a query has rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HasRows {
    Yes,
    /// It has rows if it finds what it looks for.
    IfFound,
    /// Its input was not recorded.
    No,
}

/// The queries that have rows if these source tables are recorded, and the queries that have rows if they find something.
pub fn by_rows<'a>(registry: &'a Registry, recorded: &BTreeSet<&'static str>) -> (Vec<&'a Query>, Vec<&'a Query>) {
    let of = |wanted: HasRows| registry.iter().filter(move |query| has_rows(query, recorded) == wanted).collect();
    (of(HasRows::Yes), of(HasRows::IfFound))
}

/// The empty source tables that a query needs for its rows.
pub fn missing_tables(query: &Query, recorded: &BTreeSet<&'static str>) -> Vec<String> {
    let Some(subject) = query.declaration.needs.first() else { return Vec::new() };
    let own = conditions().query.get(&query.name).filter(|_| query.is_builtin());
    let (all, any) = match (own, declaration(subject)) {
        (Some(Condition { all, any, .. }), _) => (all.clone(), any.clone()),
        (None, Some(declared)) => {
            let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            (owned(declared.rows_when.all), owned(declared.rows_when.any))
        }
        (None, None) => (vec![subject.clone()], Vec::new()),
    };
    let is_missing = |name: &String| !recorded.contains(name.as_str());
    let has_any = any.is_empty() || !any.iter().all(is_missing);
    all.into_iter().filter(is_missing).chain(any.into_iter().filter(|_| !has_any)).collect()
}

fn has_rows(query: &Query, recorded: &BTreeSet<&'static str>) -> HasRows {
    let Some(subject) = query.declaration.needs.first() else { return HasRows::IfFound };
    // A query of the user may filter out any row.
    let may_choose = !query.is_builtin();
    let own = conditions().query.get(&query.name).filter(|_| !may_choose);
    let (can, searches) = match (own, declaration(subject)) {
        (Some(Condition { all, any, searches }), _) => (can_have_rows(all, any, recorded), *searches),
        (None, Some(declared)) => {
            let RowsWhen { all, any, searches } = declared.rows_when;
            (can_have_rows(all, any, recorded), searches)
        }
        (None, None) => (table(subject).is_none() || recorded.contains(subject.as_str()), false),
    };
    match (can, searches || may_choose) {
        (false, _) => HasRows::No,
        (true, true) => HasRows::IfFound,
        (true, false) => HasRows::Yes,
    }
}

fn can_have_rows(all: &[impl AsRef<str>], any: &[impl AsRef<str>], recorded: &BTreeSet<&'static str>) -> bool {
    let is_there = |name: &str| recorded.contains(name);
    all.iter().all(|name| is_there(name.as_ref())) && (any.is_empty() || any.iter().any(|name| is_there(name.as_ref())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{QueryOptions, applicable, run_query};
    use wavesieve_model::schema::Origin;

    #[test]
    fn conditions_are_of_queries_and_tables_that_exist() {
        let registry = Registry::builtin().unwrap();
        assert!(conditions().query.len() > 10);
        for (query, condition) in &conditions().query {
            registry.get(query).unwrap();
            for name in condition.all.iter().chain(&condition.any) {
                assert!(table(name).is_some_and(|table| table.origin == Origin::Source), "{name}");
            }
        }
    }

    #[test]
    fn queries_that_are_listed_have_rows_and_no_others_do() {
        let registry = Registry::builtin().unwrap();
        for fixture in ["two_nodes", "hostile", "merged", "counters", "compute", "thread_trace", "two_nodes_json"] {
            let trace = wavesieve_input::open([format!("../../fixtures/{fixture}")]).unwrap();
            let recorded = crate::recorded(&trace).unwrap();
            assert!(applicable(&registry, &recorded).count() > 0);
            for query in registry.iter() {
                let rows = || run_query(&trace, query, &QueryOptions::default()).unwrap().frame.height();
                match has_rows(query, &recorded) {
                    HasRows::Yes => assert!(rows() > 0, "{} of {fixture} has no rows", query.name),
                    HasRows::No => assert_eq!(rows(), 0, "{} of {fixture} has rows", query.name),
                    HasRows::IfFound => {}
                }
            }
        }
    }
}
