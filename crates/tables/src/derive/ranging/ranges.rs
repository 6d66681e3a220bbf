//! The table `ranges`: every ROCTx range with the work launched in it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{dictionary_column, floats, integers, text_column_from_dictionary, values_by_text};
use crate::columns::values::FrameValues;
use crate::derive::gpu_work::kernel_clocks::{SAMPLE_COLUMNS, clocks_by_device, mean_of_tracks};
use crate::derive::ranging::range_forest::{self, Range, RangeForest};
use crate::derive::ranging::range_tables;
use crate::derive::steadiness::launch_shapes::{ShapeGroups, add_group_columns};
use crate::derive::steadiness::recorded_messages::kernels_with_messages;
use crate::derive::{Build, DerivedTable, Frames, Needs, OnDemandTables, Rows, RowsWhen, WhyEmpty, column, needed};
use wavesieve_model::analysis::statistics::medians::median;
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;
use wavesieve_model::text::fnv::fnv1a;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    needs_of: Some(needs_of),
    rows: Rows::Events,
    rows_when: RowsWhen::all(&["regions"]).if_found(),
    why_empty: WhyEmpty::Because("no ROCTx range was recorded; `rocprofv3 --marker-trace` records them"),
    ..DerivedTable::new(&tables::ranging::RANGES, needs, Build::Family(&range_tables::FAMILY))
};

/// Column with the usual time of the work.
const USUAL: &str = "usual_ns";
/// Column with the clock.
const CLOCK: &str = "clock_mhz";
/// Parts of a megahertz in which clocks are added up.
const PARTS_OF_MHZ: f64 = 1e3;

fn needs() -> Needs {
    needs_of(&BTreeSet::from([USUAL, CLOCK]))
}

/// The source columns; those that compare work are only read for the columns that do.
fn needs_of(wanted: &BTreeSet<&'static str>) -> Needs {
    let mut needs = range_forest::needs();
    for (table, columns) in &mut needs {
        match *table {
            "kernels" if wanted.contains(USUAL) => add_group_columns(columns),
            "memory_copies" if wanted.contains(USUAL) => columns.extend(["direction", "bytes"]),
            _ => {}
        }
    }
    if wanted.contains(CLOCK) {
        let kernels = needs.iter_mut().filter(|(table, _)| *table == "kernels");
        kernels.for_each(|(_, columns)| columns.push("device"));
        needs.push(("samples", SAMPLE_COLUMNS.to_vec()));
    }
    needs
}

/// The wanted columns that compare the work of ranges, which must still have their kernels and copies.
///
/// # Errors
/// When a needed column is missing or has another type.
pub fn compared(
    forest: &RangeForest,
    process: &Process,
    tables: &Frames,
    more: &dyn OnDemandTables,
) -> Result<Vec<Column>> {
    let is_wanted = |name: &str| tables.wants(DECLARATION.table.name, name);
    let mut columns = Vec::new();
    if is_wanted(USUAL) {
        let kernels = kernels_with_messages(process, tables, more)?;
        let kernels = ShapeGroups::new(&kernels, tables.kernel_order()?)?.usual_ns()?;
        let copies = usual_of_copies(needed(tables, "memory_copies")?)?;
        let usual = |is_copy: bool, row: usize| if is_copy { copies.get(row) } else { kernels.get(row) };
        let launched = forest.work.launched.iter();
        let values = launched.map(|one| i128::from(usual(one.is_copy, one.row()).copied().unwrap_or_default()));
        let sums = forest.sums_over(&values.collect::<Vec<i128>>());
        columns.push(column(USUAL, sums.into_iter().map(|sum| i64::try_from(sum).unwrap_or(i64::MAX)).collect()));
    }
    if is_wanted(CLOCK) {
        columns.push(clocks(forest, tables)?);
    }
    Ok(columns)
}

