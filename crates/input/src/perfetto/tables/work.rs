//! `kernels`, `memory_copies` and `memory_allocations`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use super::{column, ids, text};
use crate::common::{
    Dictionary, KERNEL_NAMES, SymbolNames, TableBuilder, allocation_words, direction_column, or, or_else, put_copy_gpus,
};
use crate::perfetto::gpus::ends;
use crate::perfetto::kinds::{Role, Writer};
use crate::perfetto::names::Names;
use crate::perfetto::processes::{Assembled, Process};
use crate::perfetto::rows::{Field, Rows};

const SIZES: [(&str, Field); 6] = [
    ("workgroup_x", Field::WorkgroupX),
    ("workgroup_y", Field::WorkgroupY),
    ("workgroup_z", Field::WorkgroupZ),
    ("grid_x", Field::GridX),
    ("grid_y", Field::GridY),
    ("grid_z", Field::GridZ),
];
const SUFFIXES: [&str; 2] = [".kd", " [clone .kd]"];
const REGISTERS: [Field; 3] = [Field::Vgpr, Field::AccumVgpr, Field::Sgpr];

const ROCTRACER: [(&str, &str); 4] = [
    ("CopyHostToDevice", "MEMORY_COPY_HOST_TO_DEVICE"),
    ("CopyDeviceToHost", "MEMORY_COPY_DEVICE_TO_HOST"),
    ("CopyDeviceToDevice", "MEMORY_COPY_DEVICE_TO_DEVICE"),
    ("CopyHostToHost", "MEMORY_COPY_HOST_TO_HOST"),
];

#[derive(Default)]
pub(super) struct Symbols {
    pub ids: Vec<i64>,
    pub names: SymbolNames,
    pub registers: [Vec<Option<i64>>; REGISTERS.len()],
    /// The place of the kernel of each row.
    places: Vec<usize>,
}

impl Symbols {
    /// Kernels by id and name, in the order of first occurrence. A kernel without an id, or with the id of another kernel, gets an id above
    /// the highest.
    pub(super) fn new(rows: &Rows, names: &Names) -> Self {
        let mut symbols = Self::default();
        let mut known: BTreeMap<(Option<i64>, Option<i64>), usize> = BTreeMap::new();
        let mut taken: BTreeSet<i64> = BTreeSet::new();
        let highest = rows.column(Field::Kernel).flatten().max().unwrap_or(0).max(0);
        for (row, key) in rows.column(Field::Kernel).zip(rows.column(Field::Name)).enumerate() {
            let place = *known.entry(key).or_insert_with(|| {
                let next = highest.saturating_add(1).saturating_add(symbols.ids.len() as i64);
                let id = key.0.filter(|id| taken.insert(*id)).unwrap_or(next);
                symbols.ids.push(id);
                let name = text(names, key.1).unwrap_or("unknown");
                symbols.names.push(without_suffix(name).to_owned(), None, None);
                for (register, values) in REGISTERS.into_iter().zip(&mut symbols.registers) {
                    values.push(rows.get(row, register));
                }
                symbols.ids.len() - 1
            });
            symbols.places.push(place);
        }
        symbols
    }
}

/// A name without the mark of a kernel descriptor, which a demangler may have spelled out.
fn without_suffix(name: &str) -> &str {
    SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name)
}

/// Adds the columns that all kinds of work share.
fn put_common(builder: &mut TableBuilder<'_>, rows: &Rows, id: &'static str, ids: Int64Chunked) {
    builder.set_height(rows.height());
    builder.put(id, ids.into_series());
    for (name, field) in [
        ("queue_id", Field::Queue),
        ("stream_id", Field::Stream),
        ("tid", Field::Tid),
        ("correlation_id", Field::Correlation),
    ] {
        if builder.wants(&[name]) {
            builder.put(name, column(rows, field).into_series());
        }
    }
    builder.put_times(&column(rows, Field::Start), &column(rows, Field::End));
}

fn put_agent(builder: &mut TableBuilder<'_>, rows: &Rows, ids: &Int64Chunked) {
    let agents = column(rows, Field::Agent);
    builder.put_gpu(&agents, ids);
    builder.put("agent_id", agents.into_series());
}

pub(crate) fn read_kernels(builder: &mut TableBuilder<'_>, file: &Assembled, process: &Process) -> Result<()> {
    let Some(rows) = process.rows(Role::Kernel) else { return Ok(()) };
    let numbers = dispatch_ids(rows);
    put_agent(builder, rows, &numbers);
    put_common(builder, rows, "dispatch_id", numbers);
    if builder.wants(KERNEL_NAMES) {
        let symbols = Symbols::new(rows, &file.names);
        builder.put_integers("kernel_id", symbols.places.iter().map(|place| symbols.ids.get(*place).copied()));
        builder.put_kernel_names(&symbols.names, symbols.places.iter().copied().map(Some))?;
    }
    for (name, field) in SIZES {
        if builder.wants(&[name]) {
            builder.put(name, or(&column(rows, field), 0).into_series());
        }
    }
    for (name, field) in [("lds_bytes", Field::Lds), ("scratch_bytes", Field::Scratch)] {
        if builder.wants(&[name]) {
            let mut sizes = column(rows, field);
            if file.writer == Writer::Wavesieve {
                // If kernels have arguments, only sizes of 0 are left out.
                let zeros: Int64Chunked =
                    rows.column(Field::WorkgroupX).map(|size| size.map(|_| 0)).collect_ca("".into());
                sizes = or_else(&sizes, &zeros);
            }
            builder.put(name, sizes.into_series());
        }
    }
    Ok(())
}

/// Recorded ids if all are present and distinct, otherwise row numbers.
fn dispatch_ids(rows: &Rows) -> Int64Chunked {
    let recorded: BTreeSet<i64> = rows.column(Field::Dispatch).flatten().collect();
    if recorded.len() == rows.height() { column(rows, Field::Dispatch) } else { ids(rows) }
}

pub(crate) fn read_copies(builder: &mut TableBuilder<'_>, file: &Assembled, process: &Process) -> Result<()> {
    let Some(rows) = process.rows(Role::Copy) else { return Ok(()) };
    put_common(builder, rows, "copy_id", ids(rows));
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
    Ok(())
}

/// The agents at one end of copies: the stated agent, otherwise the GPU that ran the copy if this end is a GPU.
fn end(rows: &Rows, stated: Field, is_gpu: impl Iterator<Item = Option<bool>>) -> Int64Chunked {
    let both = rows.column(stated).zip(rows.column(Field::Agent)).zip(is_gpu);
    both.map(|((stated, agent), is_gpu)| stated.or(agent.filter(|_| is_gpu == Some(true)))).collect_ca("".into())
}

pub(crate) fn read_allocations(builder: &mut TableBuilder<'_>, file: &Assembled, process: &Process) -> Result<()> {
    let Some(rows) = process.rows(Role::Allocation) else { return Ok(()) };
    let numbers = ids(rows);
    put_agent(builder, rows, &numbers);
    put_common(builder, rows, "alloc_id", numbers);
    for (name, is_level) in [("operation", false), ("level", true)] {
        builder.put_dictionary(name, || {
            Dictionary::of(rows.column(Field::Name), |name| {
                let name = text(&file.names, name).unwrap_or_default();
                let (operation, level) = allocation_words(name, name.starts_with("SCRATCH"));
                Some(if is_level { level } else { operation }.to_owned())
            })
        })?;
    }
    builder.put("bytes", or(&column(rows, Field::Bytes), 0).into_series());
    Ok(())
}
