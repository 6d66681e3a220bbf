//! Rules about the trace itself, and cases in which no rule may report.

use super::*;
use crate::findings::MissingRanks;
use wavesieve_tables::trace::views::View;

#[test]
fn the_trace_itself_is_judged_first() {
    let of = |severity: &str| {
        let text = format!("check_id severity table_name count first_key detail\nspans {severity} kernels 3 7 text");
        found(&[SPAN, ("trace_health", &text)])
    };
    assert_eq!((of("error")[0].rule.as_str(), of("error")[0].priority), ("trace_errors", Priority::High));
    assert_eq!((of("warning")[0].priority, of("info").len()), (Priority::Info, 1));
}

/// Without any answer nothing is reported; with only time, one finding that nothing stands out, with data to collect.
#[test]
fn missing_evidence_gives_no_finding() {
    assert!(found(&[]).is_empty());
    let findings = found(&[SPAN]);
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].id.as_str(), findings[0].commands.len()), ("nothing_stands_out", 1));
    let mut seen = collected();
    seen.visible_gpus = Some(8);
    assert_eq!(found_with(&[SPAN], &seen).iter().filter(|one| one.rule == "unused_gpus").count(), 1);
    seen.visible_gpus = Some(1);
    assert_eq!(found_with(&[SPAN], &seen).iter().filter(|one| one.rule == "unused_gpus").count(), 0);
    let registry = Registry::builtin().unwrap();
    let none = Answers::by_hand(BTreeMap::new(), BTreeSet::new());
    assert!(verdict(&none, &registry, &RuleBook::builtin().unwrap(), &collected(), View::WholeRun).is_none());
}

/// Dispatches that counters serialize have gaps for that reason.
#[test]
fn idle_time_between_counted_dispatches_is_none() {
    let idle = "rank gpu cause stretches idle_ns mean_ns max_ns idle_pct\n0 0 sync 3 900000 10.5 20 100.0";
    let waits = [SPAN, ("idle_by_cause", idle)];
    assert_eq!(priority_of("sync_idle", &waits), "high");
    let mut counted = collected();
    counted.serialized_ranks.insert(0);
    assert!(found_with(&waits, &counted).iter().all(|one| one.rule == "nothing_stands_out"));
}