/// The mean clock during the kernels of each range.
fn clocks(forest: &RangeForest, tables: &Frames) -> Result<Column> {
    let tracks = clocks_by_device(needed(tables, "samples")?)?;
    if tracks.is_empty() {
        return Ok(floats(CLOCK, forest.ranges.iter().map(|_| None)));
    }
    let devices = needed(tables, "kernels")?.integer("device")?;
    let (mut times, mut cycles) = (Vec::new(), Vec::new());
    for launched in &forest.work.launched {
        let device = devices.get(launched.row()).filter(|_| !launched.is_copy);
        let tracks = device.and_then(|device| tracks.get(&device));
        let mhz = tracks.and_then(|tracks| mean_of_tracks(tracks, launched.start_ns, launched.end_ns));
        let duration_ns = i128::from(launched.end_ns.saturating_sub(launched.start_ns).max(1));
        times.push(mhz.map_or(0, |_| duration_ns));
        cycles.push(mhz.map_or(0, |mhz| duration_ns * (mhz * PARTS_OF_MHZ) as i128));
    }
    let (times, cycles) = (forest.sums_over(&times), forest.sums_over(&cycles));
    let clock = |(time, cycles): (&i128, &i128)| (*time > 0).then(|| *cycles as f64 / *time as f64 / PARTS_OF_MHZ);
    let clocks: Vec<Option<f64>> = times.iter().zip(&cycles).map(clock).collect();
    Ok(floats(CLOCK, clocks.into_iter()))
}

/// The median duration of the copies of the same GPU, direction and size, by row; 0 if a copy is not valid.
fn usual_of_copies(copies: &DataFrame) -> Result<Vec<i64>> {
    let [gpus, sizes, starts, ends] = copies.integers(["gpu", "bytes", "start_ns", "end_ns"])?;
    let valid = copies.truths("valid")?;
    let directions = values_by_text(copies.column("direction")?, |direction| fnv1a(direction.as_bytes()))?;
    let mut groups: BTreeMap<_, (Vec<usize>, Vec<i64>)> = BTreeMap::new();
    for (row, _) in valid.iter().enumerate().filter(|(_, valid)| *valid == Some(true)) {
        let key = (gpus.get(row), directions.get(row).copied().flatten(), sizes.get(row));
        let (rows, durations) = groups.entry(key).or_default();
        rows.push(row);
        durations.push(ends.get(row).unwrap_or_default().saturating_sub(starts.get(row).unwrap_or_default()));
    }
    let mut usual = vec![0; copies.height()];
    for (rows, mut durations) in groups.into_values() {
        let median_ns = median(&mut durations).unwrap_or_default() as i64;
        for row in rows {
            if let Some(slot) = usual.get_mut(row) {
                *slot = median_ns;
            }
        }
    }
    Ok(usual)
}

/// Every range with all work launched in it and in its nested ranges.
pub fn table(forest: &RangeForest) -> Result<DataFrame> {
    let RangeForest { ranges, messages, paths, .. } = forest;
    let whole = |name, value: &dyn Fn(&Range) -> i64| column(name, ranges.iter().map(value).collect());
    let maybe = |name, value: &dyn Fn(&Range) -> Option<i64>| integers(name, ranges.iter().map(value));
    Ok(DataFrame::new_infer_height(vec![
        whole("range_id", &|range| range.region_id),
        dictionary_column("message", messages, ranges.iter().map(|range| Some(range.message as usize)))?,
        text_column_from_dictionary("path", paths, ranges.iter().map(|range| Some(range.path as usize)))?,
        whole("depth", &|range| range.depth),
        whole("iteration", &|range| range.iteration),
        dictionary_column(
            "kind",
            &["thread", "process"],
            ranges.iter().map(|range| Some(usize::from(range.of_process))),
        )?,
        maybe("tid", &|range| range.tid),
        whole("start_ns", &|range| range.extent.start_ns),
        whole("end_ns", &|range| range.extent.end_ns),
        whole("duration_ns", &|range| range.extent.end_ns.saturating_sub(range.extent.start_ns)),
        maybe("gpu_start_ns", &|range| range.work.gpu.map(|(first, _)| first)),
        maybe("gpu_end_ns", &|range| range.work.gpu.map(|(_, last)| last)),
        whole("kernels", &|range| range.work.kernels),
        whole("kernel_ns", &|range| range.work.kernel_ns),
        whole("copy_ns", &|range| range.work.copy_ns),
    ])?)
}
