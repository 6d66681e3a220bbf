//! Facts 28 to 44: what rules find at their bounds.

use serde_json::{Value, json};

use super::traces::{TO_DEVICE, TO_HOST, Trace, kernels, quarters, with_copies};
use super::{Bug, Fact, Naive, Ours, Same, check_all, fact, priority, recommended};
use crate::common::records;

const US: i64 = 1000;
const MS: i64 = 1_000_000;

pub const FACTS: &[Fact] = &[
    fact(28, Same, || {
        let copied = exposed_copies(25).document();
        let found = recommended(&copied, "Memory Transfer");
        assert_eq!((priority(&copied, "Memory Transfer"), found.len()), ("HIGH", 1));
        assert!(found[0]["issue"].as_str().unwrap().contains("25.0%"), "{}", found[0]["issue"]);
    }),
    fact(28, Ours("below the bound of high there are those of medium (10 %) and low (5 %)"), || {
        assert_eq!(priority(&exposed_copies(20).document(), "Memory Transfer"), "MEDIUM");
        assert_eq!(priority(&exposed_copies(5).document(), "Memory Transfer"), "-");
    }),
    fact(
        29,
        Bug("what kernels and copies leave is idle time, told by its cause; no API time is claimed without calls"),
        || {
            let unexplained = idle(20).document();
            assert_eq!(
                (priority(&unexplained, "GPU Utilization"), priority(&unexplained, "API Overhead")),
                ("MEDIUM", "-")
            );
            assert_eq!(priority(&idle(5).document(), "GPU Utilization"), "-");
        },
    ),
    fact(30, Same, || assert_eq!(priority(&hotspot(60).document(), "Kernel Hotspot"), "HIGH")),
    fact(30, Ours("below the bound of high there is one of medium, 25 %"), || {
        assert_eq!(priority(&hotspot(50).document(), "Kernel Hotspot"), "MEDIUM");
        assert_eq!(priority(&hotspot(25).document(), "Kernel Hotspot"), "-");
    }),
    fact(
        31,
        Naive("activity of the GPU tells nothing of what limits a kernel: without counters that do it is a hotspot"),
        || {
            for active in [950, 800, 500, 450] {
                let counters = vec![("GRBM_GUI_ACTIVE", active), ("GRBM_COUNT", 1000)];
                let counted = Trace { counters, ..hotspot(60) }.document();
                for category in ["Compute-Bound Kernel", "Mixed Bottleneck Kernel", "Memory-Bound Kernel"] {
                    assert_eq!(priority(&counted, category), "-", "{active}");
                }
            }
            let found = hotspot(60).document();
            assert_eq!(recommended(&found, "Kernel Hotspot")[0]["confidence"], json!(0.6));
        },
    ),
    fact(
        32,
        Naive("short kernels that follow one another cost nothing; only time that GPUs wait for launches counts"),
        || {
            let busy = short_kernels(2000, 5 * US, 5 * US).document();
            assert_eq!(busy["short_kernels"]["short_kernel_count"], json!(2000));
            let launching = ["Launch Overhead", "Launch Efficiency", "API Overhead"];
            assert!(launching.iter().all(|category| priority(&busy, category) == "-"));
            let waiting = short_kernels(2000, 5 * US, 20 * US).document();
            let told = launching.iter().chain(&["GPU Utilization"]).any(|category| priority(&waiting, category) != "-");
            assert!(told, "{}", waiting["recommendations"]);
        },
    ),
    fact(33, Same, || {
        let slow = with_copies(&quarters(0, 10 * MS), &[(TO_DEVICE, 4 * MS, 6 * MS, 10_000_000)]).document();
        assert_eq!(priority(&slow, "Memory Bandwidth"), "MEDIUM");
        assert!(recommended(&slow, "Memory Bandwidth")[0]["issue"].to_string().contains(" 5.0 GB/s"));
        for bytes in [100_000_000, 0] {
            let none = with_copies(&quarters(0, 10 * MS), &[(TO_DEVICE, 4 * MS, 6 * MS, bytes)]).document();
            assert_eq!(priority(&none, "Memory Bandwidth"), "-", "{bytes}");
        }
        let both = [(TO_DEVICE, 0, 2 * MS, 4_000_000), (TO_HOST, 4 * MS, 6 * MS, 6_000_000)];
        let both = with_copies(&quarters(0, 10 * MS), &both).document();
        let ids: Vec<&Value> = recommended(&both, "Memory Bandwidth").iter().map(|one| &one["id"]).collect();
        assert_eq!(ids, [&json!("ROCPD-MEMBW-001"), &json!("ROCPD-MEMBW-002")]);
    }),
    fact(34, Same, || {
        let nothing = kernels(&quarters(0, 100 * US)).document();
        let all = nothing["recommendations"].as_array().unwrap();
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!((&all[0]["category"], &all[0]["priority"]), (&json!("Performance"), &json!("INFO")));
        assert!(!all[0]["commands"].as_array().unwrap().is_empty());
        assert_eq!(priority(&exposed_copies(25).document(), "Performance"), "-");
    }),
    fact(35, Bug("both are told, the rest by its cause and not as time of the API"), || {
        let mut both = exposed_copies(30);
        both.kernels =
            [quarters(0, 40 * US), quarters(70 * US, 80 * US), vec![("end", 100 * US, 100 * US + 1)]].concat();
        both.copies = vec![(TO_DEVICE, 40 * US, 70 * US, 64 << 20)];
        let both = both.document();
        assert_eq!(priority(&both, "Memory Transfer"), "HIGH");
        assert_ne!(priority(&both, "GPU Utilization"), "-");
    }),
    fact(36, Bug("SQ_WAVES counts the wavefronts that were launched, which is no occupancy"), || {
        for waves in [8, 16, 0] {
            let counted =
                Trace { counters: vec![("SQ_WAVES", waves)], kernels: quarters(0, 100 * US), ..Trace::default() };
            assert_eq!(priority(&counted.document(), "Low Occupancy"), "-");
        }
    }),
    fact(37, Bug("counters make kernels run one after the other, so that utilization is taken from the trace"), || {
        for active in [500, 700] {
            let counters = vec![("GRBM_GUI_ACTIVE", active), ("GRBM_COUNT", 1000)];
            let counted = Trace { counters, kernels: quarters(0, 100 * US), ..Trace::default() }.document();
            assert_eq!(priority(&counted, "GPU Utilization"), "-");
            assert_eq!(counted["hardware_counters"]["metrics"]["gpu_utilization_pct"], json!(active as f64 / 10.0));
        }
    }),
    fact(38, Bug("start-up is the life of the process before its first GPU work, whatever the runtime"), || {
        let category = "Runtime Initialization";
        let short = started(450 * MS, 50 * MS).document();
        assert_eq!((priority(&short, category), priority(&short, "API Overhead")), ("INFO", "-"));
        assert_eq!(priority(&started(9000 * MS, 1000 * MS).document(), category), "INFO");
        assert_eq!(priority(&started(10 * MS, 50 * MS).document(), category), "-");
        assert_eq!(priority(&started(0, 0).document(), category), "-");
    }),
    fact(39, Ours("start-up is not part of the spans, and is told beside what costs time in them"), || {
        let copied = Trace { lead_ns: Some(900 * US), changed: Some(&ended), ..exposed_copies(30) }.document();
        assert_eq!(
            (priority(&copied, "Memory Transfer"), priority(&copied, "Runtime Initialization")),
            ("HIGH", "INFO")
        );
    }),
    fact(40, Same, || {
        let mut traced = kernels(&quarters(0, 10 * MS));
        traced.calls = vec![
            ("hipHostMalloc", 700, 0, 350 * MS),
            ("hipMemcpy", 701, 350 * MS, 430 * MS),
            ("hipLaunchKernel", 702, 430 * MS, 435 * MS),
        ];
        let traced = traced.written();
        let calls = records(&["table", "api_summary", &traced.path()]);
        let names: Vec<&str> = calls.iter().map(|row| row["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["hipHostMalloc", "hipMemcpy", "hipLaunchKernel"]);
        let total = calls.iter().filter_map(|row| row["total_ns"].as_i64()).sum::<i64>();
        assert_eq!(total, 435 * MS);
        let classes = records(&["table", "api_classes", &traced.path()]);
        let launch = classes.iter().find(|row| row["class"] == "launch").unwrap();
        assert_eq!(launch["total_ns"], json!(5 * MS));
    }),
    fact(
        41,
        Ours(
            "idle time is told by cause and what is outside of ranges beside it; nothing takes the place of the other",
        ),
        || {
            let mut scoped = kernels(&[("a", 0, 99 * US), ("b", 399 * US, 400 * US)]);
            scoped.ranges = vec![("measured", 0, 100 * US)];
            let scoped = scoped.document();
            assert_eq!(priority(&scoped, "GPU Utilization"), "HIGH");
            assert_eq!(priority(&scoped, "GPU Utilization (Scoped)"), "-");
        },
    ),
    fact(42, Same, || {
        let outside = in_ranges(1).document();
        assert_eq!(priority(&outside, "Profiling Scope"), "INFO");
        assert_eq!(recommended(&outside, "Profiling Scope")[0]["confidence"], json!(0.9));
        assert!(recommended(&outside, "Profiling Scope")[0]["issue"].to_string().contains("75.0%"));
        assert_eq!(priority(&in_ranges(3).document(), "Profiling Scope"), "-");
    }),
    fact(43, Same, || {
        let two = launched_in_and_after().written();
        let range = &records(&["table", "range_summary", &two.path()])[0];
        assert_eq!((&range["kernels"], &range["gpu_ns"]), (&json!(1), &json!(40)));
        let coverage = records(&["table", "range_coverage", &two.path()]);
        let outside = coverage.iter().find(|row| row["launch"] == "outside").unwrap();
        assert_eq!((&outside["kernels"], &outside["kernel_ns"]), (&json!(1), &json!(50)));
    }),
    fact(
        43,
        Ours(
            "a kernel belongs to the range it was launched in, and what is outside is told as a share of the GPU work",
        ),
        || {
            // The second runs while the range is open, and was launched before it.
            let mut other = launched_in_and_after();
            other.kernels = vec![("a", 110, 150), ("b", 150, 200)];
            other.calls = vec![("hipLaunchKernel", 101, 102, 104), ("hipLaunchKernel", 102, 90, 95)];
            let other = other.written();
            let coverage = records(&["table", "range_coverage", &other.path()]);
            let outside = coverage.iter().find(|row| row["launch"] == "outside").unwrap();
            assert_eq!((&outside["kernel_ns"], outside["pct"].as_f64().unwrap().round()), (&json!(50), 56.0));
        },
    ),
    fact(
        44,
        Naive("the first call is compared with the median of the later ones, not with a mean that contains it"),
        || {
            let slow = first_of(10, 5 * MS).document();
            assert!(recommended(&slow, "Warmup")[0]["issue"].to_string().contains("(5.0x)"), "{slow}");
            assert_eq!(priority(&first_of(10, MS).document(), "Warmup"), "-");
            assert_eq!(priority(&first_of(1, 5 * MS).document(), "Warmup"), "-");
        },
    ),
];

/// A run of 100 µs with so many percent of exposed copies; the rest computes.
fn exposed_copies(pct: i64) -> Trace<'static> {
    with_copies(&quarters(0, (100 - pct) * US), &[(TO_DEVICE, (100 - pct) * US, 100 * US, 64 << 20)])
}

/// A run of 100 µs with so many percent of idle time, without calls.
fn idle(pct: i64) -> Trace<'static> {
    let mut given = quarters(0, (99 - pct) * US);
    given.push(("end", 99 * US, 100 * US));
    kernels(&given)
}

