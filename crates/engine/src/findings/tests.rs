//! Rules on answers made by hand: values at a bound and just above it.

mod columns;
mod idle;
mod repetitions;
mod trace;

use std::collections::{BTreeMap, BTreeSet};

use polars::prelude::{Column, DataFrame};

use super::answers::Answers;
use super::collected::Collected;
use super::finding::Finding;
use super::judge::{judge, questions};
use super::priority::Priority;
use super::query_request::QueryRequest;
use super::recommendations::is_recommendation;
use super::rule_book::RuleBook;
use super::rules::RULES;
use super::run_views::{RunViews, STEADY_VIEW};
use super::verdict::{SUMMARY, verdict};
use crate::{Answer, NameForm, Registry};
pub use columns::check_column;

/// A query and its answer: names of columns, then rows; `-` is null, and `~` a blank in a text.
pub type Rows<'a> = (&'a str, &'a str);

/// The answer to the question that rules ask of a query; of several the one that is grouped by columns of the answer.
fn answer(query: &str, text: &str, registry: &Registry) -> (QueryRequest, Answer) {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let names: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    let is_grouped =
        |question: &&QueryRequest| question.by.iter().flatten().all(|column| names.contains(&column.as_str()));
    let asked: Vec<QueryRequest> = questions().into_iter().filter(|question| question.query == query).collect();
    let question = asked.iter().find(is_grouped).or(asked.first()).cloned();
    let question = question.unwrap_or_else(|| panic!("no rule asks {query}"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split_whitespace().collect()).collect();
    let declaration = &registry.get(query).unwrap().declaration;
    let declared = &declaration.columns;
    let columns: Vec<Column> = names
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let known = declared.iter().any(|column| column.name == *name)
                || declaration.dimensions.iter().any(|known| known == name);
            assert!(known, "{query} has no column {name}");
            let texts: Vec<Option<&str>> = rows.iter().map(|row| (row[at] != "-").then_some(row[at])).collect();
            let known = || texts.iter().flatten();
            if known().all(|text| text.parse::<i64>().is_ok()) {
                let values: Vec<Option<i64>> =
                    texts.iter().map(|text| text.map(|text| text.parse().unwrap())).collect();
                Column::new((*name).into(), values)
            } else if known().all(|text| text.parse::<f64>().is_ok()) {
                let values: Vec<Option<f64>> =
                    texts.iter().map(|text| text.map(|text| text.parse().unwrap())).collect();
                Column::new((*name).into(), values)
            } else {
                let values: Vec<Option<String>> =
                    texts.iter().map(|text| text.map(|text| text.replace('~', " "))).collect();
                Column::new((*name).into(), values)
            }
        })
        .collect();
    let frame = DataFrame::new(rows.len(), columns).unwrap();
    let columns =
        names.iter().filter_map(|name| declared.iter().find(|column| column.name == *name).cloned()).collect();
    (question, Answer { frame, columns, is_readable: false })
}

fn collected() -> Collected {
    Collected {
        kinds: BTreeSet::new(),
        counters: BTreeSet::new(),
        counted_kernels: BTreeSet::new(),
        traced_kernels: BTreeSet::new(),
        architectures: BTreeSet::from(["gfx942".to_owned()]),
        program: vec!["./app".to_owned()],
        commands: BTreeSet::new(),
        name: NameForm::Full,
        visible_gpus: None,
        serialized_ranks: BTreeSet::new(),
        rocm: None,
        ..Collected::default()
    }
}

