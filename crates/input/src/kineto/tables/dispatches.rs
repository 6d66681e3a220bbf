//! `kernels`: kernels, and memory fills, which the profiler lists separately.

use anyhow::Result;
use polars::prelude::IntoSeries;

use super::inputs::put_inputs;
use super::{SIZES, gather, or_of_call, put_correlation, put_gpu_times, put_of_calls};
use crate::common::{KERNEL_NAMES, SymbolNames, TableBuilder, count_first};
use crate::kineto::capture::Capture;
use crate::kineto::gathered::{BLOCK, Field, GRID, Gathered, Keep};
use crate::kineto::kinds::Role;
use wavesieve_model::schema::anomaly::Severity;

pub(crate) fn read_kernels(builder: &mut TableBuilder<'_>, capture: &Capture) -> Result<()> {
    let names = builder.wants(KERNEL_NAMES);
    let rows = gather(builder, capture, Role::Kernel, Keep::All, names)?;
    builder.put("dispatch_id", rows.get(Field::Number).into_series());
    if names {
        builder.put_numbers("kernel_id", rows.names.codes.iter().map(|code| i64::from(*code) + 1));
        builder.put_kernel_names(&symbols(&rows), rows.names.places())?;
    }
    let devices = rows.get(Field::Device);
    builder.put_gpu(&devices, &rows.get(Field::Number));
    builder.put("agent_id", devices.into_series());
    for (name, field) in [("queue_id", Field::Queue), ("stream_id", Field::Stream), ("external_id", Field::External)] {
        builder.put(name, rows.get(field).into_series());
    }
    put_correlation(builder, capture, &rows, Role::Kernel)?;
    put_of_calls(builder, capture, &rows, [("tid", Field::Tid), ("lds_bytes", Field::SharedMemory)])?;
    put_sizes(builder, capture, &rows)?;
    put_inputs(builder, capture, &rows)?;
    put_gpu_times(builder, capture, &rows, Role::Kernel)
}

/// Kernel names. Kernel ids number them from 1, in the order of first occurrence.
pub(super) fn symbols(rows: &Gathered) -> SymbolNames {
    let mut symbols = SymbolNames::default();
    for text in &rows.names.texts {
        symbols.push(text.clone().filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown".to_owned()), None, None);
    }
    symbols
}

/// Adds the sizes. If the profiler records them only with the call, they come from the launching call. Kernels of a graph and fills have no
/// sizes, so theirs are 0.
fn put_sizes(builder: &mut TableBuilder<'_>, capture: &Capture, rows: &Gathered) -> Result<()> {
    if !builder.wants(SIZES) {
        return Ok(());
    }
    note_unknown_sizes(builder, rows);
    let columns = [("grid_x", "workgroup_x"), ("grid_y", "workgroup_y"), ("grid_z", "workgroup_z")];
    for ((all_items, items_of_block), (grid, block)) in columns.into_iter().zip(GRID.into_iter().zip(BLOCK)) {
        let blocks = or_of_call(capture, rows, grid)?;
        let items: Vec<i64> = or_of_call(capture, rows, block)?.into_iter().map(|items| items.unwrap_or(0)).collect();
        let all = blocks.into_iter().zip(&items).map(|(blocks, items)| blocks.unwrap_or(0).saturating_mul(*items));
        builder.put_numbers(all_items, all);
        builder.put_numbers(items_of_block, items);
    }
    Ok(())
}

/// Reports kernels whose grid or block was recorded as 0, as Kineto did from February to June 2026. A real size is never 0, so the sizes
/// come from the call, or are unknown.
fn note_unknown_sizes(builder: &mut TableBuilder<'_>, rows: &Gathered) {
    let columns = [GRID, BLOCK].map(|fields| fields.map(|field| rows.get(field)));
    let is_unknown = |row: usize| columns.iter().flatten().any(|column| column.get(row) == Some(0));
    let (count, first) = count_first((0..rows.height).map(is_unknown), &rows.get(Field::Number));
    let detail = "the grid or block of kernels was recorded as 0, which is unknown; taken from the launching call if that has it";
    builder.note("unknown_sizes", Severity::Warning, count, first, detail);
}