/// A run of 100 µs in which a kernel takes so many percent.
fn hotspot(pct: i64) -> Trace<'static> {
    let mut given = vec![("hot", 0, pct * US)];
    given.extend(quarters(pct * US, 100 * US));
    kernels(&given)
}

/// So many kernels of a length, each so long after the one before.
fn short_kernels(count: i64, length_ns: i64, distance_ns: i64) -> Trace<'static> {
    let names = ["k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9"];
    let given = (0..count).map(|at| {
        let start = at * distance_ns;
        (names[(at % 10) as usize], start, start + length_ns)
    });
    Trace { kernels: given.collect(), ..Trace::default() }
}

/// The process ends when its last work does.
fn ended(process: &mut Value) {
    let records = &process["buffer_records"];
    let ends = ["kernel_dispatch", "memory_copy"]
        .iter()
        .flat_map(|kind| records[*kind].as_array().unwrap())
        .filter_map(|record| record["end_timestamp"].as_i64());
    let end = ends.max().unwrap_or_default();
    process["metadata"]["fini_time"] = json!(end + 10);
}

/// A process whose GPU computes for so long after its start-up.
fn started(lead_ns: i64, span_ns: i64) -> Trace<'static> {
    Trace { lead_ns: Some(lead_ns + 10), changed: Some(&ended), kernels: quarters(0, span_ns), ..Trace::default() }
}

