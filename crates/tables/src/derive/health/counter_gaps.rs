//! Counters that lack values for some dispatches of their pass.

use anyhow::Result;
use polars::prelude::*;

use wavesieve_model::schema::anomaly::{Anomaly, Severity};

/// Counts missing values: a dispatch lacks a counter that other dispatches of the same pass have.
pub fn check(counters: &DataFrame) -> Result<Option<Anomaly>> {
    if counters.height() == 0 {
        return Ok(None);
    }
    let rows = || counters.clone().lazy();
    let dispatches = |name: &str| col("dispatch_id").n_unique().cast(DataType::Int64).alias(name);
    let of_passes = rows().group_by([col("pass")]).agg([dispatches("all")]);
    let of_counters = rows().group_by([col("pass"), col("counter").cast(DataType::String)]).agg([dispatches("found")]);
    let gaps = of_counters
        .join(of_passes, [col("pass")], [col("pass")], JoinArgs::new(JoinType::Inner))
        .filter(col("found").lt(col("all")))
        .sort(["pass", "counter"], SortMultipleOptions::default())
        .collect()?;
    let (found, all) = (gaps.column("found")?.i64()?, gaps.column("all")?.i64()?);
    let missing: i64 = found.iter().zip(all.iter()).filter_map(|(found, all)| all?.checked_sub(found?)).sum();
    let counters = gaps.column("counter")?.str()?;
    let first = (counters.iter().next(), found.iter().next(), all.iter().next());
    let (Some(Some(counter)), Some(Some(found)), Some(Some(all))) = first else { return Ok(None) };
    let detail = format!(
        "dispatches lack counters that others of their pass have, such as {counter}, which {found} of {all} have; sums \
         and metrics use the available values"
    );
    let count = usize::try_from(missing).unwrap_or_default();
    Ok(Some(Anomaly::new("missing_counter", Severity::Warning, "counters", count, detail)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(rows: &[(i64, i64, &str)]) -> DataFrame {
        df!(
            "pass" => rows.iter().map(|row| row.0).collect::<Vec<_>>(),
            "dispatch_id" => rows.iter().map(|row| row.1).collect::<Vec<_>>(),
            "counter" => rows.iter().map(|row| row.2).collect::<Vec<_>>(),
        )
        .unwrap()
    }

    #[test]
    fn values_that_are_missing_are_counted() {
        let whole = [(0, 1, "A"), (0, 1, "B"), (0, 2, "A"), (0, 2, "B"), (1, 1, "C"), (1, 2, "C")];
        assert_eq!(check(&counters(&whole)).unwrap(), None);
        let torn = [(0, 1, "A"), (0, 1, "B"), (0, 2, "A"), (0, 3, "A"), (1, 1, "C")];
        let found = check(&counters(&torn)).unwrap().unwrap();
        assert_eq!(found.count, 2);
        assert!(found.detail.contains("such as B, which 1 of 3 have"), "{}", found.detail);
        assert_eq!(check(&counters(&[])).unwrap(), None);
    }
}
