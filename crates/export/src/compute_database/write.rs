//! Writes workloads, kernels and dispatches, then their metrics and samples. A rank is a workload.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};
use rusqlite::{Connection, params};
use serde_json::{Map, Value};

use super::kernels::Kernels;
use super::metrics::{write_metrics, write_rooflines};
use super::pc_samples::write_pc_samples;
use super::rows::AnswerRows;
use crate::rocpd::OutputDatabase;
use wavesieve_engine::{Registry, run_sql};
use wavesieve_model::analysis::kernel_names::base_name;
use wavesieve_tables::trace::Trace;

/// The schema that is written.
const SCHEMA_VERSION: &str = "2.3.0";

/// Facts about the node of a workload, named as in `sysinfo.csv`.
const SYSTEM_TEXTS: [&str; 4] = ["hostname", "command", "gpu_arch", "gpu_model"];
const SYSTEM_NUMBERS: [&str; 6] = ["cu_per_gpu", "simd_per_cu", "max_sclk", "max_mclk", "num_xcd", "wave_size"];

/// Tables that the database is built from; the filters on them are reported.
pub const READ: [&str; 2] = ["kernels", "metric_sums"];

/// How much was written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written {
    pub dispatches: usize,
    pub kernels: usize,
    pub values: usize,
    pub samples: i64,
    /// Values that an input already states; they are not written again.
    pub recorded: usize,
}

/// Writes the database; without any dispatch, nothing is written.
///
/// # Errors
/// When a query fails or the database cannot be written.
pub fn write(trace: &Trace, registry: &Registry, output: &Path) -> Result<Written> {
    let dispatches = AnswerRows::new(run_sql(trace, include_str!("sql/dispatches.sql"))?);
    if dispatches.height() == 0 {
        return Ok(Written::default());
    }
    let database = OutputDatabase::create(output)?;
    let connection = database.connection();
    connection.execute_batch("BEGIN").context("cannot start writing")?;
    connection.execute_batch(include_str!("sql/schema.sql"))?;
    connection.execute_batch(include_str!("sql/views.sql"))?;
    let version = env!("CARGO_PKG_VERSION");
    connection
        .execute(include_str!("sql/insert_metadata.sql"), params![format!("wavesieve {version}"), SCHEMA_VERSION])?;
    write_workloads(trace, connection)?;
    let mut kernels = Kernels::default();
    write_dispatches(&dispatches, connection, &mut kernels)?;
    let values = write_metrics(trace, registry, connection, &kernels)?;
    write_rooflines(trace, registry, connection, &kernels)?;
    let samples = write_pc_samples(trace, connection, &kernels)?;
    let recorded = AnswerRows::new(run_sql(trace, include_str!("sql/recorded.sql"))?).integers("recorded")?;
    connection.execute_batch("COMMIT").context("cannot finish writing")?;
    database.finish()?;
    let recorded = recorded.into_iter().flatten().next().and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    Ok(Written { dispatches: dispatches.height(), kernels: kernels.len(), values, samples, recorded })
}

fn write_workloads(trace: &Trace, connection: &Connection) -> Result<()> {
    let rows = AnswerRows::new(run_sql(trace, include_str!("sql/workloads.sql"))?);
    let mut facts: Vec<Map<String, Value>> = vec![Map::new(); rows.height()];
    for name in SYSTEM_TEXTS {
        for (facts, value) in facts.iter_mut().zip(rows.texts(name)?) {
            facts.insert(name.to_owned(), Value::from(value));
        }
    }
    for name in SYSTEM_NUMBERS {
        for (facts, value) in facts.iter_mut().zip(rows.integers(name)?) {
            facts.insert(name.to_owned(), Value::from(value));
        }
    }
    let mut insert = connection.prepare(include_str!("sql/insert_workload.sql"))?;
    for ((rank, source), facts) in rows.integers("rank")?.into_iter().zip(rows.texts("source")?).zip(facts) {
        let rank = rank.unwrap_or_default();
        insert.execute(params![rank, source, format!("rank {rank}"), Value::Object(facts).to_string()])?;
    }
    Ok(())
}

fn write_dispatches(rows: &AnswerRows, connection: &Connection, kernels: &mut Kernels) -> Result<()> {
    let mut insert_kernel = connection.prepare(include_str!("sql/insert_kernel.sql"))?;
    let mut insert = connection.prepare(include_str!("sql/insert_dispatch.sql"))?;
    let (ids, agents) = (rows.integers("dispatch_id")?, rows.integers("agent_id")?);
    let (starts, ends) = (rows.integers("start_ns")?, rows.integers("end_ns")?);
    let keys = rows.integers("rank")?.into_iter().zip(rows.texts("kernel_name")?);
    // Several processes of a rank may have the same ids.
    let mut taken: BTreeSet<(i64, i64)> = BTreeSet::new();
    let mut next = ids.iter().flatten().max().map_or(0, |highest| highest.saturating_add(1));
    for ((((rank, name), id), agent), (start, end)) in keys.zip(ids).zip(agents).zip(starts.into_iter().zip(ends)) {
        let (rank, name) = (rank.unwrap_or_default(), name.unwrap_or_default());
        let kernel = kernels.id(rank, name, |new, name| {
            insert_kernel.execute(params![new, rank, name, base_name(name)])?;
            Ok(())
        })?;
        let mut id = id.unwrap_or(next);
        if !taken.insert((kernel, id)) {
            id = next;
        }
        next = next.max(id.saturating_add(1));
        taken.insert((kernel, id));
        insert.execute(params![kernel, id, agent, start, end])?;
    }
    Ok(())
}
