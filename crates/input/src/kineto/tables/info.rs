//! The tables that describe a process: queues, streams, threads and kernels that its events name.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::dispatches::symbols;
use crate::common::TableBuilder;
use crate::kineto::capture::Capture;
use crate::kineto::gathered::{Field, Keep, Wanted};
use crate::kineto::kinds::Role;

pub(crate) fn read_queues(builder: &mut TableBuilder<'_>, capture: &Capture) -> Result<()> {
    builder.put_ids("queue_id", ids_of(capture, &[Role::Kernel], Field::Queue)?.into_iter());
    Ok(())
}

pub(crate) fn read_streams(builder: &mut TableBuilder<'_>, capture: &Capture) -> Result<()> {
    let streams = ids_of(capture, &[Role::Kernel, Role::Copy], Field::Stream)?;
    put_named(builder, capture, "stream_id", &streams, |pid| {
        pid.is_some_and(|pid| capture.census.devices.contains(&pid))
    })
}

pub(crate) fn read_threads(builder: &mut TableBuilder<'_>, capture: &Capture) -> Result<()> {
    let threads = ids_of(capture, &[Role::Region], Field::Tid)?;
    put_named(builder, capture, "tid", &threads, |pid| pid.is_none_or(|pid| !capture.census.devices.contains(&pid)))
}

/// Adds ids with the thread names that viewers show, from the processes that `is_of` accepts.
fn put_named(
    builder: &mut TableBuilder<'_>,
    capture: &Capture,
    id: &'static str,
    ids: &BTreeSet<i64>,
    is_of: impl Fn(Option<i64>) -> bool,
) -> Result<()> {
    builder.put_ids(id, ids.iter().copied());
    if builder.wants(&["name"]) {
        let names = capture.names()?;
        let of_threads = names.iter().filter(|named| is_of(named.pid) && named.what == "thread_name");
        let named: BTreeMap<Option<i64>, &str> = of_threads.map(|named| (named.tid, named.name.as_str())).collect();
        builder.put_texts("name", ids.iter().map(|id| named.get(&Some(*id)).copied()))?;
    }
    Ok(())
}

pub(crate) fn read_kernel_symbols(builder: &mut TableBuilder<'_>, capture: &Capture) -> Result<()> {
    let rows = capture.gather(&Wanted { role: Role::Kernel, keep: Keep::All, fields: &[], names: true })?;
    let numbers: Vec<i64> = (1..).take(rows.names.texts.len()).collect();
    builder.put_symbols(numbers.into_iter(), &symbols(&rows))
}

fn ids_of(capture: &Capture, roles: &[Role], field: Field) -> Result<BTreeSet<i64>> {
    let mut ids = BTreeSet::new();
    for role in roles {
        let rows = capture.gather(&Wanted { role: *role, keep: Keep::All, fields: &[field], names: false })?;
        ids.extend(rows.get(field).iter().flatten());
    }
    Ok(ids)
}
