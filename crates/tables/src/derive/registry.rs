//! The list of derived tables, and queries about it.

use anyhow::{Context, Result, bail};
use polars::prelude::*;

use super::declaration::{Build, DerivedTable, Family, Joint, Needs, Wanted};
use crate::ablation::{Optimization, is_on};
use crate::columns::requests::Request;
use crate::derive::calls::{api_calls, profiler_pauses, region_self_times, region_times};
use crate::derive::counters::{kernel_bottlenecks, metric_sums, range_metric_sums};
use crate::derive::features::{dispatch_features, iteration_kernels, process_features};
use crate::derive::gpu_work::{gpu_segments, kernel_clocks, kernel_overlaps};
use crate::derive::hardware::{att_waits, device_constants, kernel_resources};
use crate::derive::health::anomalies;
use crate::derive::idling::{idle_calls, idle_gaps};
use crate::derive::launching::{dispatch_launches, following_kernels, graph_work, launches};
use crate::derive::memory::{allocation_lifetimes, memory_live};
use crate::derive::paths::{critical_path, dispatch_slack, kernel_savings};
use crate::derive::queueing::queue_depths;
use crate::derive::ranging::{gemm_problems, operators, range_self_times, range_work, ranges};
use crate::derive::ranks::{clocks, collective_kernels, programs};
use crate::derive::repeating::{inference_steps, iterations, layers, run_parts, unit_offers, units};
use crate::derive::steadiness::{dispatch_groups, slow_dispatches};
use crate::derive::{Frames, OnDemandTables};
use wavesieve_model::schema::process::Process;

static DERIVED_TABLES: &[&DerivedTable] = &[
    &allocation_lifetimes::DECLARATION,
    &anomalies::DECLARATION,
    &api_calls::DECLARATION,
    &att_waits::DECLARATION,
    &clocks::DECLARATION,
    &collective_kernels::DECLARATION,
    &critical_path::DECLARATION,
    &device_constants::DECLARATION,
    &dispatch_features::DECLARATION,
    &dispatch_groups::DECLARATION,
    &dispatch_launches::DECLARATION,
    &dispatch_slack::DECLARATION,
    &following_kernels::DECLARATION,
    &gemm_problems::DECLARATION,
    &gpu_segments::DECLARATION,
    &graph_work::DECLARATION,
    &idle_calls::DECLARATION,
    &idle_gaps::DECLARATION,
    &inference_steps::DECLARATION,
    &iteration_kernels::DECLARATION,
    &iterations::DECLARATION,
    &kernel_bottlenecks::DECLARATION,
    &kernel_clocks::DECLARATION,
    &kernel_overlaps::DECLARATION,
    &kernel_resources::DECLARATION,
    &kernel_savings::DECLARATION,
    &launches::DECLARATION,
    &layers::DECLARATION,
    &memory_live::DECLARATION,
    &metric_sums::DECLARATION,
    &operators::DECLARATION,
    &process_features::DECLARATION,
    &profiler_pauses::DECLARATION,
    &programs::DECLARATION,
    &queue_depths::DECLARATION,
    &range_metric_sums::DECLARATION,
    &range_self_times::DECLARATION,
    &range_work::DECLARATION,
    &ranges::DECLARATION,
    &region_self_times::DECLARATION,
    &region_times::DECLARATION,
    &run_parts::DECLARATION,
    &slow_dispatches::DECLARATION,
    &unit_offers::DECLARATION,
];

pub fn declaration(name: &str) -> Option<&'static DerivedTable> {
    DERIVED_TABLES.iter().copied().find(|declared| declared.table.name == name)
}

/// Names of derived tables, grouped by tables that are built together.
pub fn families(names: impl Iterator<Item = &'static str>) -> Vec<Vec<&'static str>> {
    let mut all: Vec<(Option<&'static Family>, Vec<&'static str>)> = Vec::new();
    for name in names {
        let family = declaration(name).and_then(DerivedTable::family);
        let is_related = |(other, _): &&mut (Option<&Family>, _)| {
            family.zip(*other).is_some_and(|(one, other)| std::ptr::eq(one, other))
        };
        match all.iter_mut().find(is_related).filter(|_| is_on(Optimization::Families)) {
            Some((_, others)) => others.push(name),
            None => all.push((family, vec![name])),
        }
    }
    all.into_iter().map(|(_, names)| names).collect()
}

/// The builder of a derived table over all processes that are read together, if its rows depend on them.
pub fn joint(derived: &str) -> Option<&'static Joint> {
    declaration(derived).and_then(DerivedTable::joint)
}

/// Whether the rows of a derived table depend on all processes that are read together.
pub fn is_joint(derived: &str) -> bool {
    joint(derived).is_some()
}

/// The builder of a derived table from facts that are known before anything is read, if it has one.
pub fn from_facts(derived: &str) -> Option<fn(&Process) -> Result<DataFrame>> {
    if let Build::Facts(build) = declaration(derived)?.build { Some(build) } else { None }
}

/// Whether a derived table depends on the cuts of calls.
pub(crate) fn is_of_cut_calls(derived: &str) -> bool {
    declaration(derived).is_some_and(|declared| declared.is_of_cut_calls)
}

