//! Metrics by range: on counters whose sums are worked out here, and compared with the metrics of kernels.

use serde_json::{Value, json};

use crate::common::records;
use crate::dialects::databases::schema_3;

const GEMMS: &str = include_str!("quality/gemms.sql");
const COUNTERS: &str = include_str!("quality/counters.sql");

/// Two products of different ranges, of one kernel on one GPU: 500 instructions of 10 wavefronts, and 600 of 30.
#[test]
fn each_range_has_the_counters_of_its_dispatches() {
    let built = schema_3("3.0.0", &[GEMMS, COUNTERS]);
    let sql = "SELECT CAST(path AS VARCHAR) AS path, gpu, numerator, denominator, dispatches FROM range_metric_sums \
        WHERE metric = 'chart.valu' AND per = 'wave' AND dispatches > 0 ORDER BY gpu, path NULLS FIRST";
    let rows = records(&["sql", sql, &built.path]);
    let last = |row: &Value| row["path"].as_str().and_then(|path| path.split(" --").next()).map(str::to_owned);
    let found: Vec<Value> = rows
        .iter()
        .map(|row| json!([last(row), row["gpu"], row["numerator"], row["denominator"], row["dispatches"]]))
        .collect();
    assert_eq!(
        found,
        [
            json!(["hipblaslt-bench", 0, 500.0, 10.0, 1]),
            json!(["hipblaslt-bench", 0, 600.0, 30.0, 1]),
            json!([null, 1, 40.0, 5.0, 1])
        ],
        "{rows:?}"
    );
    let shown = records(&["table", "range_metrics", &built.path, "--panel", "300"]);
    assert!(shown.iter().any(|row| row["value"] == 50.0) && shown.iter().any(|row| row["value"] == 20.0), "{shown:?}");
}

/// Added up over the ranges, a metric has the sums that it has over the kernels.
#[test]
fn ranges_add_up_to_the_kernels() {
    let built = schema_3("3.0.0", &[GEMMS, COUNTERS]);
    for input in [built.path.as_str(), "fixtures/counters", "fixtures/profile"] {
        let sums = |table: &str| {
            let sql = format!(
                "SELECT CAST(metric AS VARCHAR) AS metric, per_ordinal, gpu, SUM(numerator) AS n, SUM(denominator) AS d, SUM(dispatches) AS c \
                 FROM {table} GROUP BY metric, per_ordinal, gpu ORDER BY metric, per_ordinal, gpu"
            );
            records(&["sql", &sql, input])
        };
        let (ranges, kernels) = (sums("range_metric_sums"), sums("metric_sums"));
        assert!(!ranges.is_empty() && ranges.len() == kernels.len(), "{input}: {} {}", ranges.len(), kernels.len());
        for (range, kernel) in ranges.iter().zip(&kernels) {
            assert_eq!((&range["metric"], &range["c"]), (&kernel["metric"], &kernel["c"]), "{input}");
            for name in ["n", "d"] {
                let (one, two) = (range[name].as_f64().unwrap_or(0.0), kernel[name].as_f64().unwrap_or(0.0));
                assert!((one - two).abs() <= 1e-9 * two.abs(), "{input} {range} {kernel}");
            }
        }
    }
}