/// Four equal kernels of which so many were launched in a range.
fn in_ranges(inside: i64) -> Trace<'static> {
    let mut traced = kernels(&quarters(1000 * US, 1400 * US));
    traced.calls = (0..4).map(|at| ("hipLaunchKernel", 101 + at, at * 100 * US, at * 100 * US + US)).collect();
    traced.ranges = vec![("measured", -US, inside * 100 * US - US)];
    traced.lead_ns = Some(MS);
    traced
}

/// A kernel that was launched in a range, and one after it.
fn launched_in_and_after() -> Trace<'static> {
    let mut traced = kernels(&[("a", 110, 150), ("b", 250, 300)]);
    traced.calls = vec![("hipLaunchKernel", 101, 102, 104), ("hipLaunchKernel", 102, 210, 214)];
    traced.ranges = vec![("measured", 100, 200)];
    traced
}

/// Calls of a kernel of which the first takes another time than a millisecond.
fn first_of(calls: i64, first_ns: i64) -> Trace<'static> {
    let later = (1..calls).map(|at| ("gemm", first_ns + (at - 1) * MS, first_ns + at * MS));
    Trace { kernels: std::iter::once(("gemm", 0, first_ns)).chain(later).collect(), ..Trace::default() }
}

#[test]
fn what_rules_find() {
    check_all(FACTS);
}
