//! Which queries have something to say about a trace.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::registry::{Query, Registry};
use crate::trace::Trace;
use crate::trace::derived::needs;
use crate::trace::schema::{Origin, table, tables};

/// Rows of every source table, one map per process.
///
/// # Errors
/// When a table cannot be counted.
pub fn source_rows(trace: &Trace) -> Result<Vec<BTreeMap<&'static str, u64>>> {
    let sources = || tables().iter().filter(|table| table.origin == Origin::Source);
    let count = |member| sources().map(|table| Ok((table.name, trace.count_rows(member, table)?))).collect();
    trace.members().iter().map(count).collect()
}

/// The queries whose subject has rows, or is derived from tables that nobody counted, by these counts.
pub fn applicable<'a>(registry: &'a Registry, rows: &[BTreeMap<&'static str, u64>]) -> impl Iterator<Item = &'a Query> {
    registry.iter().filter(|query| {
        subject(query).is_some_and(|subject| {
            let derived = !rows.iter().any(|rows| rows.contains_key(subject));
            derived || rows.iter().any(|rows| rows.get(subject).is_some_and(|rows| *rows > 0))
        })
    })
}

/// The table that a query is about; of one made on demand the one that it is made of.
pub fn subject(query: &Query) -> Option<&str> {
    let subject = query.declaration.needs.first()?;
    let on_demand = table(subject).filter(|table| table.origin == Origin::OnDemand);
    let source = on_demand.and_then(|table| Some(needs(table.name).first()?.0));
    Some(source.unwrap_or(subject.as_str()))
}

/// Names of the queries whose subject has rows.
///
/// # Errors
/// When a table cannot be counted.
pub fn applicable_queries(trace: &Trace, registry: &Registry) -> Result<BTreeSet<String>> {
    let rows = source_rows(trace)?;
    Ok(applicable(registry, &rows).map(|query| query.name.clone()).collect())
}
