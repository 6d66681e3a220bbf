//! The list of derived tables: what each needs and who builds it.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use polars::prelude::*;

use super::OnDemandTables;
use crate::analysis::hardware::metrics::Definitions;
use crate::columns::reading::Keep;
use crate::columns::requests::Request;
use crate::derive::Frames;
use crate::derive::calls::{api_calls, call_times, profiler_pauses, region_self_times, region_times};
use crate::derive::counters::{kernel_bottlenecks, metric_sums};
use crate::derive::gpu_work::{gpu_segments, kernel_clocks, kernel_overlaps};
use crate::derive::hardware::{att_waits, device_constants, kernel_resources};
use crate::derive::health;
use crate::derive::idling::idle_gaps;
use crate::derive::launching::{dispatch_launches, following_kernels, graph_work, launches};
use crate::derive::memory::{allocation_lifetimes, memory_live};
use crate::derive::paths::{critical_path, dispatch_slack, kernel_savings};
use crate::derive::queueing::queue_depths;
use crate::derive::ranging::{range_forest, ranges};
use crate::derive::ranks::collective_kernels;
use crate::derive::repeating::{iterations, run_parts};
use crate::derive::steadiness::{dispatch_groups, same_work, slow_dispatches};
use crate::schema;
use crate::schema::process::Process;

/// Source tables and the columns that are needed of each.
pub type Needs = Vec<(&'static str, Vec<&'static str>)>;

/// Whether a derived table depends on where calls are cut.
pub fn is_of_cut_calls(derived: &str) -> bool {
    [call_times::SELF_TIMES, call_times::REGION_TIMES, call_times::API_CALLS].contains(&derived)
}

const DISPATCH_LAUNCHES: &str = "dispatch_launches";
const ALLOCATION_LIFETIMES: &str = "allocation_lifetimes";
const FOLLOWING_KERNELS: &str = "following_kernels";
const IDLE_GAPS: &str = "idle_gaps";
const COLLECTIVE_KERNELS: &str = "collective_kernels";

/// How a derived table comes about.
struct Derivation {
    name: &'static str,
    needs: fn() -> Needs,
    build: fn(&Process, &Frames) -> Result<DataFrame>,
}

const DERIVATIONS: &[Derivation] = &[
    Derivation { name: "gpu_segments", needs: gpu_segments::needs, build: gpu_segments::build },
    Derivation { name: "launches", needs: launches::needs, build: launches::build },
    Derivation { name: DISPATCH_LAUNCHES, needs: dispatch_launches::needs, build: dispatch_launches::build },
    Derivation { name: FOLLOWING_KERNELS, needs: following_kernels::needs, build: following_kernels::build },
    Derivation { name: "queue_depths", needs: queue_depths::needs, build: queue_depths::build },
    Derivation { name: "graph_work", needs: graph_work::needs, build: graph_work::build },
    Derivation { name: "memory_live", needs: memory_live::needs, build: memory_live::build },
    Derivation { name: ALLOCATION_LIFETIMES, needs: allocation_lifetimes::needs, build: allocation_lifetimes::build },
    Derivation { name: "kernel_clocks", needs: kernel_clocks::needs, build: kernel_clocks::build },
    Derivation { name: IDLE_GAPS, needs: idle_gaps::needs, build: idle_gaps::build },
    Derivation { name: "profiler_pauses", needs: profiler_pauses::needs, build: profiler_pauses::build },
    Derivation { name: "kernel_overlaps", needs: kernel_overlaps::needs, build: kernel_overlaps::build },
    Derivation { name: "critical_path", needs: critical_path::needs, build: critical_path::build },
    Derivation { name: "dispatch_slack", needs: dispatch_slack::needs, build: dispatch_slack::build },
    Derivation { name: "kernel_savings", needs: kernel_savings::needs, build: kernel_savings::build },
    Derivation { name: "device_constants", needs: device_constants::needs, build: device_constants::build },
    Derivation { name: "kernel_resources", needs: kernel_resources::needs, build: kernel_resources::build },
    Derivation { name: "att_waits", needs: att_waits::needs, build: att_waits::build },
];

