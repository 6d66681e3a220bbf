//! `memory_copies`.

use anyhow::Result;
use polars::prelude::*;

use super::{Dictionary, column, ids, put_common, text};
use crate::common::{TableBuilder, direction_column, put_copy_gpus};
use crate::perfetto::gpus::ends;
use crate::perfetto::kinds::Role;
use crate::perfetto::processes::{Assembled, Process};
use crate::perfetto::rows::{Field, Rows};

/// How roctracer names directions.
const ROCTRACER: [(&str, &str); 4] = [
    ("CopyHostToDevice", "MEMORY_COPY_HOST_TO_DEVICE"),
    ("CopyDeviceToHost", "MEMORY_COPY_DEVICE_TO_HOST"),
    ("CopyDeviceToDevice", "MEMORY_COPY_DEVICE_TO_DEVICE"),
    ("CopyHostToHost", "MEMORY_COPY_HOST_TO_HOST"),
];

/// Assembles the copies.
pub(crate) fn read_copies(builder: &mut TableBuilder<'_>, file: &Assembled, process: &Process) -> Result<()> {
    let Some(rows) = process.rows(Role::Copy) else { return Ok(()) };
    builder.set_height(rows.height());
    builder.put("copy_id", ids(rows).into_series());
    let operations = Dictionary::of(rows.column(Field::Name), |name| {
        let name = text(&file.names, name)?;
        let known = ROCTRACER.iter().find(|(other, _)| *other == name);
        Some(known.map_or(name, |(_, name)| name).to_owned())
    });
    let names = || operations.places.iter().map(|place| operations.texts.get((*place)?)?.as_deref());
    let source = end(rows, Field::FromAgent, names().map(|name| ends(name.unwrap_or_default()).0));
    let destination = end(rows, Field::ToAgent, names().map(|name| ends(name.unwrap_or_default()).1));
    let process = builder.context.process;
    builder.put_with("direction", || direction_column(process, names(), &source, &destination))?;
    put_copy_gpus(builder, &source, &destination);
    builder.put("src_agent_id", source.into_series());
    builder.put("dst_agent_id", destination.into_series());
    builder.put("bytes", column(rows, Field::Bytes).into_series());
    put_common(builder, rows);
    Ok(())
}

/// The agents at an end of copies: those that are stated, otherwise the GPU that did them where this end is one.
fn end(rows: &Rows, stated: Field, is_gpu: impl Iterator<Item = Option<bool>>) -> Int64Chunked {
    let both = rows.column(stated).zip(rows.column(Field::Agent)).zip(is_gpu);
    both.map(|((stated, agent), is_gpu)| stated.or(agent.filter(|_| is_gpu == Some(true)))).collect_ca("".into())
}
