//! Ranges and iterations.

use super::*;

#[test]
fn ranges_and_iterations() {
    let outside = |pct: f64, ranges: bool| {
        let range = if ranges { "\nrange 5 100 0 0 100 1.0" } else { "" };
        let text = format!("launch kernels kernel_ns copies copy_ns gpu_ns pct\noutside 5 100 0 0 100 {pct:.1}{range}");
        priority_of("work_outside_ranges", &[SPAN, ("range_coverage", &text)])
    };
    assert_eq!((outside(50.0, true), outside(50.1, true), outside(100.0, false)), ("-", "info", "-"));
    let iterations = |rule: &str, steady: i64, steady_ns: i64, warmup_ns: i64| {
        let text = format!(
            "rank period iterations warmup steady steady_ns warmup_ns median_ns longer_ns mean_ns min_ns max_ns kernel_pct\n\
             0 7 60 2 {steady} {steady_ns} {warmup_ns} 1000.0 {:.1} 1000.0 900 9000 50.0",
            (steady_ns - steady * 1000) as f64
        );
        priority_of(rule, &[SPAN, ("iteration_summary", &text)])
    };
    assert_eq!(iterations("uneven_iterations", 19, 20_000, 0), "-");
    assert_eq!(iterations("uneven_iterations", 19, 20_100, 0), "low");
    assert_eq!(iterations("uneven_iterations", 10, 12_000, 0), "medium");
    assert_eq!(iterations("uneven_iterations", 9, 12_000, 0), "-", "too few");
    let warm = [52_000, 52_001, 252_001].map(|ns| iterations("slow_first_iterations", 19, 19_000, ns));
    assert_eq!(warm, ["-", "info", "medium"]);
    let drift = |[host_pct, gpu_pct]: [f64; 2], errors: f64, iterations: i64| {
        let text = format!(
            "rank path iterations total_ns first_ns median_ns trend_ns drift_pct drift_errors gpu_ns gpu_iterations gpu_span_ns gpu_drift_pct slower_pct \
             waiting_pct more_work_pct gpu_drift_errors\n\
             0 step {iterations} 200000 10 20000.0 0.5 {host_pct:.1} {errors:.1} 5.0 {iterations} 20000.0 {gpu_pct:.1} {gpu_pct:.1} 0.0 0.0 {errors:.1}"
        );
        priority_of("range_drift", &[SPAN, ("range_pace", &text)])
    };
    let on_gpu = [5.0, 5.1, 25.1].map(|pct| drift([0.0, pct], 5.0, 10));
    assert_eq!(on_gpu, ["-", "low", "medium"]);
    assert_eq!((drift([5.1, 0.0], 5.0, 10), drift([30.0, 5.1], 5.0, 10)), ("low", "low"), "the GPU comes first");
    assert_eq!((drift([0.0, 25.1], 4.9, 10), drift([0.0, 25.1], 5.0, 9)), ("-", "-"));
}