/// The name of a table, and what it needs.
type Related = (&'static str, fn() -> Needs);

/// Tables that are made of the same parts, and are built together where several are wanted.
struct Family {
    /// Their names, and what each needs.
    tables: &'static [Related],
    /// Builds some of them.
    build: fn(&Process, &Frames, &[&'static str]) -> Result<Vec<DataFrame>>,
}

const FAMILIES: &[Family] = &[
    Family {
        tables: &[
            (call_times::SELF_TIMES, region_self_times::needs),
            (call_times::REGION_TIMES, region_times::needs),
            (call_times::API_CALLS, api_calls::needs),
        ],
        build: call_times::build,
    },
    Family {
        tables: &[
            (ranges::RANGES, range_forest::needs),
            (ranges::SELF_TIMES, range_forest::needs),
            (ranges::WORK, range_forest::needs_of_work),
        ],
        build: ranges::build,
    },
    Family {
        tables: &[(run_parts::ITERATIONS, iterations::needs), (run_parts::RUN_PARTS, run_parts::needs)],
        build: run_parts::build,
    },
    Family {
        tables: &[(same_work::GROUPS, dispatch_groups::needs), (same_work::SLOW, slow_dispatches::needs)],
        build: same_work::build,
    },
];

/// What takes long and leaves little in memory. It is begun first, so that it does not end last.
const LONGEST: &[&str] =
    &[run_parts::ITERATIONS, run_parts::RUN_PARTS, COLLECTIVE_KERNELS, ranges::RANGES, same_work::GROUPS];

fn family(derived: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.tables.iter().any(|(name, _)| *name == derived))
}

/// Names of derived tables, those together that are built together, in the order to build them in.
pub fn families(names: impl Iterator<Item = &'static str>) -> Vec<Vec<&'static str>> {
    let mut all: Vec<Vec<&'static str>> = Vec::new();
    for name in names {
        let is_related = |others: &&mut Vec<&'static str>| {
            family(name).is_some_and(|family| family.tables.iter().any(|(other, _)| others.contains(other)))
        };
        match all.iter_mut().find(is_related) {
            Some(others) => others.push(name),
            None => all.push(vec![name]),
        }
    }
    all.sort_by_key(|names| !names.iter().any(|name| LONGEST.contains(name)));
    all
}

/// What counts of a process for a joint table.
pub type Part<'a> = (&'a Process, DataFrame);

/// Makes the rows of every process from what counts of all.
type Relate = fn(&[Part<'_>], &Definitions) -> Result<Vec<DataFrame>>;

/// How a table comes about whose rows depend on all processes: what counts of each is taken out of its source tables, and
/// then all of that is related.
struct JointDerivation {
    name: &'static str,
    needs: fn() -> Needs,
    /// What rows of these may call for.
    beside: fn() -> Needs,
    extract: fn(&Process, &Frames, &dyn OnDemandTables, &BTreeSet<&'static str>) -> Result<DataFrame>,
    relate: Relate,
    keep: fn(&BTreeSet<&'static str>) -> Option<Keep>,
}

const JOINT_DERIVATIONS: &[JointDerivation] = &[
    JointDerivation {
        name: COLLECTIVE_KERNELS,
        needs: collective_kernels::needs,
        beside: collective_kernels::beside,
        extract: collective_kernels::extract,
        relate: |parts, _| collective_kernels::relate(parts),
        keep: collective_kernels::keep,
    },
    JointDerivation {
        name: "metric_sums",
        needs: metric_sums::needs,
        beside: Vec::new,
        extract: metric_sums::extract,
        relate: metric_sums::relate,
        keep: |_| None,
    },
    JointDerivation {
        name: "kernel_bottlenecks",
        needs: kernel_bottlenecks::needs,
        beside: Vec::new,
        extract: kernel_bottlenecks::extract,
        relate: kernel_bottlenecks::relate,
        keep: |_| None,
    },
];

fn joint(name: &str) -> Option<&'static JointDerivation> {
    JOINT_DERIVATIONS.iter().find(|derivation| derivation.name == name)
}

/// Whether the rows of a derived table depend on all processes that are read together.
pub fn is_joint(derived: &str) -> bool {
    joint(derived).is_some()
}

/// What counts of a process for a joint table, from the tables that it always needs, and others if these call for them. What
/// is only handed on may be left out where it is not among the `wanted` columns.
///
/// # Errors
/// When a needed column is missing or has another type.
pub fn extract(
    name: &str,
    process: &Process,
    tables: &Frames,
    others: &dyn OnDemandTables,
    wanted: &BTreeSet<&'static str>,
) -> Result<DataFrame> {
    let derivation = joint(name).with_context(|| format!("internal: {name} is no joint table"))?;
    (derivation.extract)(process, tables, others, wanted)
}

/// The source columns that a joint table is made from where its rows call for them: what counts of a process is taken out of
/// these if they are read anyway, else they are read when they are called for.
pub fn beside(derived: &str) -> Needs {
    joint(derived).map(|derivation| (derivation.beside)()).unwrap_or_default()
}

/// Which rows of its only source table count for the `wanted` columns of a joint table, where not all do.
pub fn kept_rows(name: &str, wanted: &BTreeSet<&'static str>) -> Option<Keep> {
    joint(name).and_then(|derivation| (derivation.keep)(wanted))
}

/// The rows of a joint table, for every process those without `process` and `rank`.
///
/// # Errors
/// When a needed column is missing or has another type.
pub fn relate(name: &str, parts: &[Part<'_>], metrics: &Definitions) -> Result<Vec<DataFrame>> {
    (joint(name).with_context(|| format!("internal: {name} is no joint table"))?.relate)(parts, metrics)
}

/// The source columns that a derived table is built from, first those of the table that it is about: without rows there it
/// has none either. The checks, which see every table as it is read, build
/// `anomalies`.
pub fn needs(derived: &str) -> Needs {
    let derivation = DERIVATIONS.iter().find(|derivation| derivation.name == derived);
    match derivation {
        Some(derivation) => (derivation.needs)(),
        None if family(derived).is_some() => {
            let tables = FAMILIES.iter().flat_map(|family| family.tables);
            tables.filter(|(name, _)| *name == derived).flat_map(|(_, needs)| needs()).collect()
        }
        None if is_joint(derived) => joint(derived).map(|derivation| (derivation.needs)()).unwrap_or_default(),
        None if derived == "anomalies" => health::needs(),
        None => Vec::new(),
    }
}

/// As [`needs`], but of a derived table only `wanted` columns are asked for. Those that are not need not be read where
/// they are only handed on; then they are missing in what is built.
pub fn needs_of(derived: &str, wanted: &BTreeSet<&'static str>) -> Needs {
    match derived {
        FOLLOWING_KERNELS => return following_kernels::needs_of(wanted),
        IDLE_GAPS => return idle_gaps::needs_of(wanted),
        ALLOCATION_LIFETIMES => return allocation_lifetimes::needs_of(wanted),
        _ => {}
    }
    let mut needs = needs(derived);
    let handed_on = match derived {
        COLLECTIVE_KERNELS => collective_kernels::HANDED_ON,
        DISPATCH_LAUNCHES => dispatch_launches::HANDED_ON,
        call_times::REGION_TIMES => region_times::HANDED_ON,
        same_work::SLOW => slow_dispatches::HANDED_ON,
        _ => &[],
    };
    if let Some((_, columns)) = needs.first_mut() {
        columns.retain(|name| wanted.contains(name) || !handed_on.contains(name));
    }
    needs
}

/// The columns of source tables that the tables of a request are made from.
pub fn source_request(request: &Request) -> Request {
    let mut sources = Request::new();
    for (&name, columns) in request {
        match schema::table(name) {
            Some(table) if table.origin.is_derived() => {
                for (name, columns) in needs(table.name) {
                    sources.entry(name).or_default().extend(columns);
                }
            }
            _ => sources.entry(name).or_default().extend(columns),
        }
    }
    sources
}

/// Builds a derived table of one process, without `process` and `rank`.
///
/// # Errors
/// When a needed column is missing or has another type.
pub fn derive(name: &'static str, process: &Process, tables: &Frames) -> Result<DataFrame> {
    derive_all(&[name], process, tables)?.pop().with_context(|| format!("internal: {name} was not built"))
}

/// As [`derive`], tables that belong together, see [`families`].
///
/// # Errors
/// As [`derive`].
pub fn derive_all(names: &[&'static str], process: &Process, tables: &Frames) -> Result<Vec<DataFrame>> {
    if let Some(family) = names.first().and_then(|name| family(name)) {
        return (family.build)(process, tables, names);
    }
    let build = |name: &&'static str| {
        let derivation = DERIVATIONS.iter().find(|derivation| derivation.name == *name);
        (derivation.with_context(|| format!("internal: {name} is no derived table"))?.build)(process, tables)
    };
    names.iter().map(build).collect()
}

/// A column of integers.
pub fn column(name: &str, values: Vec<i64>) -> Column {
    Int64Chunked::from_vec(name.into(), values).into_series().into_column()
}