/// A trace whose work mostly runs in graphs already does not need them.
#[test]
fn graphs_are_not_recommended_twice() {
    let idle = "rank gpu cause name idle_ns short_ns\n0 0 host_bound hipLaunchKernel 300000 300000";
    let steps = "rank period iterations steady steady_ns median_ns kernel_pct\n0 10 20 20 300000 1000 90.0";
    let kernels =
        "kernel_name category calls total_ns mean_ns median_ns max_ns pct\ngemm gemm 200 1000 5.0 5.0 5 100.0";
    let of_steps = |steps: &str, graphs: &[Rows<'_>]| {
        let rows = [SPAN, ("idle_by_call", idle), ("iteration_summary", steps), ("kernel_summary", kernels)];
        priority_of("graph_candidate", &[&rows[..], graphs].concat())
    };
    let of = |graphs: &[Rows<'_>]| of_steps(steps, graphs);
    assert_eq!(of_steps(&steps.replace("300000", "50000"), &[]), "-", "what is idle outside of the steps stays");
    assert_eq!(of_steps(&steps.replace("300000", "50001"), &[]), "low");
    assert_eq!(of_steps(&steps.replace("\n0 ", "\n1 "), &[]), "-", "another rank repeats itself");
    let replayed = |count: i64| format!("rank graph known_by replays kernels\n0 1 x 5 {count}");
    assert_eq!(of(&[]), "medium");
    assert_eq!(of(&[("graph_summary", &replayed(100))]), "medium");
    assert_eq!(of(&[("graph_summary", &replayed(101))]), "-");
}

/// Rows without times, among 1,000 kernels and copies.
#[test]
fn rows_that_count_nowhere_are_a_share() {
    let priority = |left_out: i64| {
        let health = format!(
            "check_id severity table_name count first_key detail\nzero_timestamp warning kernels {left_out} 7 text"
        );
        let kernels = format!("kernel_name category calls total_ns pct\nalpha other {} 1000 100.0", 1000 - left_out);
        priority_of("rows_left_out", &[SPAN, ("trace_health", &health), ("kernel_summary", &kernels)])
    };
    assert_eq!([1, 5, 6, 50, 51, 500, 501].map(priority), ["info", "info", "low", "low", "medium", "medium", "high"]);
    let calls = "check_id severity table_name count first_key detail\nzero_timestamp warning regions 3 7 text";
    assert_eq!(priority_of("rows_left_out", &[SPAN, ("trace_health", calls)]), "-");
}

/// A gap is not idle time if it takes nearly all of a span and some minutes, or a day.
#[test]
fn gaps_that_no_program_waits_for_are_no_idle_time() {
    let second = 1_000_000_000_i64;
    let found_of = |gap_s: i64, work_s: i64| {
        let (gap_ns, span_ns) = (gap_s * second, (gap_s + work_s) * second);
        let time = format!(
            "rank gpu span_ns busy_ns idle_ns compute_ns comm_ns copy_ns exposed_comm_ns exposed_copy_ns lead_ns tail_ns busy_pct idle_pct
             0 0 {span_ns} {} {gap_ns} {} 0 0 0 0 0 0 1.0 99.0",
            work_s * second,
            work_s * second
        );
        let idle = format!(
            "rank gpu cause stretches total_ns idle_ns mean_ns max_ns idle_pct
             0 0 sync 1 {gap_ns} {gap_ns} {gap_ns}.5 {gap_ns} 100.0"
        );
        let gaps = format!(
            "rank gpu start_ns duration_ns cause host_bound_ns sync_ns launch_delay_ns
             0 0 5 {gap_ns} sync 0 {gap_ns} 0"
        );
        let findings = found(&[("time_breakdown", &time), ("idle_by_cause", &idle), ("idle_gaps", &gaps)]);
        let has = |rule: &str| findings.iter().any(|finding| finding.rule == rule);
        (has("broken_span"), has("sync_idle"))
    };
    let (is_broken, is_idle) = ((true, false), (false, true));
    assert_eq!([found_of(599, 1), found_of(600, 32)], [is_idle; 2]);
    assert_eq!(found_of(86_399, 86_399), is_idle);
    assert_eq!([found_of(600, 31), found_of(86_400, 86_400)], [is_broken; 2]);
}

/// Nothing follows from how durations vary that moved to other names, and that is said once.
#[test]
fn durations_that_migrate_vary_for_no_reason() {
    let outliers = "rank gpu kernel_name calls outliers first_calls median_ns worst_ns excess_ns worst_dispatch_id\n0 0 gemm 50 5 0 1000 90000 200000 7";
    let health = "check_id severity table_name count first_key detail\nmigrating_durations warning kernels 30 7 text";
    let varied = [SPAN, ("kernel_outliers", outliers)];
    assert_eq!(priority_of("outlying_dispatches", &varied), "high");
    let findings = found(&[&varied[..], &[("trace_health", health)]].concat());
    let rules: Vec<&str> = findings.iter().map(|finding| finding.rule.as_str()).collect();
    assert_eq!(rules, ["unreliable_durations"]);
    assert!(findings[0].title.ends_with("30 kernels have those of others"), "{}", findings[0].title);
}

/// Ranks that are missing are said by a finding of their own, and by those that compare ranks.
#[test]
fn missing_ranks_are_said() {
    let mut seen = collected();
    seen.missing_ranks = Some(MissingRanks { present: 2, size: 128, is_least: false });
    let communication = super::span(250_000, 0);
    let collective = "kernel_name calls matched total_ns cost_ns wait_ns wait_pct\nncclKernel 4 4 250000 250000 0 0.0";
    let rows = [("time_breakdown", &*communication), ("collective_summary", collective)];
    let findings = found_with(&rows, &seen);
    let of = |rule: &str| findings.iter().find(|finding| finding.rule == rule).unwrap();
    assert_eq!(
        (of("missing_ranks").title.as_str(), of("missing_ranks").priority),
        ("2 of 128 ranks are present", Priority::Info)
    );
    let explanation = &of("exposed_communication").explanation;
    assert!(
        explanation.ends_with("Only 2 of 128 ranks are present: another one may be slower or later."),
        "{explanation}"
    );
    assert!(
        !found(&rows).iter().any(|finding| finding.rule == "missing_ranks" || finding.explanation.contains("Only"))
    );
}

/// Programs that are not ranks of one run.
#[test]
fn separate_programs_are_said() {
    let head = "program processes first_rank last_rank compared kernels kernel_sum_ns";
    let title = |rows: &str| {
        let text = format!("{head}{rows}");
        let findings = found(&[SPAN, ("programs", &text)]);
        findings.iter().find(|finding| finding.rule == "separate_programs").map(|finding| finding.title.clone())
    };
    assert_eq!(title("\n0 4 0 3 yes 9 900"), None);
    let none = "2 separate programs in the inputs: no ranks are compared";
    assert_eq!(title("\n0 1 0 0 no 9 900\n1 1 1 1 no 9 900").as_deref(), Some(none));
    let some = "2 separate programs in the inputs: only the 4 processes of the largest are compared";
    assert_eq!(title("\n0 1 0 0 no 9 900\n1 4 1 4 yes 9 900").as_deref(), Some(some));
}
