//! The table `device_constants`: device specs of the GPUs of a process, with their sources.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{categories, floats, integers, texts};
use crate::derive::{Build, DerivedTable, Frames, Needs, Rows, RowsWhen};
use wavesieve_model::analysis::hardware::devices::{Constant, constants};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows: Rows::Descriptions,
    rows_when: RowsWhen::all(&["agents"]).if_found(),
    ..DerivedTable::new(&tables::devices::DEVICE_CONSTANTS, needs, Build::Alone(build))
};

/// Agent, GPU, name and value.
type ConstantRow = (i64, Option<i64>, String, Constant);

/// The agents of a process are among its facts, so the columns only need to be requested.
fn needs() -> Needs {
    vec![("agents", vec!["agent_id"])]
}

/// Chooses the device specs of every GPU.
fn build(process: &Process, _tables: &Frames) -> Result<DataFrame> {
    let mut agents: Vec<_> = process.facts.agents.iter().filter(|agent| agent.is_gpu()).collect();
    agents.sort_by_key(|agent| agent.agent_id);
    let mut rows: Vec<ConstantRow> = Vec::new();
    for agent in agents {
        let gpu = process.gpus.get(&agent.agent_id).map(|known| known.gpu);
        let figures = constants(agent).into_iter();
        rows.extend(figures.map(|(name, constant)| (agent.agent_id, gpu, name, constant)));
    }
    let category =
        |name: &str, value: fn(&ConstantRow) -> &str| categories(name, rows.iter().map(|row| Some(value(row))));
    let weak: BooleanChunked = rows.iter().map(|(.., constant)| Some(constant.weak)).collect();
    Ok(DataFrame::new_infer_height(vec![
        integers("agent_id", rows.iter().map(|(agent, ..)| Some(*agent))),
        integers("gpu", rows.iter().map(|(_, gpu, ..)| *gpu)),
        category("constant", |(_, _, name, _)| name)?,
        floats("value", rows.iter().map(|(.., constant)| constant.value)),
        category("unit", |(.., constant)| constant.unit)?,
        category("source", |(.., constant)| &constant.source)?,
        texts("reference", rows.iter().map(|(.., constant)| Some(constant.reference.as_str()))),
        weak.with_name("weak".into()).into_column(),
    ])?)
}
