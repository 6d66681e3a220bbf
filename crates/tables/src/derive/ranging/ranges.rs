//! The table `ranges`: every ROCTx range with the work launched in it.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{dictionary_column, integers, text_column_from_dictionary};
use crate::derive::ranging::range_forest::{Range, RangeForest, needs};
use crate::derive::ranging::range_tables;
use crate::derive::{Build, DerivedTable, Rows, RowsWhen, WhyEmpty, column};
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows: Rows::Events,
    rows_when: RowsWhen::all(&["regions"]).if_found(),
    why_empty: WhyEmpty::Because("no ROCTx range was recorded; `rocprofv3 --marker-trace` records them"),
    ..DerivedTable::new(&tables::ranging::RANGES, needs, Build::Family(&range_tables::FAMILY))
};

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
