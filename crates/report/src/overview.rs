//! Facts about the inputs of a trace: processes with their GPUs, spans and rows.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result as AnyResult;
use itertools::izip;
use polars::prelude::{DataFrame, Int64Chunked, IntoColumn, IntoSeries, NewChunkedArray, StringChunked};

use wavesieve_engine::{
    Answer, ColumnUnit, OutputColumn, Query, QueryError, Registry, by_rows, referenced_columns, run_sql, source_rows,
};
use wavesieve_model::schema::tables;
use wavesieve_tables::columns::requests::Request;
use wavesieve_tables::derive::gpu_work::gpu_times::GpuTime;
use wavesieve_tables::trace::{Trace, TraceProcess};

const ACTIVITY: &str = include_str!("gpu_activity.sql");

/// Span and used GPUs of a process.
#[derive(Default)]
struct Activity {
    used: BTreeSet<i64>,
    first_ns: Option<i64>,
    last_ns: Option<i64>,
}

/// Tables to analyze; one of them with rows is enough.
const RECORDED: [&str; 6] = ["kernels", "memory_copies", "memory_allocations", "regions", "marks", "counters"];

/// Facts about a trace.
pub struct Overview {
    /// How many processes, ranks, nodes and GPUs there are.
    pub headline: String,
    /// A row per process.
    pub processes: Answer,
    /// Rows of source tables, by process.
    rows: Vec<BTreeMap<&'static str, u64>>,
}

impl Overview {
    /// Reads the facts of all processes.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn of(trace: &Trace) -> Result<Self, QueryError> {
        let activities = activities(trace)?;
        let rows = source_rows(trace)?;
        trace.inspect_structure();
        Ok(Self { headline: headline(trace), processes: processes(trace, &activities, &rows)?, rows })
    }

    /// The source tables with rows, and their numbers of rows.
    pub fn filled_tables(&self) -> Vec<(&'static str, u64)> {
        let total = |name: &str| self.rows.iter().filter_map(|rows| rows.get(name)).sum::<u64>();
        let totals = tables().iter().map(|table| (table.name, total(table.name)));
        totals.filter(|(_, total)| *total > 0).collect()
    }

    /// Whether there are records to analyze.
    pub fn has_activity(&self) -> bool {
        self.rows.iter().any(|rows| RECORDED.iter().any(|table| rows.get(table).is_some_and(|rows| *rows > 0)))
    }

    /// The queries with rows, and the queries that have rows if they find something.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn queries<'a>(&self, trace: &Trace, registry: &'a Registry) -> AnyResult<(Vec<&'a Query>, Vec<&'a Query>)> {
        let invalid = trace.left_out(&activity_request())?;
        let is_all_invalid =
            |name: &str| invalid.iter().any(|(table, left_out)| table.name == name && left_out.invalid == left_out.all);
        let filled = self.rows.iter().flatten().filter(|(name, rows)| **rows > 0 && !is_all_invalid(name));
        Ok(by_rows(registry, &filled.map(|(table, _)| *table).collect()))
    }
}

/// Columns from which spans and used GPUs are computed.
pub fn activity_request() -> Request {
    referenced_columns(&ACTIVITY.into())
}

/// Used GPUs and spans by process. They come from a dataset if it stores them and no filter changes them; otherwise
/// they are read.
fn activities(trace: &Trace) -> Result<BTreeMap<i64, Activity>, QueryError> {
    let known: Option<Vec<(i64, &[GpuTime])>> = trace
        .members()
        .iter()
        .filter(|_| !trace.choice().chooses_rows())
        .map(|member| Some((member.process.process, member.source.gpu_times()?)))
        .collect();
    let mut activities: BTreeMap<i64, Activity> = BTreeMap::new();
    let mut absorb = |process: i64, gpu: Option<i64>, first: Option<i64>, last: Option<i64>| {
        let activity = activities.entry(process).or_default();
        activity.used.extend(gpu);
        activity.first_ns = [activity.first_ns, first].into_iter().flatten().min();
        activity.last_ns = [activity.last_ns, last].into_iter().flatten().max();
    };
    if let Some(known) = known.filter(|known| known.len() == trace.members().len()) {
        for (process, times) in known {
            for time in times {
                absorb(process, Some(time.gpu), Some(time.first_ns), Some(time.last_ns));
            }
        }
        return Ok(activities);
    }
    let answer = run_sql(trace, ACTIVITY)?;
    let column = |name: &str| -> AnyResult<Vec<Option<i64>>> { Ok(answer.frame.column(name)?.i64()?.iter().collect()) };
    let (process, gpu) = (column("process")?, column("gpu")?);
    let (first, last) = (column("first_ns")?, column("last_ns")?);
    for (process, gpu, first, last) in izip!(process.into_iter(), gpu, first, last) {
        if let Some(process) = process {
            absorb(process, gpu, first, last);
        }
    }
    Ok(activities)
}

