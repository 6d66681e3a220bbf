//! Queries that have rows for a trace.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::declarations::{Query, Registry};
use wavesieve_model::schema::{Origin, table, tables};
use wavesieve_tables::derive::needs;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Rows of every source table, one map per process.
///
/// # Errors
/// When a table cannot be counted.
pub fn source_rows(trace: &Trace) -> Result<Vec<BTreeMap<&'static str, u64>>> {
    let sources = || tables().iter().filter(|table| table.origin == Origin::Source);
    let count = |member: &TraceProcess| {
        sources().map(|table| Ok((table.name, trace.count_rows(member, table)?))).collect::<Result<_>>()
    };
    trace.each(trace.members(), |_| 0, count)
}

/// The source tables that have rows in any process.
///
/// # Errors
/// When a table cannot be counted.
pub fn recorded(trace: &Trace) -> Result<BTreeSet<&'static str>> {
    let has_rows = |member: &TraceProcess| {
        let mut recorded = BTreeSet::new();
        for table in tables().iter().filter(|table| table.origin == Origin::Source) {
            // Checks every process, because this also reports damage.
            if trace.has_rows(member, table)? {
                recorded.insert(table.name);
            }
        }
        Ok::<_, anyhow::Error>(recorded)
    };
    Ok(trace.each(trace.members(), |_| 0, has_rows)?.into_iter().flatten().collect())
}

/// The queries whose subject is among the source tables that have rows, or is derived from tables.
pub(crate) fn applicable<'a>(
    registry: &'a Registry,
    recorded: &BTreeSet<&'static str>,
) -> impl Iterator<Item = &'a Query> {
    registry.iter().filter(|query| {
        let is_source = |subject| table(subject).is_some_and(|table| table.origin == Origin::Source);
        subject(query).is_some_and(|subject| !is_source(subject) || recorded.contains(subject))
    })
}

/// The table that a query is about; for a table made on demand, its first source table.
pub fn subject(query: &Query) -> Option<&str> {
    let subject = query.declaration.needs.first()?;
    let on_demand = table(subject).filter(|table| table.origin == Origin::OnDemand);
    let source = on_demand.and_then(|table| Some(needs(table.name).first()?.0));
    Some(source.unwrap_or(subject.as_str()))
}
