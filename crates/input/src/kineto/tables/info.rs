//! The tables that describe a process: queues, streams, threads and kernels that its events name.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use super::dispatches::symbols;
use crate::common::TableBuilder;
use crate::kineto::capture::Capture;
use crate::kineto::gathered::{Field, Keep, Wanted};
use crate::kineto::kinds::Role;
use wavesieve_tables::columns::frames::dictionary_column;

/// Assembles `queues`.
pub(crate) fn read_queues(builder: &mut TableBuilder<'_>, capture: &Capture) -> Result<()> {
    put_ids(builder, "queue_id", &ids_of(capture, &[Role::Kernel], Field::Queue)?);
    Ok(())
}

/// Assembles `streams`.
pub(crate) fn read_streams(builder: &mut TableBuilder<'_>, capture: &Capture) -> Result<()> {
    let streams = ids_of(capture, &[Role::Kernel, Role::Copy], Field::Stream)?;
    put_ids(builder, "stream_id", &streams);
    if builder.wants(&["name"]) {
        let names = capture.names()?;
        let of_devices =
            names.iter().filter(|named| named.pid.is_some_and(|pid| capture.census.devices.contains(&pid)));
        let named: BTreeMap<Option<i64>, &str> = of_devices
            .filter(|named| named.what == "thread_name")
            .map(|named| (named.tid, named.name.as_str()))
            .collect();
        let texts = streams.iter().map(|stream| named.get(&Some(*stream)).copied());
        builder.put("name", StringChunked::from_iter_options("".into(), texts).into_series());
    }
    Ok(())
}

/// Assembles `threads`.
pub(crate) fn read_threads(builder: &mut TableBuilder<'_>, capture: &Capture) -> Result<()> {
    let threads = ids_of(capture, &[Role::Region], Field::Tid)?;
    put_ids(builder, "tid", &threads);
    if builder.wants(&["name"]) {
        let names = capture.names()?;
        let on_host = names.iter().filter(|named| named.pid.is_none_or(|pid| !capture.census.devices.contains(&pid)));
        let named: BTreeMap<Option<i64>, &str> =
            on_host.filter(|named| named.what == "thread_name").map(|named| (named.tid, named.name.as_str())).collect();
        let texts = threads.iter().map(|thread| named.get(&Some(*thread)).copied());
        builder.put("name", StringChunked::from_iter_options("".into(), texts).into_series());
    }
    Ok(())
}

/// Assembles `kernel_symbols`: the kernels that ran.
pub(crate) fn read_kernel_symbols(builder: &mut TableBuilder<'_>, capture: &Capture) -> Result<()> {
    let rows = capture.gather(&Wanted { role: Role::Kernel, keep: Keep::All, fields: &[], names: true })?;
    let kernels = rows.names.texts.len();
    builder.set_height(kernels);
    builder.put("kernel_id", Int64Chunked::from_iter_values("".into(), (1..).take(kernels)).into_series());
    let wanted = builder.wanted();
    let forms = symbols(&rows).forms(builder.context.categories, &|name| wanted.contains(name));
    for (name, values) in forms.columns() {
        builder.put_with(name, || Ok(dictionary_column(name, values, (0..values.len()).map(Some))?))?;
    }
    Ok(())
}

/// The ids that events of some roles have.
fn ids_of(capture: &Capture, roles: &[Role], field: Field) -> Result<BTreeSet<i64>> {
    let mut ids = BTreeSet::new();
    for role in roles {
        let rows = capture.gather(&Wanted { role: *role, keep: Keep::All, fields: &[field], names: false })?;
        ids.extend(rows.get(field).iter().flatten());
    }
    Ok(ids)
}

fn put_ids(builder: &mut TableBuilder<'_>, name: &'static str, ids: &BTreeSet<i64>) {
    builder.set_height(ids.len());
    builder.put(name, Int64Chunked::from_iter_values("".into(), ids.iter().copied()).into_series());
}
