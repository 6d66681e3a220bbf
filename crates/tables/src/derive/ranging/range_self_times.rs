//! The table `range_self_times`: every ROCTx range without its nested ranges.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::integers;
use crate::derive::ranging::range_forest::{Range, RangeForest, needs, own_times};
use crate::derive::ranging::range_tables;
use crate::derive::{Build, DerivedTable, Owner, RowsWhen, column};
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    owners: &[Owner { table: "ranges", keys: &[("range_id", "range_id")], word: None }],
    rows_when: RowsWhen::all(&["regions"]).if_found(),
    ..DerivedTable::new(&tables::ranging::RANGE_SELF_TIMES, needs, Build::Family(&range_tables::FAMILY))
};

/// The own time and work of every range, without its nested ranges.
pub fn table(RangeForest { ranges, .. }: &RangeForest) -> Result<DataFrame> {
    let whole = |name, value: &dyn Fn(&Range) -> i64| column(name, ranges.iter().map(value).collect());
    let parent = |range: &Range| Some(ranges.get(range.parent? as usize)?.region_id);
    // A process range overlaps ranges of threads, which already contain its work.
    let own = |range: &Range, value: i64| if range.of_process { 0 } else { value };
    Ok(DataFrame::new_infer_height(vec![
        whole("range_id", &|range| range.region_id),
        integers("parent_id", ranges.iter().map(parent)),
        column("self_ns", own_times(ranges)?),
        whole("self_kernels", &|range| own(range, range.work.kernels)),
        whole("self_kernel_ns", &|range| own(range, range.work.kernel_ns)),
        whole("self_copies", &|range| own(range, range.work.copies)),
        whole("self_copy_ns", &|range| own(range, range.work.copy_ns)),
    ])?)
}
