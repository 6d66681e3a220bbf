//! Which queries have rows for what was recorded, by `share/query_rows.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::Deserialize;

use super::registry::{Query, Registry};
use crate::schema::{Origin, table};

const QUERY_ROWS: &str = include_str!("../../share/query_rows.toml");

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
struct File {
    table: BTreeMap<String, Condition>,
    query: BTreeMap<String, Condition>,
}

/// The conditions of the program; a test reads them, so that there are always some.
fn conditions() -> &'static File {
    static FILE: OnceLock<File> = OnceLock::new();
    FILE.get_or_init(|| toml::from_str(QUERY_ROWS).unwrap_or_default())
}

/// Whether a query has rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HasRows {
    /// It has.
    Yes,
    /// It has if what it looks for is found.
    IfFound,
    /// What it needs was not recorded.
    No,
}

/// The queries that have rows, and those that have rows if they find something, for source tables with rows.
pub fn by_rows<'a>(registry: &'a Registry, recorded: &BTreeSet<&'static str>) -> (Vec<&'a Query>, Vec<&'a Query>) {
    let of = |wanted: HasRows| registry.iter().filter(move |query| has_rows(query, recorded) == wanted).collect();
    (of(HasRows::Yes), of(HasRows::IfFound))
}

fn has_rows(query: &Query, recorded: &BTreeSet<&'static str>) -> HasRows {
    let Some(subject) = query.declaration.needs.first() else { return HasRows::IfFound };
    // A query of one's own may leave out any row of what it is about.
    let may_choose = !query.is_builtin();
    let own = conditions().query.get(&query.name).filter(|_| !may_choose);
    let Some(condition) = own.or_else(|| conditions().table.get(subject)) else {
        let is_source = table(subject).is_some_and(|table| table.origin == Origin::Source);
        return match recorded.contains(subject.as_str()) || !is_source {
            true if may_choose => HasRows::IfFound,
            true => HasRows::Yes,
            false => HasRows::No,
        };
    };
    let is_there = |name: &String| recorded.contains(name.as_str());
    let can = condition.all.iter().all(is_there) && (condition.any.is_empty() || condition.any.iter().any(is_there));
    match (can, condition.searches || may_choose) {
        (false, _) => HasRows::No,
        (true, true) => HasRows::IfFound,
        (true, false) => HasRows::Yes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{QueryOptions, applicable, run_query};
    use crate::trace::Trace;

    #[test]
    fn conditions_are_of_tables_and_queries_that_exist() {
        let registry = Registry::builtin().unwrap();
        assert!(conditions().table.len() > 20);
        for (name, condition) in &conditions().table {
            assert!(table(name).is_some_and(|table| table.origin.is_derived()), "{name}");
            assert!(condition.all.len() + condition.any.len() > 0, "{name}");
        }
        for name in conditions().query.keys() {
            registry.get(name).unwrap();
        }
        for condition in conditions().table.values().chain(conditions().query.values()) {
            for name in condition.all.iter().chain(&condition.any) {
                assert!(table(name).is_some_and(|table| table.origin == Origin::Source), "{name}");
            }
        }
    }

    #[test]
    fn queries_that_are_listed_have_rows_and_no_others_do() {
        let registry = Registry::builtin().unwrap();
        for fixture in ["two_nodes", "hostile", "merged", "counters", "compute", "thread_trace", "two_nodes_json"] {
            let trace = Trace::open([format!("fixtures/{fixture}")]).unwrap();
            let recorded = crate::engine::recorded(&trace).unwrap();
            assert!(applicable(&registry, &recorded).count() > 0);
            for query in registry.iter() {
                let has = has_rows(query, &recorded);
                let rows = run_query(&trace, query, &QueryOptions::default()).unwrap().frame.height();
                match has {
                    HasRows::Yes => assert!(rows > 0, "{} of {fixture} has no rows", query.name),
                    HasRows::No => assert_eq!(rows, 0, "{} of {fixture} has rows", query.name),
                    HasRows::IfFound => {}
                }
            }
        }
    }
}
