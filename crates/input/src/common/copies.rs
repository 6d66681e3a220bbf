//! Direction and GPUs of a copy, from its recorded name and its two agents.

use anyhow::Result;
use polars::prelude::*;

use super::table::TableBuilder;
use wavesieve_model::schema::process::{Gpu, Process};
use wavesieve_tables::columns::frames::dictionary_column;

const DIRECTIONS: &[&str] = &["H2D", "D2H", "D2D", "P2P", "H2H", "NONE"];

/// The GPU that a copy counts for, and the peer GPU of a copy between two GPUs.
type CopyGpus = (Option<Gpu>, Option<Gpu>);

/// Adds `gpu`, `peer_gpu` and `device`.
pub(crate) fn put_copy_gpus(builder: &mut TableBuilder<'_>, source: &Int64Chunked, destination: &Int64Chunked) {
    if !builder.wants(&["gpu", "peer_gpu", "device"]) {
        return;
    }
    let process = builder.context.process;
    let pairs: Vec<CopyGpus> =
        source.iter().zip(destination.iter()).map(|(source, destination)| gpus(process, source, destination)).collect();
    let column = |value: fn(&CopyGpus) -> Option<i64>| -> Series {
        Int64Chunked::from_iter_options("".into(), pairs.iter().map(value)).into_series()
    };
    builder.put("gpu", column(|(gpu, _)| gpu.map(|gpu| gpu.gpu)));
    builder.put("peer_gpu", column(|(_, peer)| peer.map(|peer| peer.gpu)));
    builder.put("device", column(|(gpu, _)| gpu.map(|gpu| gpu.device)));
}

/// The column `direction` for copies with these names and agents.
pub(crate) fn direction_column<'n>(
    process: &Process,
    names: impl Iterator<Item = Option<&'n str>>,
    source: &Int64Chunked,
    destination: &Int64Chunked,
) -> Result<Column> {
    let dictionary: Vec<Option<String>> = DIRECTIONS.iter().map(|direction| Some((*direction).to_owned())).collect();
    let codes = names.zip(source.iter()).zip(destination.iter()).map(|((name, source), destination)| {
        let direction = direction(name, process, source, destination);
        DIRECTIONS.iter().position(|known| *known == direction)
    });
    Ok(dictionary_column("direction", &dictionary, codes)?)
}

fn gpus(process: &Process, source: Option<i64>, destination: Option<i64>) -> CopyGpus {
    let gpu_of = |agent: Option<i64>| agent.and_then(|agent| process.gpus.get(&agent)).copied();
    match (gpu_of(source), gpu_of(destination)) {
        (Some(source), Some(destination)) if source != destination => (Some(source), Some(destination)),
        (source, destination) => (source.or(destination), None),
    }
}

/// The direction by the recorded name, otherwise by the types of the agents; device to device between two GPUs is P2P.
fn direction(name: Option<&str>, process: &Process, source: Option<i64>, destination: Option<i64>) -> &'static str {
    let between_gpus = matches!(gpus(process, source, destination), (Some(_), Some(_)));
    let name = name.unwrap_or_default().to_ascii_uppercase();
    let place = |text: &str, agent: Option<i64>| match text {
        _ if text.ends_with("HOST") => Some(false),
        _ if text.ends_with("DEVICE") => Some(true),
        _ => agent
            .filter(|agent| process.facts.agents.iter().any(|facts| facts.agent_id == *agent))
            .map(|agent| process.gpus.contains_key(&agent)),
    };
    let (from, to) = match name.as_str() {
        "H2H" => ("HOST", "HOST"),
        "H2D" => ("HOST", "DEVICE"),
        "D2H" => ("DEVICE", "HOST"),
        "D2D" => ("DEVICE", "DEVICE"),
        spelled_out => spelled_out.split_once("_TO_").unwrap_or(("", "")),
    };
    match (place(from, source), place(to, destination)) {
        (Some(true), Some(true)) if between_gpus => "P2P",
        (Some(true), Some(true)) => "D2D",
        (Some(false), Some(true)) => "H2D",
        (Some(true), Some(false)) => "D2H",
        (Some(false), Some(false)) => "H2H",
        _ => "NONE",
    }
}
