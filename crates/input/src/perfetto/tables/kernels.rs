//! `kernels`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use super::{column, ids, put_common, text};
use crate::common::{SymbolNames, TableBuilder, or, or_else};
use crate::perfetto::kinds::{Role, Writer};
use crate::perfetto::names::Names;
use crate::perfetto::processes::{Assembled, Process};
use crate::perfetto::rows::{Field, Rows};
use wavesieve_tables::columns::frames::dictionary_column;

const NAMES: [&str; 4] = ["kernel_id", "kernel_name", "short_name", "category"];
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

/// The kernels of a process.
#[derive(Default)]
pub(super) struct Symbols {
    pub ids: Vec<i64>,
    pub names: SymbolNames,
    pub registers: [Vec<Option<i64>>; REGISTERS.len()],
    /// The place of the kernel of each row.
    places: Vec<usize>,
}

impl Symbols {
    /// Kernels by id and name in the order of their first occurrence. Those without an id, or with that of another, follow the highest.
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

/// Assembles the dispatches.
pub(crate) fn read_kernels(builder: &mut TableBuilder<'_>, file: &Assembled, process: &Process) -> Result<()> {
    let Some(rows) = process.rows(Role::Kernel) else { return Ok(()) };
    builder.set_height(rows.height());
    let numbers = dispatch_ids(rows);
    builder.put("dispatch_id", numbers.clone().into_series());
    if builder.wants(&NAMES) {
        put_names(builder, &Symbols::new(rows, &file.names))?;
    }
    let agents = column(rows, Field::Agent);
    builder.put_gpu(&agents, &numbers);
    builder.put("agent_id", agents.into_series());
    for (name, field) in SIZES {
        if builder.wants(&[name]) {
            builder.put(name, or(&column(rows, field), 0).into_series());
        }
    }
    for (name, field) in [("lds_bytes", Field::Lds), ("scratch_bytes", Field::Scratch)] {
        if builder.wants(&[name]) {
            let mut sizes = column(rows, field);
            if file.writer == Writer::Wavesieve {
                // With arguments, only sizes of 0 are left out.
                let zeros: Int64Chunked =
                    rows.column(Field::WorkgroupX).map(|size| size.map(|_| 0)).collect_ca("".into());
                sizes = or_else(&sizes, &zeros);
            }
            builder.put(name, sizes.into_series());
        }
    }
    put_common(builder, rows);
    Ok(())
}

/// Recorded ids if all are there and different, otherwise numbers.
fn dispatch_ids(rows: &Rows) -> Int64Chunked {
    let recorded: BTreeSet<i64> = rows.column(Field::Dispatch).flatten().collect();
    if recorded.len() == rows.height() { column(rows, Field::Dispatch) } else { ids(rows) }
}

fn put_names(builder: &mut TableBuilder<'_>, symbols: &Symbols) -> Result<()> {
    let ids = symbols.places.iter().map(|place| symbols.ids.get(*place).copied());
    builder.put("kernel_id", Int64Chunked::from_iter_options("".into(), ids).into_series());
    let wanted = builder.wanted();
    let forms = symbols.names.forms(builder.context.categories, &|name| wanted.contains(name));
    for (name, dictionary) in forms.dispatch_columns() {
        let places = symbols.places.iter().copied().map(Some);
        builder.put_with(name, || Ok(dictionary_column(name, dictionary, places)?))?;
    }
    Ok(())
}