fn found_with(rows: &[Rows<'_>], collected: &Collected) -> Vec<Finding> {
    let registry = Registry::builtin().unwrap();
    let given: BTreeMap<QueryRequest, Answer> =
        rows.iter().map(|(query, text)| answer(query, text, &registry)).collect();
    let answers = Answers::by_hand(given, BTreeSet::new());
    let book = RuleBook::builtin().unwrap();
    let views = RunViews::new(&answers, &book);
    judge(&answers, &registry, &book, collected, &views).unwrap()
}

pub fn found(rows: &[Rows<'_>]) -> Vec<Finding> {
    found_with(rows, &collected())
}

/// The priority of the finding of a rule, `-` for none.
fn priority_of(rule: &str, rows: &[Rows<'_>]) -> &'static str {
    found(rows).iter().find(|finding| finding.rule == rule).map_or("-", |finding| finding.priority.word())
}

/// A span of 1,000,000 ns on a GPU that shows nothing unusual.
const SPAN: Rows<'static> = (
    "time_breakdown",
    "rank gpu span_ns busy_ns idle_ns compute_ns comm_ns copy_ns exposed_comm_ns exposed_copy_ns lead_ns tail_ns busy_pct idle_pct
     0 0 1000000 1000000 0 1000000 0 0 0 0 0 0 100.0 0.0",
);

/// The same with this much exposed communication and copying.
pub fn span(comm_ns: i64, copy_ns: i64) -> String {
    format!(
        "rank gpu span_ns busy_ns idle_ns compute_ns comm_ns copy_ns exposed_comm_ns exposed_copy_ns lead_ns tail_ns busy_pct idle_pct
         0 0 1000000 1000000 0 {} {comm_ns} {copy_ns} {comm_ns} {copy_ns} 0 0 100.0 0.0",
        1_000_000 - comm_ns - copy_ns
    )
}

/// Every rule has a text and every text a rule, all names of commands exist, and every rule asks existing queries.
#[test]
fn the_rule_book_is_complete() {
    let book = RuleBook::builtin().unwrap();
    let registry = Registry::builtin().unwrap();
    let mut ids: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), RULES.len(), "ids are unique");
    ids.extend([super::rules::NOTHING, super::rule_context::SAVING, SUMMARY, STEADY_VIEW]);
    assert_eq!(ids, book.iter().map(|(id, _)| id).collect());
    for (id, rule) in book.iter() {
        assert!((0.0..=1.0).contains(&rule.confidence), "{id}");
        assert!(rule.commands.iter().all(|name| is_recommendation(name)), "{id}: {:?}", rule.commands);
        assert!(
            rule.thresholds.is_empty() || !rule.source.is_empty(),
            "{id} does not say where its thresholds are from"
        );
        let levels = ["high_pct", "medium_pct", "low_pct", "info_pct"].map(|name| rule.thresholds.get(name).copied());
        assert!(levels.iter().flatten().is_sorted_by(|one, next| one > next), "{id}: {levels:?}");
    }
    for question in questions() {
        let query = registry.get(&question.query).unwrap();
        for by in question.by.iter().flatten() {
            assert!(query.declaration.dimensions.contains(by), "{}: {by}", question.query);
        }
    }
}

/// Idle time by cause in a span of 1,000,000 ns: bounds are exceeded, not reached.
#[test]
fn idle_time_is_judged_by_cause() {
    let of = |rule: &str, cause: &str, idle_ns: i64| {
        let text =
            format!("rank gpu cause stretches idle_ns mean_ns max_ns idle_pct\n0 0 {cause} 3 {idle_ns} 10.5 20 100.0");
        let findings = found(&[SPAN, ("idle_by_cause", &text)]);
        let own: Vec<&str> = findings.iter().filter(|one| one.rule == rule).map(|one| one.priority.word()).collect();
        assert!(own.len() <= 1 && findings.iter().all(|one| one.rule == rule || one.rule == "nothing_stands_out"));
        own.first().copied().unwrap_or("-")
    };
    for (rule, cause) in
        [("host_bound_idle", "host_bound"), ("launch_delay_idle", "launch_delay"), ("sync_idle", "sync")]
    {
        let priorities = [50_000, 50_001, 100_000, 100_001, 250_000, 250_001].map(|ns| of(rule, cause, ns));
        assert_eq!(priorities, ["-", "low", "low", "medium", "medium", "high"], "{rule}");
        assert_eq!(of(rule, "tail", 900_000), "-");
    }
    let priorities = [50_000, 50_001, 200_000, 200_001].map(|ns| of("unexplained_idle", "no_record", ns));
    assert_eq!(priorities, ["-", "low", "medium", "high"]);
}

/// Savings are wall-clock time of a GPU: the mean where all lose time, that of the worst where single ones do. Less than two
/// launches is none, and so is the whole time of a kernel.
#[test]
fn savings_are_wall_clock_of_a_gpu() {
    let gpu = |rank: i64, exposed_ns: i64| {
        format!("\n{rank} 0 1000000 1000000 0 {} {exposed_ns} 0 {exposed_ns} 0 0 0 100.0 0.0", 1_000_000 - exposed_ns)
    };
    let head = "rank gpu span_ns busy_ns idle_ns compute_ns comm_ns copy_ns exposed_comm_ns exposed_copy_ns lead_ns tail_ns busy_pct idle_pct";
    let spans = |exposed_ns: [i64; 4]| {
        format!("{head}{}", [0, 1, 2, 3].map(|rank| gpu(rank, exposed_ns[rank as usize])).concat())
    };
    let saving = |rule: &str, rows: &[Rows<'_>]| {
        let findings = found(rows);
        let one = findings.iter().find(|one| one.rule == rule).unwrap_or_else(|| panic!("{rule}: {findings:?}"));
        one.saving.map(|saving| (saving.wall.wall_ns, saving.wall.unit_ns, saving.gpu_time_ns, saving.pct_of_span))
    };
    let communication = spans([100_000, 200_000, 300_000, 200_000]);
    let collective = "kernel_name calls matched total_ns cost_ns wait_ns wait_pct\nncclKernel 4 4 800000 800000 0 0.0";
    let rows = [("time_breakdown", &*communication), ("collective_summary", collective)];
    assert_eq!(saving("exposed_communication", &rows), Some((200_000, 1_000_000, 800_000, 20.0)));
    let quiet = spans([0; 4]);
    let first = |excess_ns: i64| {
        format!(
            "rank gpu kernel_name calls first_ns rest_median_ns ratio excess_ns slow_first_calls\n2 0 gemm 9 900 100 9.5 {excess_ns} 1"
        )
    };
    let of_first = |excess_ns: i64| {
        saving("slow_first_calls", &[("time_breakdown", &*quiet), ("kernel_warmup", &first(excess_ns))])
    };
    assert_eq!(of_first(120_000), Some((120_000, 1_000_000, 120_000, 12.0)));
    let short = "rank gpu span_ns busy_ns idle_ns compute_ns comm_ns copy_ns exposed_comm_ns exposed_copy_ns lead_ns tail_ns busy_pct idle_pct
                 0 0 19998 19998 0 9999 0 9999 0 9999 0 0 100.0 0.0";
    let copies = "direction copies total_bytes busy_ns\nH2D 2 4096 9999";
    assert_eq!(saving("exposed_copy", &[("time_breakdown", short), ("copy_summary", copies)]), None);
    let kernels =
        "kernel_name category calls total_ns mean_ns median_ns max_ns pct\ngemm gemm 10 900000 5.0 5.0 5 100.0";
    assert_eq!(saving("dominant_kernel", &[SPAN, ("kernel_summary", kernels)]), None);
}

/// The most that can be saved is exactly what the rows give, and never more than the spans.
#[test]
fn savings_are_those_of_the_trace() {
    let findings = found(&[
        ("time_breakdown", &span(0, 250_000)),
        ("copy_summary", "direction copies total_bytes busy_ns\nH2D 2 4096 250000"),
    ]);
    let copy = findings.iter().find(|finding| finding.rule == "exposed_copy").unwrap();
    let saving = copy.saving.as_ref().unwrap();
    assert_eq!((saving.gpu_time_ns, saving.pct_of_span), (250_000, 25.0));
    assert_eq!(copy.priority, Priority::High);
    assert!(copy.title.contains("250 µs (25.0%"), "{}", copy.title);
    assert_eq!(copy.commands.len(), 1);
}

#[test]
fn exposed_time_is_judged_by_its_share() {
    let copies = ("copy_summary", "direction copies total_bytes busy_ns\nH2D 2 4096 250000");
    let copy = |ns: i64| priority_of("exposed_copy", &[("time_breakdown", &span(0, ns)), copies]);
    assert_eq!([50_000, 50_001, 100_001, 200_000, 200_001].map(copy), ["-", "low", "medium", "medium", "high"]);
    let comm = |ns: i64| priority_of("exposed_communication", &[("time_breakdown", &span(ns, 0))]);
    assert_eq!([50_000, 50_001, 100_001, 200_000, 200_001].map(comm), ["-", "low", "medium", "medium", "high"]);
    let start = |lead: i64| {
        let text = SPAN.1.replace("0 0 100.0", &format!("{lead} 0 100.0"));
        priority_of("start_up", &[("time_breakdown", &text)])
    };
    assert_eq!([0, 1_000_000, 1_000_001].map(start), ["-", "-", "info"]);
}

/// A dominant kernel is reported with commands, unless counters reveal what limits it, or it communicates.
#[test]
fn dominant_kernels_are_reported_once() {
    let kernels = |own: i64, category: &str| {
        format!(
            "kernel_name category calls total_ns mean_ns median_ns max_ns pct\n\
             gemm {category} 10 {own} 10.0 10.0 10 {}\ncopy elementwise 10 {} 10.0 10.0 10 1.0",
            own as f64 / 10_000.0,
            1_000_000 - own
        )
    };
    let of = |own: i64| {
        let text = kernels(own, "gemm");
        let findings = found(&[SPAN, ("kernel_summary", &text)]);
        findings.iter().find(|one| one.id == "dominant_kernel:gemm").map_or("-", |one| one.priority.word())
    };
    assert_eq!([250_000, 250_001, 500_000, 500_001].map(of), ["-", "medium", "medium", "high"]);
    let text = kernels(900_000, "communication");
    assert!(!found(&[SPAN, ("kernel_summary", &text)]).iter().any(|one| one.id == "dominant_kernel:gemm"));
    let text = kernels(900_000, "gemm");
    let counted = [
        SPAN,
        ("kernel_summary", text.as_str()),
        (
            "bottlenecks",
            "rank gpu kernel_name time_ns dispatches bottleneck verdict state evidence missing\n0 0 gemm 900 1 latency latency yes few -",
        ),
    ];
    let rules: Vec<String> = found(&counted).into_iter().map(|one| one.id).collect();
    assert_eq!(rules, ["kernel_latency:gemm"]);
}

/// Bottlenecks by share of kernel time, with the time above the roof as saving.
#[test]
fn bottlenecks_are_judged_by_share_of_time() {
    let of = |bottleneck: &str, share: f64| {
        let own = (share * 10_000.0) as i64;
        let kernels = format!(
            "kernel_name category calls total_ns pct\ngemm gemm 10 {own} {share}\nfill fill 10 {} 1.0",
            1_000_000 - own
        );
        let registry = Registry::builtin().unwrap();
        let (question, mut counted) = answer(
            "bottlenecks",
            "rank gpu kernel_name time_ns dispatches bottleneck verdict state evidence missing\n0 0 gemm 900 1 x x yes 5 -",
            &registry,
        );
        counted.frame.with_column(Column::new("bottleneck".into(), [bottleneck])).unwrap();
        counted.frame.with_column(Column::new("evidence".into(), ["numbers"])).unwrap();
        let roof = answer(
            "roofline",
            "kernel_name time_ns bound pct_of_roof gflops intensity_hbm hbm_gbps peak_hbm_gbps\ngemm 900 hbm 25.0 1.0 1.0 1.0 1.0",
            &registry,
        );
        let given = BTreeMap::from([
            answer(SPAN.0, SPAN.1, &registry),
            answer("kernel_summary", &kernels, &registry),
            (question, counted),
            roof,
        ]);
        let answers = Answers::by_hand(given, BTreeSet::new());
        let findings =
            judge(&answers, &registry, &RuleBook::builtin().unwrap(), &collected(), &RunViews::default()).unwrap();
        let own: Vec<&Finding> = findings.iter().filter(|one| one.id == format!("kernel_{bottleneck}:gemm")).collect();
        assert!(own.iter().all(|one| one.saving.as_ref().unwrap().gpu_time_ns == (own_saving(share))), "{own:?}");
        own.first().map_or("-", |one| one.priority.word())
    };
    fn own_saving(share: f64) -> i64 {
        (share * 10_000.0 * 0.75) as i64
    }
    for pattern in ["uncoalesced_access", "lds_conflicts", "atomics", "divergence"] {
        assert_eq!([5.0, 6.0, 11.0, 26.0].map(|share| of(pattern, share)), ["-", "low", "medium", "high"], "{pattern}");
    }
    for saturated in ["memory_bandwidth", "l2_bandwidth", "vector_compute"] {
        assert_eq!(
            [10.0, 11.0, 21.0, 51.0].map(|share| of(saturated, share)),
            ["-", "low", "medium", "high"],
            "{saturated}"
        );
    }
    assert_eq!([10.0, 11.0, 21.0, 51.0].map(|share| of("matrix_compute", share)), ["-", "info", "low", "medium"]);
    for waiting in ["under_occupied", "latency"] {
        assert_eq!(
            [10.0, 11.0, 26.0, 51.0].map(|share| of(waiting, share)),
            ["-", "low", "medium", "high"],
            "{waiting}"
        );
    }
}

/// Copies: slow ones if they are large, small ones if they are many, and neither if they take no time.
#[test]
fn copies_are_judged_by_size_and_bandwidth() {
    let of = |busy_ns: i64, gb_per_s: f64, peak: &str, small_pct: f64| {
        let bytes = (busy_ns as f64 * gb_per_s) as i64;
        let text = format!(
            "rank gpu direction copies total_bytes busy_ns gb_per_s peak_gb_per_s utilization_pct small_pct\n\
             0 0 H2D 10 {bytes} {busy_ns} {gb_per_s} {peak} 1.0 {small_pct}"
        );
        let rows = [SPAN, ("link_utilization", text.as_str())];
        (priority_of("slow_copies", &rows), priority_of("small_copies", &rows))
    };
    assert_eq!(of(10_001, 25.5, "64.0", 10.0), ("low", "-"));
    assert_eq!(of(10_000, 25.5, "64.0", 10.0), ("-", "-"));
    assert_eq!(of(50_001, 25.7, "64.0", 10.0), ("-", "-"), "more than 40 % of the peak");
    assert_eq!(of(50_001, 9.9, "-", 10.0), ("medium", "-"), "no peak is known: 10 GB/s");
    assert_eq!(of(50_001, 10.1, "-", 10.0), ("-", "-"));
    assert_eq!(of(100_002, 0.5, "64.0", 50.0), ("-", "medium"), "small copies are not called slow");
    assert_eq!(of(99_999, 0.5, "64.0", 50.0), ("-", "low"), "the time of small ones counts");
    let held = |held_ns: i64, verdict: &str| {
        let text = format!(
            "direction api_name kind copies total_bytes copy_ns held_ns held_pct returned_after verdict\nH2D hipMemcpy blocking 4 4096 {held_ns} {held_ns} 100.0 4 {verdict}"
        );
        priority_of("blocking_copies", &[("time_breakdown", &span(0, 50_000)), ("copy_calls", &text)])
    };
    assert_eq!(held(20_000, "blocking"), "-");
    assert_eq!(held(20_001, "blocking"), "low");
    assert_eq!(held(100_001, "pageable~memory~suspected"), "medium");
    assert_eq!(held(100_001, "asynchronous"), "-");
    let filled = |held_ns: i64, verdict: &str| {
        let text = format!(
            "api_name kind fills fill_ns mean_ns max_ns held_ns held_pct returned_after verdict\nhipMemset blocking 4 {held_ns} 1.0 1 {held_ns} 100.0 4 {verdict}"
        );
        priority_of("blocking_fills", &[("time_breakdown", &span(0, 50_000)), ("fill_summary", &text)])
    };
    assert_eq!(filled(20_000, "blocking"), "-");
    assert_eq!(filled(20_001, "blocking"), "low");
    assert_eq!(filled(100_001, "blocking"), "medium");
    assert_eq!(filled(100_001, "asynchronous"), "-");
}

#[test]
fn matrix_shapes_are_judged_by_what_similar_ones_reach() {
    let of = |total_ns: i64, vs_similar: f64| {
        let text = format!(
            "library m n k batch transposed type solution_index calls total_ns tflop_per_s similar_tflop_per_s vs_similar_pct\nhipblaslt 512 512 500 1 NN f16_r 7 4 {total_ns} 50.0 100.0 {vs_similar}"
        );
        priority_of("slow_matrix_shapes", &[("time_breakdown", &span(0, 50_000)), ("gemm_shapes", &text)])
    };
    assert_eq!(of(50_000, -50.0), "low", "2.5 % of the span");
    assert_eq!(of(40_000, -50.0), "-", "2 %");
    assert_eq!(of(202_000, -50.0), "medium");
    assert_eq!(of(900_000, -30.0), "-", "not far enough behind");
    assert_eq!(of(900_000, 20.0), "-");
}

#[test]
fn allocations_are_judged_by_growth_time_and_capacity() {
    let leak = |verdict: &str, leaked: i64| {
        let text = format!(
            "rank gpu api_name bytes fate allocations leaked_bytes of_size verdict\n0 0 hipMalloc 1024 live 5 {leaked} 9 {verdict}"
        );
        let water = ("memory_high_water", "rank gpu level peak_bytes peak_pct\n0 0 REAL 500000 50.0");
        priority_of("leak", &[SPAN, ("leak_candidates", &text), water])
    };
    assert_eq!(leak("kept", 900_000), "-");
    assert_eq!((leak("growing", 100_000), leak("growing", 100_001)), ("medium", "high"));
    let churn = |call_ns: i64, freed: i64| {
        let text = format!(
            "bytes level allocations freed median_life_ns call_ns per_second\n64 REAL 9 {freed} 10 {call_ns} 3.5"
        );
        priority_of("allocation_churn", &[SPAN, ("allocation_churn", &text)])
    };
    assert_eq!([10_000, 10_001, 50_001, 100_001].map(|ns| churn(ns, 9)), ["-", "low", "medium", "high"]);
    assert_eq!(churn(100_001, 0), "-", "nothing is given back");
    let full = |pct: f64, level: &str| {
        let text =
            format!("rank gpu level peak_bytes peak_pct peak_allocations end_bytes\n0 0 {level} 500000 {pct:.1} 3 4");
        priority_of("memory_nearly_full", &[SPAN, ("memory_high_water", &text)])
    };
    assert_eq!([90.0, 90.1, 95.0, 95.1].map(|pct| full(pct, "REAL")), ["-", "low", "low", "medium"]);
    assert_eq!(full(99.0, "VIRTUAL"), "-");
}

const TWO_SPANS: &str = "rank gpu span_ns busy_ns idle_ns compute_ns comm_ns copy_ns exposed_comm_ns exposed_copy_ns lead_ns tail_ns busy_pct idle_pct
    0 0 1000000 1000000 0 900000 100000 0 0 0 0 0 100.0 0.0
    1 1 1000000 1000000 0 900000 100000 0 0 0 0 0 100.0 0.0";

/// One finding names the worst GPU and its reasons; separate runs that are analyzed together are not ranks of a job.
#[test]
fn stragglers_are_named_with_their_reasons() {
    let text = |pct: f64, gpus: i64| {
        format!(
            "rank gpu hostname what amount_ns median_ns excess_ns excess_pct z gpus last_pct\n\
             1 1 - compute 950000 900000 50000 {pct:.1} 9.5 {gpus} -\n1 1 - slow_kernels 950000 900000 48000 4.8 9.5 {gpus} -"
        )
    };
    let among = |pct: f64, gpus: i64, spans: &str| {
        let registry = Registry::builtin().unwrap();
        let (question, mut rows) = answer("stragglers", &text(pct, gpus), &registry);
        rows.frame.with_column(Column::new("what".into(), ["compute", "slow_kernels"])).unwrap();
        let given = BTreeMap::from([answer("time_breakdown", spans, &registry), (question, rows)]);
        let answers = Answers::by_hand(given, BTreeSet::new());
        judge(&answers, &registry, &RuleBook::builtin().unwrap(), &collected(), &RunViews::default()).unwrap()
    };
    let of = |pct: f64, spans: &str| among(pct, 3, spans);
    let priority =
        |pct: f64| of(pct, TWO_SPANS).iter().find(|one| one.rule == "straggler").map_or("-", |one| one.priority.word());
    assert_eq!([2.0, 2.1, 5.1, 10.1].map(priority), ["-", "low", "medium", "high"]);
    let findings = of(10.1, TWO_SPANS);
    assert_eq!(findings[0].title, "Straggler: rank 1 GPU 1: the same kernels take longer on it");
    assert_eq!(findings[0].saving.as_ref().unwrap().gpu_time_ns, 150_000);
    // With two GPUs, the odd one cannot be identified, and GPUs of one rank do not delay another rank.
    let is_named = |findings: &[Finding]| findings.iter().any(|one| one.rule == "straggler");
    assert!(!is_named(&among(10.1, 2, TWO_SPANS)));
    assert!(!is_named(&of(10.1, &TWO_SPANS.replace("\n    1 1 ", "\n    0 1 "))));
    let separate = TWO_SPANS.replacen("1000000", "499999", 1);
    assert!(of(10.1, &separate).iter().all(|one| one.rule != "straggler"));
}

#[test]
fn waiting_in_collectives_is_judged_by_its_share() {
    let of = |wait_ns: i64| {
        let text = format!(
            "kernel_name calls matched total_ns cost_ns wait_ns wait_pct max_wait_ns median_skew_ns sized mean_message_bytes\n\
             nccl 200 200 90000 20000 {wait_ns} 50.0 10 5 0 -"
        );
        priority_of("collective_wait", &[("time_breakdown", TWO_SPANS), ("collective_summary", &text)])
    };
    // Shares of two spans of a million.
    assert_eq!([60_000, 60_001, 200_001].map(of), ["-", "low", "medium"]);
    let small = |bytes: f64, calls: i64| {
        let text = format!(
            "kernel_name calls matched total_ns cost_ns wait_ns wait_pct max_wait_ns median_skew_ns sized mean_message_bytes\n\
             nccl 200 200 90000 70000 0 50.0 10 5 {calls} {bytes:.1}"
        );
        priority_of("small_collectives", &[("time_breakdown", TWO_SPANS), ("collective_summary", &text)])
    };
    assert_eq!((small(262_143.0, 100), small(262_144.0, 100), small(262_143.0, 99)), ("low", "-", "-"));
}

/// Costs that hit one GPU count by its own span.
#[test]
fn variation_is_judged_by_the_gpu_that_is_hit_most() {
    let outliers = |excess_ns: i64, first: i64| {
        let text = format!(
            "rank gpu kernel_name calls outliers first_calls median_ns worst_ns worst_z excess_ns excess_pct worst_dispatch_id\n\
             1 1 gemm 60 5 {first} 24000 240000 9.5 {excess_ns} 50.0 7"
        );
        priority_of("outlying_dispatches", &[("time_breakdown", TWO_SPANS), ("kernel_outliers", &text)])
    };
    assert_eq!([20_000, 20_001, 50_001, 100_001].map(|ns| outliers(ns, 0)), ["-", "low", "medium", "high"]);
    assert_eq!(outliers(100_001, 5), "-", "first calls are warm-up");
    let warm = |excess_ns: i64| {
        let text = format!(
            "rank gpu kernel_name calls first_ns rest_median_ns ratio excess_ns slow_first_calls verdict\n\
             1 1 gemm 60 90000 10 9.5 {excess_ns} 1 slow"
        );
        priority_of("slow_first_calls", &[("time_breakdown", TWO_SPANS), ("kernel_warmup", &text)])
    };
    assert_eq!([10_000, 10_001, 100_001].map(warm), ["-", "info", "low"]);
    let pace = |rule: &str, verdict: &str, drift: f64| {
        let text = format!(
            "rank gpu kernel_name calls total_ns early_median_ns late_median_ns drift_pct run_drift_pct low_mode_ns high_mode_ns high_mode_pct mode_gap_pct verdict\n\
             1 1 gemm 60 630000 10000 11000 {drift:.1} 9.5 10000 12000 50.0 90.0 {verdict}"
        );
        priority_of(rule, &[("time_breakdown", TWO_SPANS), ("kernel_pace", &text)])
    };
    // 630,000 - 60 x 10,000 = 30,000 ns; 60 x 50 % x 2,000 = 60,000 ns.
    assert_eq!(pace("drift", "drifting", 5.0), "low");
    assert_eq!([pace("drift", "both", 5.0), pace("two_modes", "both", 5.0)], ["low", "low"]);
    assert_eq!(pace("drift", "drifting", -5.0), "-", "it gets faster");
    assert_eq!(pace("drift", "two~modes", 5.0), "-");
    assert_eq!(pace("two_modes", "two~modes", 5.0), "low");
    assert_eq!(pace("two_modes", "steady", 5.0), "-");
}

#[test]
fn chains_clocks_and_queues() {
    let chain = |pause_ns: i64, length: i64| {
        let text = format!(
            "chain length occurrences kernel_ns pause_ns mean_pause_ns launch_ns\na>b {length} 20 1000 {pause_ns} 5.5 100\na>b>c 3 20 1000 900000 5.5 100"
        );
        priority_of("fusion_candidates", &[SPAN, ("kernel_sequences", &text)])
    };
    assert_eq!([20_000, 20_001, 50_001, 150_001].map(|ns| chain(ns, 2)), ["-", "low", "medium", "high"]);
    assert_eq!(chain(150_001, 4), "-", "only pauses of pairs are disjoint");
    let clock = |low_ns: i64, verdict: &str| {
        let text = format!(
            "rank gpu kernel_ns top_mhz mean_mhz min_mhz low_ns low_pct_of_time max_w max_c verdict\n0 0 900000 2000.0 1600.0 1500.0 {low_ns} 50.0 700.0 80.0 {verdict}"
        );
        priority_of("low_clock", &[SPAN, ("throttling", &text)])
    };
    // The saving is a fifth of the time at the low clock.
    let throttled = |ns: i64| clock(ns, "throttling~by~power~suspected");
    assert_eq!([100_000, 100_010, 250_010, 500_010].map(throttled), ["-", "low", "medium", "high"]);
    assert_eq!(clock(500_010, "none"), "-");
    let queue = |full_ns: i64| {
        let text = format!("rank gpu queue_id span_ns full_ns mean_depth max_depth\n0 0 1 1000000 {full_ns} 5.5 1024");
        priority_of("full_queue", &[SPAN, ("queue_summary", &text)])
    };
    assert_eq!([0, 50_000, 50_001].map(queue), ["-", "-", "info"]);
}

#[test]
fn wavefronts_are_judged_by_what_fits_and_what_ran() {
    let kernels = "kernel_name category calls total_ns pct\ngemm other 10 300000 30.0\nfill fill 10 700000 70.0";
    let resources = |occupancy: f64, scratch: i64| {
        format!(
            "kernel_name vgpr accum_vgpr lds_bytes scratch_bytes dispatches total_ns allocated_vgpr waves_per_simd max_waves_per_simd occupancy_pct limited_by next_waves_per_simd next_step\n\
             gemm 128 0 0 {scratch} 10 300000 128 2.0 8 {occupancy:.1} vgpr 3.0 16\nfill 8 0 0 0 10 700000 8 8.0 8 100.0 none - -"
        )
    };
    let low = |occupancy: f64| {
        let text = resources(occupancy, 0);
        let findings = found(&[SPAN, ("kernel_summary", kernels), ("kernel_resources", &text)]);
        findings.into_iter().find(|one| one.rule == "low_occupancy")
    };
    assert!(low(25.1).is_none());
    let finding = low(25.0).unwrap();
    assert_eq!(finding.priority, Priority::Low);
    assert!(finding.advice[0].starts_with("With 16 fewer VGPRs 3 wavefronts fit"), "{:?}", finding.advice);
    assert!(finding.title.contains("2/8 wavefronts per SIMD"), "{}", finding.title);
    let scratch = |bytes: i64| {
        let text = resources(100.0, bytes);
        priority_of("scratch_use", &[SPAN, ("kernel_summary", kernels), ("kernel_resources", &text)])
    };
    assert_eq!((scratch(0), scratch(16)), ("-", "medium"));
    let few = |pct: f64| {
        let text = format!(
            "rank gpu kernel_name wavefronts slots achieved_pct theoretical_pct pct_of_theoretical limited_by\n0 0 gemm 50.5 100 {pct:.1} 100.0 {pct:.1} none"
        );
        priority_of("few_wavefronts", &[SPAN, ("kernel_summary", kernels), ("occupancy", &text)])
    };
    assert_eq!((few(50.0), few(50.1)), ("low", "-"));
    let roof = |pct: f64| {
        let text = format!(
            "kernel_name time_ns bound pct_of_roof gflops intensity_hbm hbm_gbps peak_hbm_gbps\ngemm 300000 hbm {pct:.1} 1.5 1.5 1.5 1.5"
        );
        priority_of("far_below_roof", &[SPAN, ("kernel_summary", kernels), ("roofline", &text)])
    };
    assert_eq!((roof(29.9), roof(30.0)), ("medium", "-"));
}

#[test]
fn stalls_are_judged_by_their_share() {
    let traced = |stall: i64| {
        let classes = format!(
            "kernel_name class hitcount latency_cycles stall_cycles stall_pct stalled_pct\ngemm wait 9 600 {stall} 80.0 50.0\ngemm VALU 9 400 0 20.0 50.0"
        );
        let hot = "kernel_name instruction source_file source_line hitcount stall_cycles stall_pct\ngemm s_waitcnt a.hip 8 9 300 80.0";
        let waits = "kernel_name instruction class counter reason source_line waits stall_cycles wait_pct\ngemm - - vmcnt path - 9 200 60.0\ngemm ds LDS lgkmcnt - 7 9 100 40.0";
        let rows = [("att_by_class", classes.as_str()), ("att_hotspots", hot), ("att_waits", waits)];
        let findings = found(&rows);
        // The counter of a wait identifies its operation if that is unknown.
        assert!(findings.iter().all(|one| one.explanation.contains("66.7% of the waits are for VMEM")), "{findings:?}");
        findings.first().map_or("-", |one| one.priority.word())
    };
    assert_eq!([400, 401, 600].map(traced), ["-", "medium", "medium"]);
    let sampled = |stalled: i64, issued: i64| {
        let text = format!(
            "kernel_name stall_reason samples pct issued stalled\ngemm WAITCNT {stalled} 60.0 0 {stalled}\ngemm - {issued} 40.0 {issued} 0"
        );
        priority_of("sampled_stalls", &[("pc_hotspots", &text)])
    };
    assert_eq!(sampled(39, 60), "-", "99 samples");
    assert_eq!((sampled(40, 60), sampled(41, 59), sampled(61, 39)), ("-", "low", "medium"));
}
