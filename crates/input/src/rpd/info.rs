//! The tables that describe a process: queues, streams, threads and kernels that its rows name.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use super::graphs::graph_launches;
use super::kinds::OpKind;
use super::ops::{Ops, calls};
use super::reading::Reading;
use super::symbols::{KERNEL_ID_SOURCES, Symbols, kernel_ids};
use crate::common::handle;
use crate::common::sqlite::{Condition, integer, text};

pub(crate) fn read_queues(reading: &mut Reading<'_>) -> Result<()> {
    let kernels = Ops::read(reading, OpKind::Kernel, &[integer("queueId")], false)?;
    let queues: BTreeSet<i64> = kernels.columns.integers("queueId").iter().flatten().collect();
    reading.put_ids("queue_id", queues.into_iter());
    Ok(())
}

/// Assembles `streams`: a stream is named by its handle.
pub(crate) fn read_streams(reading: &mut Reading<'_>) -> Result<()> {
    let mut streams: BTreeMap<i64, String> = BTreeMap::new();
    let pids = if reading.owner.others.is_empty() { None } else { Some(calls(reading, &[integer("pid")])?) };
    let owner = reading.owner;
    for base in ["kernelapi", "copyapi"] {
        let rows = reading.read(base, &[integer("api_ptr_id"), text("stream")], &Condition::all())?;
        let ids = rows.integers("api_ptr_id");
        let owned = |pid| pids.is_none() || owner.owns(pid);
        let of_rows = pids.as_ref().map_or_else(|| ids.clone(), |pids| pids.integers("pid", &ids));
        for (stream, pid) in rows.texts("stream").iter().zip(of_rows.iter()) {
            if let Some((text, id)) = stream.and_then(|text| Some((text, handle(text)?))).filter(|_| owned(pid)) {
                streams.entry(id).or_insert_with(|| text.to_owned());
            }
        }
    }
    let launches = graph_launches(reading)?;
    let own = Int64Chunked::from_iter_values("".into(), launches.keys().copied());
    let of_launches = pids.as_ref().map(|pids| pids.integers("pid", &own));
    for (at, launch) in launches.values().enumerate() {
        let is_own = of_launches.as_ref().is_none_or(|pids| owner.owns(pids.get(at)));
        if let Some(id) = launch.stream_id.filter(|_| is_own) {
            streams.entry(id).or_insert_with(|| format!("{id:#x}"));
        }
    }
    reading.put_ids("stream_id", streams.keys().copied());
    reading.put_texts("name", streams.values().map(Some))
}

pub(crate) fn read_threads(reading: &mut Reading<'_>) -> Result<()> {
    let calls = reading.read_own(&[integer("tid")], Condition::all())?;
    let threads: BTreeSet<i64> = calls.integers("tid").iter().flatten().collect();
    reading.put_ids("tid", threads.into_iter());
    Ok(())
}

pub(crate) fn read_kernel_symbols(reading: &mut Reading<'_>) -> Result<()> {
    let ops = Ops::read(reading, OpKind::Kernel, &KERNEL_ID_SOURCES, true)?;
    let kernels = kernel_ids(reading, &ops)?;
    let symbols = Symbols::read(reading, &kernels)?;
    reading.put_symbols(symbols.ids.into_iter(), &symbols.names)
}
