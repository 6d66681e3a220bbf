//! The tables that describe a process: queues, streams, threads and kernels that its rows name.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use super::kernels::Symbols;
use crate::common::TableBuilder;
use crate::perfetto::kinds::{Role, Writer};
use crate::perfetto::processes::{Assembled, Process};
use crate::perfetto::rows::Field;
use wavesieve_tables::columns::frames::dictionary_column;

/// Assembles `queues`.
pub(crate) fn read_queues(builder: &mut TableBuilder<'_>, _: &Assembled, process: &Process) -> Result<()> {
    put_ids(builder, "queue_id", &ids_of(process, &[Role::Kernel, Role::Allocation], Field::Queue));
    Ok(())
}

/// Assembles `streams`.
pub(crate) fn read_streams(builder: &mut TableBuilder<'_>, _: &Assembled, process: &Process) -> Result<()> {
    put_ids(builder, "stream_id", &ids_of(process, &[Role::Kernel, Role::Copy, Role::Allocation], Field::Stream));
    Ok(())
}

/// Assembles `threads`: those that called, with the names of their tracks.
pub(crate) fn read_threads(builder: &mut TableBuilder<'_>, file: &Assembled, process: &Process) -> Result<()> {
    let threads = ids_of(process, &[Role::Call], Field::Tid);
    put_ids(builder, "tid", &threads);
    if builder.wants(&["name"]) {
        let mut named: BTreeMap<i64, &str> = BTreeMap::new();
        let calls = process
            .rows(Role::Call)
            .into_iter()
            .flat_map(|rows| rows.column(Field::Tid).zip(rows.column(Field::Track)));
        let seen: BTreeSet<(Option<i64>, Option<i64>)> = calls.collect();
        for (tid, track) in seen {
            let track = track.and_then(|track| file.tracks.get(usize::try_from(track).ok()?));
            if let (Some(tid), Some(track)) = (tid, track.filter(|track| track.is_thread)) {
                named.entry(tid).or_insert(track.name.as_str());
            }
        }
        // This program calls threads without a name by their id.
        let is_own = |tid: i64, name: &str| file.writer == Writer::Wavesieve && name == format!("thread {tid}");
        let names =
            threads.iter().map(|tid| named.get(tid).copied().filter(|name| !name.is_empty() && !is_own(*tid, name)));
        builder.put("name", StringChunked::from_iter_options("".into(), names).into_series());
    }
    Ok(())
}

/// Assembles `kernel_symbols`: the kernels that ran.
pub(crate) fn read_kernel_symbols(builder: &mut TableBuilder<'_>, file: &Assembled, process: &Process) -> Result<()> {
    let Some(rows) = process.rows(Role::Kernel) else { return Ok(()) };
    let symbols = Symbols::new(rows, &file.names);
    builder.set_height(symbols.ids.len());
    builder.put("kernel_id", Int64Chunked::from_slice("".into(), &symbols.ids).into_series());
    for (name, values) in ["vgpr", "accum_vgpr", "sgpr"].into_iter().zip(&symbols.registers) {
        builder.put(name, Int64Chunked::from_slice_options("".into(), values).into_series());
    }
    let wanted = builder.wanted();
    let forms = symbols.names.forms(builder.context.categories, &|name| wanted.contains(name));
    for (name, values) in forms.columns() {
        builder.put_with(name, || Ok(dictionary_column(name, values, (0..values.len()).map(Some))?))?;
    }
    Ok(())
}

/// The ids that rows of some roles have.
fn ids_of(process: &Process, roles: &[Role], field: Field) -> BTreeSet<i64> {
    roles.iter().filter_map(|role| process.rows(*role)).flat_map(|rows| rows.column(field)).flatten().collect()
}

fn put_ids(builder: &mut TableBuilder<'_>, name: &'static str, ids: &BTreeSet<i64>) {
    builder.set_height(ids.len());
    builder.put(name, Int64Chunked::from_iter_values("".into(), ids.iter().copied()).into_series());
}
