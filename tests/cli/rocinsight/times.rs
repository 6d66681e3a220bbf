//! Facts 1 to 12: how a run spent its time, and its kernels.

use serde_json::json;

use super::traces::{TO_DEVICE, Trace, kernels, with_copies};
use super::{Bug, Fact, Ours, Same, check, check_all, document, fact};
use crate::common::run;

pub const FACTS: &[Fact] = &[
    fact(1, Same, || {
        let side_by_side = with_copies(&[("k", 0, 1000)], &[(TO_DEVICE, 1000, 2000, 8)]).document();
        check(
            &side_by_side,
            &[
                ("/execution_breakdown/total_runtime_ns", json!(2000)),
                ("/execution_breakdown/kernel_time_pct", json!(50.0)),
                ("/execution_breakdown/memcpy_time_pct", json!(50.0)),
                ("/execution_breakdown/api_overhead_pct", json!(0.0)),
            ],
        );
    }),
    fact(2, Same, || {
        let over = with_copies(&[("k", 100, 900)], &[(TO_DEVICE, 0, 1000, 8)]).document();
        check(
            &over,
            &[
                ("/execution_breakdown/kernel_time_pct", json!(80.0)),
                ("/execution_breakdown/memcpy_time_pct", json!(100.0)),
                ("/execution_breakdown/api_overhead_ns", json!(0)),
            ],
        );
    }),
    fact(3, Same, || {
        check(
            &kernels(&[("k", 0, 2000)]).document(),
            &[
                ("/execution_breakdown/total_runtime_ns", json!(2000)),
                ("/execution_breakdown/kernel_time_pct", json!(100.0)),
            ],
        );
    }),
    fact(4, Same, || {
        check(
            &nothing(),
            &[
                ("/execution_breakdown/total_runtime_ns", json!(0)),
                ("/execution_breakdown/kernel_time_pct", json!(0.0)),
                ("/execution_breakdown/api_overhead_pct", json!(0.0)),
                ("/interval_timeline/total_wall_ns", json!(0)),
            ],
        );
    }),
    fact(5, Bug("overhead and idle time are one rest: the timeline tells idle time, findings its causes"), || {
        let two = [("k", 0, 600_000_000), ("k", 999_999_999, 1_000_000_000)];
        let rest = with_copies(&two, &[(TO_DEVICE, 600_000_000, 800_000_000, 8)]).document();
        check(
            &rest,
            &[
                ("/execution_breakdown/api_overhead_ns", json!(199_999_999)),
                ("/execution_breakdown/idle_time_ns", json!(0)),
                ("/interval_timeline/idle_ns", json!(199_999_999)),
            ],
        );
    }),
    fact(6, Same, || {
        let over = with_copies(&[("k", 0, 80_000_000)], &[(TO_DEVICE, 70_000_000, 100_000_000, 8)]).document();
        check(
            &over,
            &[("/execution_breakdown/idle_time_ns", json!(0)), ("/execution_breakdown/api_overhead_ns", json!(0))],
        );
    }),
    fact(7, Same, || {
        let fast = with_copies(&[], &[(TO_DEVICE, 0, 1000, 50_000)]).document();
        check(&fast, &[("/memory_analysis/Host-to-Device/bandwidth_gbps", json!(50.0))]);
    }),
    fact(
        8,
        Ours("the version is the oldest that has a place for all, 0.3.0 of any trace; older ones can be asked for"),
        || {
            let trace = kernels(&[("k", 0, 10)]).written();
            let written = document(&[&trace.path()]);
            check(&written, &[("/schema_version", json!("0.3.0")), ("/metadata/analysis_version", json!("0.3.0"))]);
            let old = ["analyze", "-q", "--json-compat", "rocinsight-0.1.0", &trace.path()];
            let old: serde_json::Value = serde_json::from_str(&crate::common::succeed(&old)).unwrap();
            check(&old, &[("/schema_version", json!("0.1.0")), ("/metadata/analysis_version", json!("0.1.0"))]);
        },
    ),
    fact(8, Same, || {
        let traced = document(&["fixtures/thread_trace"]);
        check(&traced, &[("/schema_version", json!("0.4.0")), ("/profiling_info/analysis_tier", json!(3))]);
        let source = document(&["--source-dir", "fixtures/source"]);
        check(
            &source,
            &[
                ("/schema_version", json!("0.2.0")),
                ("/profiling_info/analysis_tier", json!(0)),
                ("/profiling_info/profiling_mode", json!("source_only")),
                ("/execution_breakdown", json!(null)),
                ("/summary/primary_bottleneck", json!("unknown")),
                ("/summary/confidence", json!(0.0)),
                ("/summary/key_findings", source["tier0"]["risk_areas"].clone()),
            ],
        );
        let counted = Trace { counters: vec![("SQ_WAVES", 8)], ..Trace::default() }.document();
        check(
            &counted,
            &[
                ("/profiling_info/analysis_tier", json!(2)),
                ("/profiling_info/profiling_mode", json!("sys_trace_with_counters")),
            ],
        );
    }),
    fact(9, Same, || {
        let ms = 1_000_000;
        let mut given = Vec::new();
        for (name, each, from) in [("first", 80, 0), ("second", 70, 400), ("third", 50, 750)] {
            given.extend((0..5).map(|at| (name, (from + at * each) * ms, (from + (at + 1) * each) * ms)));
        }
        let three = kernels(&given).document();
        let ranks: Vec<i64> = (0..3).filter_map(|at| three["hotspots"][at]["rank"].as_i64()).collect();
        assert_eq!(ranks, [1, 2, 3]);
        check(
            &three,
            &[
                ("/hotspots/0/name", json!("first")),
                ("/hotspots/0/total_duration_ns", json!(400_000_000)),
                ("/hotspots/0/avg_duration_ns", json!(80_000_000.0)),
                ("/hotspots/0/pct_of_total", json!(40.0)),
            ],
        );
    }),
    fact(10, Ours("an unknown format is an error that names those there are"), || {
        let unknown = run(&["analyze", "fixtures/two_nodes", "--format", "xml"]);
        assert!(unknown.code == 2 && unknown.stderr.contains("markdown"), "{}", unknown.stderr);
    }),
    fact(11, Same, || {
        let three = kernels(&[("slow", 0, 5000), ("medium", 5000, 5500), ("fast", 5500, 5600)]).written();
        let two = document(&[&three.path(), "--top-kernels", "2"]);
        check(
            &two,
            &[
                ("/hotspots/0/name", json!("slow")),
                ("/hotspots/0/pct_of_total", json!(89.29)),
                ("/hotspots/1/name", json!("medium")),
                ("/hotspots/1/pct_of_total", json!(8.93)),
            ],
        );
        assert_eq!(two["hotspots"].as_array().unwrap().len(), 2);
    }),
    fact(12, Same, || check(&kernels(&[("k", 0, 7)]).document(), &[("/hotspots/0/pct_of_total", json!(100.0))])),
];

/// The document of a trace in which no GPU did anything.
fn nothing() -> serde_json::Value {
    let written = Trace::default().written();
    let done = run(&["analyze", "-q", "--json-compat", "rocinsight", &written.path()]);
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", done.code, done.stderr))
}

#[test]
fn times_and_kernels() {
    check_all(FACTS);
}
