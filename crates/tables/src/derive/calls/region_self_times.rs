//! The table `region_self_times`: the time of each call without the calls it made.

use anyhow::{Context, Result};
use itertools::izip;
use polars::prelude::*;
use rayon::prelude::*;

use crate::columns::frames::rows_named;
use crate::columns::values::{BoolValues, FrameValues, present_in};
use crate::derive::calls::call_times;
use crate::derive::{Build, DerivedTable, Frames, Needs, Owner, column, needed};
use wavesieve_model::analysis::numbering::lane_ids::IdInterner;
use wavesieve_model::analysis::ranges::self_time::{Call, self_times};
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    owners: &[Owner::REGION],
    is_of_cut_calls: true,
    ..DerivedTable::new(&tables::derived::REGION_SELF_TIMES, needs, Build::Family(&call_times::FAMILY))
};

/// Name of the operation that opens a ROCTx range of the whole process, which is not part of the call stack of a thread.
const PROCESS_RANGE: &str = "roctxProcessRangeA";

/// The source columns that it needs.
pub fn needs() -> Needs {
    vec![("regions", vec!["region_id", "name", "tid", "start_ns", "end_ns", "valid"])]
}

/// Subtracts from each call the time of the calls that it made.
pub fn build(tables: &Frames) -> Result<DataFrame> {
    let regions = needed(tables, "regions")?;
    let [ids, starts, ends, threads] = regions.integers(["region_id", "start_ns", "end_ns", "tid"])?;
    let process_ranges = rows_named(regions.column("name")?, |name| name == PROCESS_RANGE)?;
    let valid = regions.truths("valid")?.are_true();
    let is_counted = present_in(valid, [&ids, &starts, &ends]);
    let is_of_thread = &present_in(is_counted.clone(), [&threads]) & &!&BoolValues::new(&process_ranges).are_true();

    let mut numbers: IdInterner<i64> = IdInterner::default();
    let mut of_threads: Vec<ThreadCalls> = Vec::new();
    let mut own_ns: Vec<i64> = Vec::with_capacity(regions.height());
    let mut region_ids: Vec<i64> = Vec::with_capacity(regions.height());
    u32::try_from(regions.height()).context("more calls than rows can be counted")?;
    let times = starts.values().iter().zip(ends.values()).map(|(start, end)| Call { start_ns: *start, end_ns: *end });
    for (id, tid, call, is_counted, is_of_thread) in
        izip!(ids.values(), threads.values(), times, is_counted.iter(), is_of_thread.iter())
    {
        if is_of_thread {
            let number = numbers.intern(*tid) as usize;
            if number >= of_threads.len() {
                of_threads.resize_with(number + 1, ThreadCalls::default);
            }
            if let Some(thread) = of_threads.get_mut(number) {
                thread.places.push(own_ns.len() as u32);
                thread.calls.push(call);
            }
        }
        if is_counted {
            region_ids.push(*id);
            own_ns.push(call.end_ns.saturating_sub(call.start_ns));
        }
    }
    let of_thread = |thread: ThreadCalls| (thread.places, self_times(&thread.calls));
    let threads: Vec<(Vec<u32>, Vec<i64>)> = of_threads.into_par_iter().map(of_thread).collect();
    for (places, self_times) in threads {
        for (place, self_ns) in places.into_iter().zip(self_times) {
            if let Some(slot) = own_ns.get_mut(place as usize) {
                *slot = self_ns;
            }
        }
    }
    if !region_ids.is_sorted() {
        let mut rows: Vec<(i64, i64)> = region_ids.into_iter().zip(own_ns).collect();
        rows.par_sort_unstable();
        (region_ids, own_ns) = rows.into_iter().unzip();
    }
    Ok(DataFrame::new_infer_height(vec![column("region_id", region_ids), column("self_ns", own_ns)])?)
}

/// Some of the regions in the order of their ids, like the table.
///
/// # Errors
/// When they have no ids.
pub fn by_id(regions: &DataFrame, chosen: &BooleanChunked) -> Result<DataFrame> {
    let are_all = chosen.null_count() == 0 && chosen.all();
    let regions = if are_all { regions.clone() } else { regions.filter(chosen)? };
    if regions.integer("region_id")?.iter().is_sorted() {
        return Ok(regions);
    }
    Ok(regions.sort(["region_id"], SortMultipleOptions::default())?)
}

/// The self times of some regions, which are in the order of [`by_id`], from the self times of all valid regions.
pub fn of_calls(of_all: &DataFrame, calls: &DataFrame) -> Result<Column> {
    if of_all.height() == calls.height() {
        return Ok(of_all.column("self_ns")?.clone());
    }
    let [ids, self_ns] = of_all.integers(["region_id", "self_ns"])?;
    let mut all = ids.iter().zip(self_ns.iter());
    let wanted = calls.integer("region_id")?;
    let found: Vec<i64> = wanted
        .iter()
        .map(|wanted| all.find(|(id, _)| *id == wanted).and_then(|(_, self_ns)| self_ns).unwrap_or_default())
        .collect();
    Ok(column("self_ns", found))
}

/// The calls of one thread and where their rows are.
#[derive(Default)]
struct ThreadCalls {
    places: Vec<u32>,
    calls: Vec<Call>,
}