fn headline(trace: &Trace) -> String {
    let members = trace.members();
    let distinct = |value: &dyn Fn(&TraceProcess) -> i64| members.iter().map(value).collect::<BTreeSet<i64>>().len();
    let count = |number: usize, one: &str, many: &str| format!("{number} {}", if number == 1 { one } else { many });
    let devices: BTreeSet<i64> =
        members.iter().flat_map(|member| member.process.gpus.values().map(|gpu| gpu.device)).collect();
    [
        count(members.len(), "process", "processes"),
        count(distinct(&|member| member.process.rank), "rank", "ranks"),
        count(distinct(&|member| member.process.node), "node", "nodes"),
        count(devices.len(), "GPU visible", "GPUs visible"),
    ]
    .join(", ")
}

fn processes(
    trace: &Trace,
    activities: &BTreeMap<i64, Activity>,
    rows: &[BTreeMap<&'static str, u64>],
) -> Result<Answer, QueryError> {
    let none = Activity::default();
    let facts: Vec<(&TraceProcess, &Activity)> = trace
        .members()
        .iter()
        .map(|member| (member, activities.get(&member.process.process).unwrap_or(&none)))
        .collect();
    let integer = |name: &str, unit, value: &dyn Fn(&TraceProcess, &Activity) -> Option<i64>| {
        let values = facts.iter().map(|(member, activity)| value(member, activity));
        (Int64Chunked::from_iter_options(name.into(), values).into_series().into_column(), unit)
    };
    let text = |name: &str, unit, value: &dyn Fn(&TraceProcess, &Activity) -> Option<String>| {
        let values = facts.iter().map(|(member, activity)| value(member, activity));
        (StringChunked::from_iter_options(name.into(), values).into_series().into_column(), unit)
    };
    let (id, words, name, ns) = (ColumnUnit::Id, ColumnUnit::Text, ColumnUnit::Name, ColumnUnit::Nanoseconds);
    let mut columns = vec![
        integer("rank", id, &|member, _| Some(member.process.rank)),
        integer("process", id, &|member, _| Some(member.process.process)),
        text("role", words, &|member, _| Some(member.process.role.name().to_owned())),
        integer("node", id, &|member, _| Some(member.process.node)),
        text("hostname", words, &|member, _| member.process.facts.hostname.clone()),
        integer("pid", id, &|member, _| Some(member.process.facts.pid)),
        text("format", words, &|member, _| Some(member.process.facts.format.clone())),
        text("schema", words, &|member, _| member.process.facts.schema_version.clone()),
        text("gpu_name", words, &|member, _| gpu_name(member)),
        text("used_gpus", words, &|_, activity| Some(list(activity.used.iter().copied()))),
        text("unused_gpus", words, &|member, activity| {
            let gpus: BTreeSet<i64> = member.process.gpus.values().map(|gpu| gpu.gpu).collect();
            Some(list(gpus.difference(&activity.used).copied()))
        }),
        integer("span_ns", ns, &|_, activity| Some(activity.last_ns?.saturating_sub(activity.first_ns?))),
    ];
    for table in ["kernels", "memory_copies", "regions", "counters"] {
        let values = rows.iter().map(|rows| rows.get(table).and_then(|rows| i64::try_from(*rows).ok()));
        let values = Int64Chunked::from_iter_options(table.into(), values).into_series().into_column();
        columns.push((values, ColumnUnit::Count));
    }
    columns.push(text("source", name, &|member, _| Some(member.process.facts.source.clone())));
    let declared = columns.iter().map(|(column, unit)| OutputColumn::new(column.name().as_str(), *unit, "")).collect();
    let columns = columns.into_iter().map(|(column, _)| column).collect();
    let frame = DataFrame::new_infer_height(columns).map_err(anyhow::Error::from)?;
    Ok(Answer { frame, columns: declared, is_readable: false })
}

fn gpu_name(member: &TraceProcess) -> Option<String> {
    let names: BTreeSet<&str> =
        member.process.facts.agents.iter().filter(|agent| agent.is_gpu()).map(|agent| agent.name.as_str()).collect();
    (!names.is_empty()).then(|| names.into_iter().collect::<Vec<_>>().join(" "))
}

/// Numbers, with runs of consecutive ones as `0-3`.
fn list(numbers: impl Iterator<Item = i64>) -> String {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let runs: Vec<String> = runs
        .into_iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    runs.join(",")
}
