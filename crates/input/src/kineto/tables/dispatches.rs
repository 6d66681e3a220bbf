//! `kernels`: kernels, and fills of memory, which the profiler lists apart.

use anyhow::Result;
use polars::prelude::*;

use super::{TIMES, fields, put_correlation, put_gpu_times};
use crate::common::{SymbolNames, TableBuilder, count_first};
use crate::kineto::capture::Capture;
use crate::kineto::gathered::{BLOCK, Field, GRID, Gathered, Keep, Wanted};
use crate::kineto::kinds::Role;
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_tables::columns::frames::dictionary_column;
use wavesieve_tables::columns::values::I64Values;

const NAMES: &[&str] = &["kernel_id", "kernel_name", "short_name", "category"];
const SIZES: &[&str] = &["workgroup_x", "workgroup_y", "workgroup_z", "grid_x", "grid_y", "grid_z"];
const SIZE_FIELDS: &[Field] = &[
    Field::Number,
    Field::Correlation,
    Field::GridX,
    Field::GridY,
    Field::GridZ,
    Field::BlockX,
    Field::BlockY,
    Field::BlockZ,
];
const LAUNCH_FIELDS: &[Field] =
    &[Field::Number, Field::Correlation, Field::External, Field::Device, Field::Stream, Field::Start];
const COLUMNS: &[(&[&str], &[Field])] = &[
    (&["dispatch_id"], &[Field::Number]),
    (&["agent_id", "gpu", "device"], &[Field::Number, Field::Device]),
    (&["queue_id"], &[Field::Queue]),
    (&["stream_id"], &[Field::Stream]),
    (&["tid"], &[Field::Correlation]),
    (&["correlation_id"], LAUNCH_FIELDS),
    (&["external_id"], &[Field::External]),
    (TIMES.0, &[Field::Number, Field::Start, Field::End]),
    (SIZES, SIZE_FIELDS),
    (&["lds_bytes"], &[Field::Correlation, Field::SharedMemory]),
];

/// Assembles the dispatches.
pub(crate) fn read_kernels(builder: &mut TableBuilder<'_>, capture: &Capture) -> Result<()> {
    let fields = fields(builder, COLUMNS);
    let names = builder.wants(NAMES);
    let rows = capture.gather(&Wanted { role: Role::Kernel, keep: Keep::All, fields: &fields, names })?;
    builder.set_height(rows.height);
    builder.put("dispatch_id", rows.get(Field::Number).into_series());
    if names {
        put_names(builder, &rows)?;
    }
    let devices = rows.get(Field::Device);
    builder.put_gpu(&devices, &rows.get(Field::Number));
    builder.put("agent_id", devices.into_series());
    builder.put("queue_id", rows.get(Field::Queue).into_series());
    builder.put("stream_id", rows.get(Field::Stream).into_series());
    builder.put("external_id", rows.get(Field::External).into_series());
    put_correlation(builder, capture, &rows, Role::Kernel)?;
    if builder.wants(&["tid"]) {
        let ids = rows.get(Field::Correlation);
        let threads: Int64Chunked = capture.launches()?.of(Field::Tid, ids.iter()).collect_ca("".into());
        builder.put("tid", threads.into_series());
    }
    put_sizes(builder, capture, &rows)?;
    put_gpu_times(builder, capture, &rows, Role::Kernel)
}

/// Names of the kernels, whose ids are their places in the order of first occurrence, from 1 on.
pub(super) fn symbols(rows: &Gathered) -> SymbolNames {
    let mut symbols = SymbolNames::default();
    for text in &rows.names.texts {
        symbols.push(text.clone().filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown".to_owned()), None, None);
    }
    symbols
}

fn put_names(builder: &mut TableBuilder<'_>, rows: &Gathered) -> Result<()> {
    let ids = rows.names.codes.iter().map(|code| i64::from(*code) + 1);
    builder.put("kernel_id", Int64Chunked::from_iter_values("".into(), ids).into_series());
    let wanted = builder.wanted();
    let forms = symbols(rows).forms(builder.context.categories, &|name| wanted.contains(name));
    for (name, dictionary) in forms.dispatch_columns() {
        builder.put_with(name, || Ok(dictionary_column(name, dictionary, rows.names.places())?))?;
    }
    Ok(())
}

/// Adds the sizes. Where the profiler has them only for the call, they are those of the call that launched the kernel; kernels of a
/// graph and fills have none, so theirs are 0.
fn put_sizes(builder: &mut TableBuilder<'_>, capture: &Capture, rows: &Gathered) -> Result<()> {
    if builder.wants(&["lds_bytes"]) {
        let bytes: Int64Chunked = or_of_call(capture, rows, Field::SharedMemory)?.into_iter().collect_ca("".into());
        builder.put("lds_bytes", bytes.into_series());
    }
    if !builder.wants(SIZES) {
        return Ok(());
    }
    note_unknown_sizes(builder, rows);
    for (axis, (grid, block)) in ["x", "y", "z"].into_iter().zip(GRID.into_iter().zip(BLOCK)) {
        let blocks = or_of_call(capture, rows, grid)?;
        let items: Vec<i64> = or_of_call(capture, rows, block)?.into_iter().map(|items| items.unwrap_or(0)).collect();
        let all = blocks.into_iter().zip(&items).map(|(blocks, items)| blocks.unwrap_or(0).saturating_mul(*items));
        let all = Int64Chunked::from_iter_values("".into(), all).into_series();
        let items = Int64Chunked::from_iter_values("".into(), items.iter().copied()).into_series();
        for (column, name) in [(all, "grid_"), (items, "workgroup_")] {
            if let Some(name) = SIZES.iter().find(|size| size.strip_prefix(name) == Some(axis)) {
                builder.put(name, column);
            }
        }
    }
    Ok(())
}

/// Reports kernels whose grid or block was recorded as 0, as Kineto did from February to June 2026. No kernel has none of it, so that the
/// sizes are those of the call, or not known.
fn note_unknown_sizes(builder: &mut TableBuilder<'_>, rows: &Gathered) {
    let columns = [GRID, BLOCK].map(|fields| fields.map(|field| rows.get(field)));
    let is_unknown = |row: usize| columns.iter().flatten().any(|column| column.get(row) == Some(0));
    let (count, first) = count_first((0..rows.height).map(is_unknown), &rows.get(Field::Number));
    let detail = "the grid or block of kernels was recorded as 0, which is unknown; taken from the launching call if that has it";
    builder.note("unknown_sizes", Severity::Warning, count, first, detail);
}

/// A field of the kernels, otherwise of the calls that launched them. Grids and blocks of 0 are not known.
fn or_of_call(capture: &Capture, rows: &Gathered, field: Field) -> Result<Vec<Option<i64>>> {
    let mut own = rows.get(field);
    if GRID.contains(&field) || BLOCK.contains(&field) {
        own = own.iter().map(|size| size.filter(|size| *size != 0)).collect_ca("".into());
    }
    if own.null_count() == 0 {
        return Ok(I64Values::new(&own).into_rows().collect());
    }
    let ids = rows.get(Field::Correlation);
    let of_calls = capture.launches()?.of(field, ids.iter());
    Ok(own.iter().zip(of_calls).map(|(own, of_call)| own.or(of_call)).collect())
}
