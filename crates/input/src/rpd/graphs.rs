//! Facts of graph launches from the text of their arguments.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use super::args::{parse, texts_of};
use super::ops::Joined;
use super::reading::Reading;
use crate::common::handle;
use crate::common::sqlite::{Condition, RowTest, integer, listed};

/// Handle of the graph execution, and of the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GraphLaunch {
    pub graph_exec_id: Option<i64>,
    pub stream_id: Option<i64>,
}

/// Graph launches by the id of the call.
pub fn graph_launches(reading: &mut Reading<'_>) -> Result<BTreeMap<i64, GraphLaunch>> {
    let names = reading.strings_where(|name| name.starts_with("hipGraphLaunch"))?;
    if names.is_empty() {
        return Ok(BTreeMap::new());
    }
    let condition = format!(include_str!("sql/graph_texts.sql"), ids = listed(&names));
    let calls = Condition::all().and(RowTest::OneOf("apiName_id", names));
    let calls = reading.read("api", &[integer("args_id")], &calls)?;
    let texts = texts_of(reading, &Condition::all().and_sql(condition.trim_end()))?;
    let of_text = |text: &str| {
        let args = parse(text);
        let find = |name: &str| args.iter().find(|(known, _)| known == name).and_then(|(_, value)| handle(value));
        GraphLaunch { graph_exec_id: find("graphExec"), stream_id: find("stream") }
    };
    let (ids, args) = (calls.integers("id"), calls.integers("args_id"));
    Ok(ids
        .iter()
        .zip(args.iter())
        .filter_map(|(id, args)| Some((id?, texts.get().get(args).map(of_text).unwrap_or_default())))
        .collect())
}

/// Adds `stream_id` and `graph_exec_id` of operations: the stream of the `recorded` arguments, otherwise the stream of the graph launch.
pub(crate) fn put_streams_and_graphs(reading: &mut Reading<'_>, calls: &Int64Chunked, recorded: &Joined) -> Result<()> {
    if !reading.wants(&["stream_id", "graph_exec_id"]) {
        return Ok(());
    }
    let launches = graph_launches(reading)?;
    let launch = |call: Option<i64>| call.and_then(|call| launches.get(&call)).copied().unwrap_or_default();
    let streams = recorded.texts("stream");
    let stream = |call| recorded.position(call).and_then(|at| streams.get(at)).and_then(handle);
    let streams = calls.iter().map(|call| stream(call).or_else(|| launch(call).stream_id));
    reading.put_integers("stream_id", streams);
    reading.put_integers("graph_exec_id", calls.iter().map(|call| launch(call).graph_exec_id));
    Ok(())
}
