//! The table `device_constants`: figures of the GPUs of a process, and where each is from.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::categorical;
use crate::columns::values::integers;
use crate::derive::{Build, DerivedTable, Frames, Needs, Rows, RowsWhen};
use wavesieve_model::analysis::hardware::devices::{Constant, constants};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows: Rows::Descriptions,
    rows_when: RowsWhen::all(&["agents"]).if_found(),
    ..DerivedTable::new(&tables::devices::DEVICE_CONSTANTS, needs, Build::Alone(build))
};

/// Agent, GPU, name and figure.
type Row = (i64, Option<i64>, String, Constant);

/// The agents of a process are among its facts; only that they are requested counts.
fn needs() -> Needs {
    vec![("agents", vec!["agent_id"])]
}

/// Chooses the figures of every GPU.
fn build(process: &Process, _tables: &Frames) -> Result<DataFrame> {
    let mut agents: Vec<_> = process.facts.agents.iter().filter(|agent| agent.is_gpu()).collect();
    agents.sort_by_key(|agent| agent.agent_id);
    let mut rows: Vec<Row> = Vec::new();
    for agent in agents {
        let gpu = process.gpus.get(&agent.agent_id).map(|known| known.gpu);
        let figures = constants(agent).into_iter();
        rows.extend(figures.map(|(name, constant)| (agent.agent_id, gpu, name, constant)));
    }
    let of = |name: &str, value: fn(&Row) -> &str| {
        StringChunked::from_iter_values(name.into(), rows.iter().map(value)).into_series()
    };
    let values: Float64Chunked = rows.iter().map(|(.., constant)| constant.value).collect();
    let weak: BooleanChunked = rows.iter().map(|(.., constant)| Some(constant.weak)).collect();
    Ok(DataFrame::new_infer_height(vec![
        integers("agent_id", rows.iter().map(|(agent, ..)| Some(*agent))).into_series().into_column(),
        integers("gpu", rows.iter().map(|(_, gpu, ..)| *gpu)).into_series().into_column(),
        of("constant", |(_, _, name, _)| name).cast(&categorical())?.into_column(),
        values.with_name("value".into()).into_series().into_column(),
        of("unit", |(.., constant)| constant.unit).cast(&categorical())?.into_column(),
        of("source", |(.., constant)| &constant.source).cast(&categorical())?.into_column(),
        of("reference", |(.., constant)| &constant.reference).into_column(),
        weak.with_name("weak".into()).into_series().into_column(),
    ])?)
}
