//! Facts of rocinsight about rules, by the numbers of its tests: some are kept, some differ on purpose.

use super::tests::{Rows, found, span};
use wavesieve_model::analysis::counter_plan::CounterBlocks;

/// Whether a rule agrees with rocinsight.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Agreement {
    Same,
    /// It differs, for this reason.
    Different(&'static str),
}

use Agreement::{Different, Same};

/// Rows, and the conclusions of rocinsight and wavesieve from such numbers.
struct Fact {
    number: u32,
    rows: Vec<(&'static str, String)>,
    /// Rules with their priorities that rocinsight arrives at, by their names here.
    theirs: &'static str,
    /// Rules with their priorities here, without findings of priority info.
    ours: &'static str,
    agreement: Agreement,
}

fn copies(ns: i64) -> Vec<(&'static str, String)> {
    vec![
        ("time_breakdown", span(0, ns)),
        ("copy_summary", format!("direction copies total_bytes busy_ns\nH2D 2 4096 {ns}")),
    ]
}

fn idle(cause: &str, ns: i64) -> Vec<(&'static str, String)> {
    vec![
        ("time_breakdown", span(0, 0)),
        (
            "idle_by_cause",
            format!("rank gpu cause stretches idle_ns mean_ns max_ns idle_pct\n0 0 {cause} 3 {ns} 10.5 20 100.0"),
        ),
    ]
}

fn hotspot(pct: i64, bottleneck: Option<&str>) -> Vec<(&'static str, String)> {
    let (own, rest) = (pct * 10_000, 1_000_000 - pct * 10_000);
    // Four other kernels share the rest.
    let others: String =
        ["a", "b", "c", "d"].map(|name| format!("\n{name} other 10 {} 10.0 10.0 10 1.0", rest / 4)).concat();
    let mut rows = vec![
        ("time_breakdown", span(0, 0)),
        (
            "kernel_summary",
            format!(
                "kernel_name category calls total_ns mean_ns median_ns max_ns pct\ngemm gemm 10 {own} 10.0 10.0 10 {pct}.0{others}"
            ),
        ),
    ];
    let verdict = |id: &str| {
        format!(
            "rank gpu kernel_name time_ns dispatches bottleneck verdict state evidence missing\n0 0 gemm 900 1 {id} x yes x -"
        )
    };
    rows.extend(bottleneck.map(|id| ("bottlenecks", verdict(id))));
    rows
}

fn links(gb_per_s: f64) -> Vec<(&'static str, String)> {
    let bytes = (60_000.0 * gb_per_s) as i64;
    vec![
        ("time_breakdown", span(0, 0)),
        (
            "link_utilization",
            format!(
                "rank gpu direction copies total_bytes busy_ns gb_per_s peak_gb_per_s utilization_pct small_pct\n0 0 H2D 1 {bytes} 60000 {gb_per_s:.1} - - 0.0"
            ),
        ),
    ]
}

fn facts() -> Vec<Fact> {
    let fact = |number, rows, theirs, ours, agreement| Fact { number, rows, theirs, ours, agreement };
    vec![
        fact(28, copies(250_000), "exposed_copy high", "exposed_copy high", Same),
        fact(28, copies(200_000), "", "exposed_copy medium", Different("bounds for less than high besides")),
        fact(
            29,
            idle("tail", 200_000),
            "api_overhead medium",
            "",
            Different("what is no kernel and no copy is no API time: causes are told"),
        ),
        fact(
            29,
            idle("sync", 200_000),
            "api_overhead medium",
            "sync_idle medium",
            Different("the same time, with its cause"),
        ),
        fact(30, hotspot(60, None), "dominant_kernel high", "dominant_kernel high", Same),
        fact(30, hotspot(50, None), "", "dominant_kernel medium", Different("bounds for less than high besides")),
        fact(30, hotspot(25, None), "", "", Same),
        fact(31, hotspot(60, Some("vector_compute")), "compute_bound high", "kernel_vector_compute high", Same),
        fact(
            31,
            hotspot(60, Some("latency")),
            "memory_bound high",
            "kernel_latency high",
            Different("a GPU that is not active is not memory bound"),
        ),
        fact(33, links(5.0), "slow_copies medium", "slow_copies medium", Same),
        fact(33, links(50.0), "", "", Same),
        fact(33, links(0.0), "", "", Same),
        fact(34, vec![("time_breakdown", span(0, 0))], "", "", Same),
        fact(
            37,
            idle("sync", 500_000),
            "utilization medium",
            "sync_idle high",
            Different("counters serialise dispatches, so that utilization is of the trace"),
        ),
        fact(
            41,
            idle("sync", 750_000),
            "",
            "sync_idle high",
            Different("idle time is told by cause, and what is outside of ranges beside it"),
        ),
    ]
}

#[test]
fn rules_keep_the_facts_or_differ_on_purpose() {
    for fact in facts() {
        let rows: Vec<Rows<'_>> = fact.rows.iter().map(|(query, text)| (*query, text.as_str())).collect();
        let told: Vec<String> = found(&rows)
            .iter()
            .filter(|one| one.priority.word() != "info")
            .map(|one| format!("{} {}", one.rule, one.priority.word()))
            .collect();
        let told = told.join(", ");
        assert_eq!(told, fact.ours, "fact {}", fact.number);
        match fact.agreement {
            Same if !fact.theirs.starts_with("compute_bound") => assert_eq!(told, fact.theirs, "fact {}", fact.number),
            Same => assert!(!told.is_empty()),
            Different(reason) => assert!(told != fact.theirs && !reason.is_empty(), "fact {}", fact.number),
        }
    }
}

/// 34: if nothing is found, there is exactly one finding, with commands. 42: more than half outside of ranges. 44: first calls.
#[test]
fn what_is_good_to_know_is_told_as_such() {
    let first = |rows: &[Rows<'_>]| {
        let findings = found(rows);
        (findings[0].id.clone(), findings[0].priority.word(), findings[0].confidence)
    };
    let time = span(0, 0);
    let nothing = found(&[("time_breakdown", &time)]);
    assert_eq!((nothing.len(), nothing[0].priority.word(), nothing[0].confidence), (1, "info", 0.5));
    assert!(!nothing[0].commands.is_empty());
    let outside = |pct: &str| {
        format!(
            "launch kernels kernel_ns copies copy_ns gpu_ns pct\noutside 5 100 0 0 100 {pct}\nrange 5 100 0 0 100 25.0"
        )
    };
    let (known, rest) = (outside("75.0"), outside("25.0"));
    assert!(
        found(&[("time_breakdown", &time), ("range_coverage", &known)])
            .iter()
            .any(|one| one.id == "work_outside_ranges" && one.confidence == 0.9)
    );
    assert_eq!(first(&[("time_breakdown", &time), ("range_coverage", &rest)]).0, "nothing_stands_out");
    let warm = "rank gpu kernel_name calls first_ns rest_median_ns ratio excess_ns slow_first_calls verdict\n0 0 gemm 10 50000 10000 5.0 40000 1 slow";
    let findings = found(&[("time_breakdown", &time), ("kernel_warmup", warm)]);
    let warm = findings.iter().find(|one| one.id == "slow_first_calls").unwrap();
    assert!(warm.title.contains("(5.0x)") && warm.confidence == 0.8, "{}", warm.title);
}

/// 52: blocks count as many counters as the hardware has room for, which is 8 for SQ and 2 for GRBM; 53: ids are those of rules.
#[test]
fn limits_are_those_of_the_hardware() {
    let blocks = CounterBlocks::builtin().for_architecture("gfx942", &std::collections::BTreeMap::new()).unwrap();
    assert_eq!((blocks.limits["SQ"], blocks.limits["GRBM"], blocks.limits["TA"]), (8, 2, 2));
    let rows = copies(250_000);
    let rows: Vec<Rows<'_>> = rows.iter().map(|(query, text)| (*query, text.as_str())).collect();
    assert_eq!(found(&rows)[0].id, "exposed_copy");
}
