//! The tables that describe a process: queues, streams, threads and kernels that its rows name.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::work::Symbols;
use crate::common::TableBuilder;
use crate::perfetto::kinds::{Role, Writer};
use crate::perfetto::processes::{Assembled, Process, track_at};
use crate::perfetto::rows::Field;

pub(crate) fn read_queues(builder: &mut TableBuilder<'_>, _: &Assembled, process: &Process) -> Result<()> {
    builder.put_ids("queue_id", ids_of(process, &[Role::Kernel, Role::Allocation], Field::Queue).into_iter());
    Ok(())
}

pub(crate) fn read_streams(builder: &mut TableBuilder<'_>, _: &Assembled, process: &Process) -> Result<()> {
    let streams = ids_of(process, &[Role::Kernel, Role::Copy, Role::Allocation], Field::Stream);
    builder.put_ids("stream_id", streams.into_iter());
    Ok(())
}

/// Assembles `threads`: the threads of calls, with the names of their tracks.
pub(crate) fn read_threads(builder: &mut TableBuilder<'_>, file: &Assembled, process: &Process) -> Result<()> {
    let threads = ids_of(process, &[Role::Call], Field::Tid);
    builder.put_ids("tid", threads.iter().copied());
    if builder.wants(&["name"]) {
        let mut named: BTreeMap<i64, &str> = BTreeMap::new();
        let calls = process
            .rows(Role::Call)
            .into_iter()
            .flat_map(|rows| rows.column(Field::Tid).zip(rows.column(Field::Track)));
        let seen: BTreeSet<(Option<i64>, Option<i64>)> = calls.collect();
        for (tid, track) in seen {
            if let (Some(tid), Some(track)) = (tid, track_at(&file.tracks, track).filter(|track| track.is_thread)) {
                named.entry(tid).or_insert(track.name.as_str());
            }
        }
        // wavesieve writes the id as the name of threads without a name.
        let is_own = |tid: i64, name: &str| file.writer == Writer::Wavesieve && name == format!("thread {tid}");
        let names =
            threads.iter().map(|tid| named.get(tid).copied().filter(|name| !name.is_empty() && !is_own(*tid, name)));
        builder.put_texts("name", names)?;
    }
    Ok(())
}

pub(crate) fn read_kernel_symbols(builder: &mut TableBuilder<'_>, file: &Assembled, process: &Process) -> Result<()> {
    let Some(rows) = process.rows(Role::Kernel) else { return Ok(()) };
    let symbols = Symbols::new(rows, &file.names);
    for (name, values) in ["vgpr", "accum_vgpr", "sgpr"].into_iter().zip(&symbols.registers) {
        builder.put_integers(name, values.iter().copied());
    }
    builder.put_symbols(symbols.ids.into_iter(), &symbols.names)
}

fn ids_of(process: &Process, roles: &[Role], field: Field) -> BTreeSet<i64> {
    roles.iter().filter_map(|role| process.rows(*role)).flat_map(|rows| rows.column(field)).flatten().collect()
}