/// The source columns that the rows of a table may call for, see [`Joint::optional_needs`].
pub(crate) fn optional_needs(derived: &str) -> Needs {
    match declaration(derived).map(|declared| &declared.build) {
        Some(Build::Joint(joint)) => (joint.optional_needs)(),
        Some(Build::Family(family)) => (family.optional_needs)(),
        _ => Vec::new(),
    }
}

/// The source columns that a derived table needs, see [`DerivedTable::needs`]; none for other tables.
pub fn needs(derived: &str) -> Needs {
    declaration(derived).map(|declared| (declared.needs)()).unwrap_or_default()
}

/// Like [`needs`], but only for the `wanted` columns of a derived table, see [`DerivedTable::needs_of`].
pub(crate) fn needs_of(derived: &str, wanted: &Wanted) -> Needs {
    declaration(derived).map(|declared| declared.needs_of(wanted)).unwrap_or_default()
}

/// Like [`needs`], with the columns that the rows of a table may call for.
pub fn all_needs(derived: &str) -> Needs {
    units::merged([needs(derived), optional_needs(derived)])
}

/// The columns of source tables that the tables of a request need.
pub fn source_request(request: &Request) -> Request {
    let mut sources = Request::new();
    for (&name, columns) in request {
        match declaration(name) {
            Some(declared) => {
                for (name, columns) in (declared.needs)() {
                    sources.entry(name).or_default().extend(columns);
                }
            }
            None => sources.entry(name).or_default().extend(columns),
        }
    }
    sources
}

/// Builds a derived table of one process, without `process` and `rank`.
pub fn derive(name: &'static str, process: &Process, tables: &Frames, more: &dyn OnDemandTables) -> Result<DataFrame> {
    derive_all(&[name], process, tables, more)?.pop().with_context(|| format!("internal: {name} was not built"))
}

/// Like [`derive`], for tables of one family, see [`families`].
pub(crate) fn derive_all(
    names: &[&'static str],
    process: &Process,
    tables: &Frames,
    more: &dyn OnDemandTables,
) -> Result<Vec<DataFrame>> {
    let family = names.first().and_then(|name| declaration(name)).and_then(DerivedTable::family);
    if let Some(family) = family {
        return (family.build)(process, tables, more, names);
    }
    let build = |name: &&'static str| match declaration(name).map(|declared| &declared.build) {
        Some(Build::Alone(build)) => build(process, tables),
        _ => bail!("internal: {name} is not built from the tables of a process alone"),
    };
    names.iter().map(build).collect()
}

/// A column of integers.
pub fn column(name: &str, values: Vec<i64>) -> Column {
    Int64Chunked::from_vec(name.into(), values).into_series().into_column()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::derive::RowsWhen;
    use wavesieve_model::schema;
    use wavesieve_model::schema::Origin;

    #[test]
    fn every_derived_table_of_the_schema_is_declared_once() {
        let of_schema: Vec<&str> =
            schema::tables().iter().filter(|table| table.origin.is_derived()).map(|table| table.name).collect();
        let declared: BTreeSet<&str> = DERIVED_TABLES.iter().map(|declared| declared.table.name).collect();
        assert_eq!(declared, of_schema.iter().copied().collect());
        assert_eq!(DERIVED_TABLES.len(), of_schema.len());
        assert!(declaration("kernels").is_none());
    }

    #[test]
    fn declarations_name_tables_and_columns_that_exist() {
        for declared in DERIVED_TABLES {
            let name = declared.table.name;
            let has = |table: &str, column: &str| {
                schema::table(table)
                    .is_some_and(|table| table.origin == Origin::Source && table.column(column).is_some())
            };
            let needed = (declared.needs)();
            for (table, column) in
                needed.iter().flat_map(|(table, columns)| columns.iter().map(move |column| (table, column)))
            {
                assert!(has(table, column), "{name} needs {table}.{column}");
            }
            let first = needed.first().map(|(_, columns)| columns.as_slice()).unwrap_or_default();
            assert!(declared.passthrough.iter().all(|column| first.contains(column)), "{name}");
            for owner in declared.owners {
                let owning = schema::table(owner.table).unwrap();
                assert!(owner.keys.iter().all(|(_, there)| owning.column(there).is_some()), "{name}");
                let own = owner.keys.iter().map(|(here, _)| *here).chain(owner.word.map(|(column, _)| column));
                assert!(own.into_iter().all(|column| declared.table.column(column).is_some()), "{name}");
            }
            let RowsWhen { all, any, .. } = declared.rows_when;
            let is_source = |table: &&str| schema::table(table).is_some_and(|table| table.origin == Origin::Source);
            assert!(all.iter().chain(any).all(is_source), "{name}");
        }
    }

    #[test]
    fn tables_of_one_family_are_built_together() {
        let names = ["gpu_segments", "range_work", "launches", "ranges", "run_parts", "api_calls"];
        assert_eq!(
            families(names.into_iter()),
            [
                vec!["gpu_segments"],
                vec!["range_work", "ranges"],
                vec!["launches"],
                vec!["run_parts"],
                vec!["api_calls"]
            ]
        );
    }
}
