//! The table `api_calls`: the class of every call, and the GPU time during it.

use anyhow::Result;
use polars::prelude::*;
use rayon::prelude::*;

use crate::columns::frames::{dictionary_column, values_by_text};
use crate::columns::values::FrameValues;
use crate::derive::calls::{call_times, region_self_times};
use crate::derive::gpu_work::gpu_activities;
use crate::derive::gpu_work::gpu_segments;
use crate::derive::launching::launching_calls::no_calls_of;
use crate::derive::{Build, DerivedTable, Frames, Needs, Owner, RowsWhen, column, needed};
use wavesieve_model::analysis::api_classes::ApiClasses;
use wavesieve_model::analysis::intervals::coverage::{Coverage, Walk};
use wavesieve_model::analysis::intervals::{Interval, union};
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    owners: &[Owner::REGION],
    is_of_cut_calls: true,
    rows_when: RowsWhen::all(&["regions"]).if_found(),
    ..DerivedTable::new(&tables::launching::API_CALLS, needs, Build::Family(&call_times::FAMILY))
};

/// The source columns that it needs.
pub fn needs() -> Needs {
    let mut needs = gpu_segments::needs();
    for (table, mut columns) in region_self_times::needs() {
        columns.push("domain");
        needs.push((table, columns));
    }
    needs
}

/// Columns of `regions` that it uses.
const OF_CALL: [&str; 7] = ["region_id", "domain", "name", "tid", "start_ns", "end_ns", "valid"];

/// Classifies every valid call, and measures how much of it was covered by kernels and copies on any GPU of the process.
pub fn build(tables: &Frames, self_times: &DataFrame) -> Result<DataFrame> {
    let regions = needed(tables, "regions")?.select(OF_CALL)?;
    let calls = region_self_times::by_id(&regions, &(regions.column("valid")?.bool()? & &!no_calls_of(tables)?))?;

    let activities = gpu_activities::of_tables(needed(tables, "kernels")?, needed(tables, "memory_copies")?)?;
    let busy = activities.into_iter().map(|activity| Interval::new(activity.start_ns, activity.end_ns));
    let busy = Coverage::of_merged(union(busy));
    let [starts, ends] = calls.integers(["start_ns", "end_ns"])?;
    let times = |row: usize| [&starts, &ends].map(|times| times.get(row).unwrap_or_default());
    let busy_of = |busy: &mut Walk<'_>, row: usize| {
        let [start_ns, end_ns] = times(row);
        busy.between_ns(start_ns, end_ns)
    };
    let busy_ns: Vec<i64> = (0..calls.height()).into_par_iter().map_init(|| busy.walk(), busy_of).collect();
    let call_ns = (0..calls.height()).map(times).map(|[start_ns, end_ns]| end_ns.saturating_sub(start_ns));
    let call_ns: Vec<i64> = call_ns.collect();
    let idle_ns = call_ns.iter().zip(&busy_ns).map(|(call_ns, busy_ns)| call_ns.saturating_sub(*busy_ns)).collect();

    let classes = ApiClasses::builtin();
    let class_of = values_by_text(calls.column("name")?, |name| classes.class(name))?;
    let class = class_of.iter().map(|class| class.map(usize::from));
    let waits = class_of.iter().map(|class| class.is_some_and(|class| classes.waits(class)));
    Ok(DataFrame::new_infer_height(vec![
        calls.column("region_id")?.clone(),
        calls.column("domain")?.clone(),
        dictionary_column("class", &classes.names().into_iter().map(Some).collect::<Vec<_>>(), class)?,
        calls.column("name")?.clone(),
        calls.column("tid")?.clone(),
        BooleanChunked::from_iter_values("waits".into(), waits).into_column(),
        column("call_ns", call_ns),
        region_self_times::of_calls(self_times, &calls)?,
        column("gpu_busy_ns", busy_ns),
        column("gpu_idle_ns", idle_ns),
    ])?)
}
