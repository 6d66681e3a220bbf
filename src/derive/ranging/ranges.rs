//! The tables `ranges`, `range_self_times` and `range_work`: ROCTx ranges and what was launched in them.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use polars::prelude::*;

use crate::columns::frames::{dictionary_column, text_column_from_dictionary};
use crate::columns::values::integers;
use crate::derive::launching::launched_work::Launched;
use crate::derive::ranging::range_forest::{Range, RangeForest, own_times};
use crate::derive::{Frames, WantedColumns, column};
use crate::schema::process::Process;

/// Names of the tables.
pub const RANGES: &str = "ranges";
/// Name of the table of range self times.
pub const SELF_TIMES: &str = "range_self_times";
/// Name of the table of work launched in ranges.
pub const WORK: &str = "range_work";

/// Builds some of the tables, in the order of their names, from one forest.
///
/// # Errors
/// When a needed column is missing or has another type, or a name is that of another table.
pub fn build(_process: &Process, tables: &Frames, names: &[&'static str]) -> Result<Vec<DataFrame>> {
    let mut forest = RangeForest::of(tables)?;
    let mut built: BTreeMap<&str, DataFrame> = BTreeMap::new();
    if names.contains(&SELF_TIMES) {
        built.insert(SELF_TIMES, self_times(&forest)?);
    }
    if names.contains(&WORK) {
        built.insert(WORK, work(&forest, tables)?);
    }
    if names.contains(&RANGES) {
        forest.add_up();
        built.insert(RANGES, ranges(&forest)?);
    }
    let table = |name: &&'static str| built.remove(name).with_context(|| format!("internal: {name} is of no ranges"));
    names.iter().map(table).collect()
}

/// `ranges`: every range with all that was launched in it and in the ranges that lie in it.
fn ranges(forest: &RangeForest) -> Result<DataFrame> {
    let RangeForest { ranges, messages, paths, .. } = forest;
    let whole = |name, value: &dyn Fn(&Range) -> i64| column(name, ranges.iter().map(value).collect());
    let maybe = |name, value: &dyn Fn(&Range) -> Option<i64>| integers(name, ranges.iter().map(value)).into_column();
    let kinds = [Some("thread".to_owned()), Some("process".to_owned())];
    Ok(DataFrame::new_infer_height(vec![
        whole("range_id", &|range| range.region_id),
        dictionary_column("message", messages, ranges.iter().map(|range| Some(range.message as usize)))?,
        text_column_from_dictionary("path", paths, ranges.iter().map(|range| Some(range.path as usize)))?,
        whole("depth", &|range| range.depth),
        whole("iteration", &|range| range.iteration),
        dictionary_column("kind", &kinds, ranges.iter().map(|range| Some(usize::from(range.of_process))))?,
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

/// `range_self_times`: what is left of every range without the ranges that lie in it.
fn self_times(RangeForest { ranges, .. }: &RangeForest) -> Result<DataFrame> {
    let whole = |name, value: &dyn Fn(&Range) -> i64| column(name, ranges.iter().map(value).collect());
    let parent = |range: &Range| Some(ranges.get(range.parent? as usize)?.region_id);
    // A range of the process overlaps those of the threads, which have what was launched in it already.
    let own = |range: &Range, value: i64| if range.of_process { 0 } else { value };
    Ok(DataFrame::new_infer_height(vec![
        whole("range_id", &|range| range.region_id),
        integers("parent_id", ranges.iter().map(parent)).into_column(),
        column("self_ns", own_times(ranges)?),
        whole("self_kernels", &|range| own(range, range.work.kernels)),
        whole("self_kernel_ns", &|range| own(range, range.work.kernel_ns)),
        whole("self_copies", &|range| own(range, range.work.copies)),
        whole("self_copy_ns", &|range| own(range, range.work.copy_ns)),
    ])?)
}

/// `range_work`: the range in which each kernel and copy was launched.
fn work(forest: &RangeForest, tables: &Frames) -> Result<DataFrame> {
    let work = &forest.work;
    let launched = || work.launched.iter();
    let words = |words: &[&str]| words.iter().map(|word| Some((*word).to_owned())).collect::<Vec<_>>();
    let range_ids = || forest.range_of().map(|range| Some(range?.region_id));
    let launch = || {
        launched().zip(forest.range_of()).map(|(launched, range)| match (launched.call(), range) {
            (_, Some(_)) => Some(0),
            (Some(_), None) => Some(1),
            (None, None) => Some(2),
        })
    };
    let whole = |name: &str, value: &dyn Fn(&Launched) -> i64| Ok(column(name, launched().map(value).collect()));
    let is_copy = || launched().map(|row| Some(usize::from(row.is_copy)));
    let mut columns = WantedColumns::of(tables, WORK);
    columns.add("kind", |name| Ok(dictionary_column(name, &words(&["kernel", "copy"]), is_copy())?))?;
    columns.add("target_id", |name| whole(name, &|row| work.id(row)))?;
    columns.add("range_id", |name| Ok(integers(name, range_ids()).into_column()))?;
    columns.add("launch", |name| Ok(dictionary_column(name, &words(&["range", "outside", "unknown"]), launch())?))?;
    columns.add("gpu", |name| Ok(integers(name, launched().map(|row| work.gpu(row))).into_column()))?;
    columns.add("start_ns", |name| whole(name, &|row| row.start_ns))?;
    columns.add("end_ns", |name| whole(name, &|row| row.end_ns))?;
    columns.add("duration_ns", |name| whole(name, &|row| row.end_ns.saturating_sub(row.start_ns)))?;
    columns.into_frame()
}
