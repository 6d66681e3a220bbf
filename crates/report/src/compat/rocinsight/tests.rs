//! Facts about times that documents of rocinsight have.

use serde_json::json;

use super::measures::Times;

fn times(runtime_ns: i64, kernels_ns: i64, copies_ns: i64) -> Times {
    Times { runtime_ns, kernels_ns, copies_ns, ..Times::default() }
}

#[test]
fn the_breakdown_keeps_to_the_schema() {
    let breakdown = times(2000, 1000, 1000).breakdown();
    assert_eq!(breakdown["kernel_time_pct"], json!(50.0));
    assert_eq!(breakdown["memcpy_time_pct"], json!(50.0));
    assert_eq!(breakdown["api_overhead_ns"], json!(0));
    // Overlapping sums exceed the runtime; no share exceeds 100.
    let overlapping = times(1000, 800, 1000).breakdown();
    assert_eq!(overlapping["kernel_time_pct"], json!(80.0));
    assert_eq!(overlapping["memcpy_time_pct"], json!(100.0));
    assert_eq!(overlapping["api_overhead_pct"], json!(0.0));
    assert_eq!(times(1000, 5000, 0).breakdown()["kernel_time_pct"], json!(100.0));
    let empty = times(0, 0, 0).breakdown();
    assert_eq!(empty["kernel_time_pct"], json!(0.0));
}
