//! Counters of blocks that did not count.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use wavesieve_model::analysis::hardware::implausible::dead_counters;
use wavesieve_model::schema::anomaly::{Anomaly, Severity};

/// Id of the check that finds them.
pub const DEAD_COUNTERS: &str = "dead_counters";

/// Finds counters that are 0 in every dispatch although other counters of their block show activity.
pub fn check(counters: &DataFrame) -> Result<Option<Anomaly>> {
    if counters.height() == 0 {
        return Ok(None);
    }
    let each = zeros(counters)?;
    let dead: Vec<&str> = dead_counters(&zeros_by_name(&each)?).into_iter().collect();
    let Some(first) = dead.first() else { return Ok(None) };
    let detail = format!(
        "counters are 0 in every dispatch, though waves ran: their block did not count, and metrics take them as not collected: {}",
        dead.join(", ")
    );
    Ok(Some(Anomaly::new(DEAD_COUNTERS, Severity::Warning, "counters", dead.len(), detail).first(Some(first))))
}

/// Whether each counter is 0 in every dispatch.
pub(super) fn zeros(counters: &DataFrame) -> PolarsResult<DataFrame> {
    let is_zero = (col("value").min().eq(lit(0.0))).and(col("value").max().eq(lit(0.0))).alias("zero");
    counters.clone().lazy().group_by([col("counter").cast(DataType::String)]).agg([is_zero]).collect()
}

/// The same, by the names of the counters.
pub(super) fn zeros_by_name(zeros: &DataFrame) -> PolarsResult<BTreeMap<&str, bool>> {
    let each = zeros.column("counter")?.str()?.iter().zip(zeros.column("zero")?.bool()?.iter());
    Ok(each.filter_map(|(name, zero)| Some((name?, zero?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_counters_of_dead_blocks_are_named() {
        let frame = |waves: f64, cycles: f64| {
            df!(
                "counter" => ["SQ_WAVES", "SQ_WAVES", "SQ_WAVE_CYCLES", "SQ_WAVE_CYCLES", "SQ_INSTS_LDS", "TCC_MISS_sum"],
                "value" => [waves, waves, 0.0, cycles, 0.0, 0.0],
            )
            .unwrap()
        };
        let found = check(&frame(64.0, 0.0)).unwrap().unwrap();
        assert_eq!((found.count, found.first_key.as_deref()), (2, Some("SQ_INSTS_LDS")));
        assert!(found.detail.ends_with(": SQ_INSTS_LDS, SQ_WAVE_CYCLES"), "{}", found.detail);
        // In one of the dispatches it counted.
        assert_eq!(check(&frame(64.0, 5.0)).unwrap(), None);
    }
}
