//! Activity of the host while GPUs were idle: which name a title has, and which advice follows.

use super::*;

/// The finding of a rule about 900,000 ns of a cause, with idle time by call, and by function or range.
fn finding_of(rule: &str, cause: &str, calls: &[(&str, i64)], inside: Option<(&str, &str, i64)>) -> Finding {
    let by_cause =
        format!("rank gpu cause stretches idle_ns mean_ns max_ns idle_pct\n0 0 {cause} 3 900000 10.5 20 100.0");
    let rows: Vec<String> = calls.iter().map(|(name, ns)| format!("0 0 {cause} {name} {ns} 0")).collect();
    let by_call = format!("rank gpu cause name idle_ns short_ns\n{}", rows.join("\n"));
    let inside = inside.map(|(column, name, ns)| {
        format!("{column} cause name idle_ns short_ns\n{name} {cause} no~call~recorded {ns} 0")
    });
    let mut rows = vec![SPAN, ("idle_by_cause", by_cause.as_str()), ("idle_by_call", by_call.as_str())];
    rows.extend(inside.iter().map(|text| ("idle_by_call", text.as_str())));
    found(&rows).into_iter().find(|finding| finding.rule == rule).unwrap()
}

fn has_advice(finding: &Finding, text: &str) -> bool {
    finding.advice.iter().any(|advice| advice.contains(text))
}

#[test]
fn the_call_with_a_third_is_in_the_title() {
    let of = |calls: &[(&str, i64)]| finding_of("host_bound_idle", "host_bound", calls, None);
    let free = of(&[("hipFree", 648_000), ("hipMalloc", 100_000), ("no~call~recorded", 152_000)]);
    let title = "hipFree blocks the host: GPUs idle for 900 µs (90.0% of traced GPU time), 72.0% of that in hipFree";
    assert_eq!(free.title, title);
    assert!(has_advice(&free, "PYTORCH_NO_HIP_MEMORY_CACHING") && has_advice(&free, "hipMallocAsync"));
    assert!(!has_advice(&free, "HIP graph") && !has_advice(&free, "Launch ahead"), "{:?}", free.advice);
    assert!(free.evidence.iter().any(|evidence| evidence.question.query == "idle_by_call" && evidence.rows == 3));
    assert!(free.explanation.contains("For 648 µs of it the launching thread was in hipFree."), "{}", free.explanation);
    // A third of 900,000 ns is 300,000; the bound is 33.3%.
    assert!(of(&[("hipFree", 299_700), ("hipInit", 100)]).title.starts_with("hipFree blocks"));
    let less = of(&[("hipFree", 299_699), ("hipInit", 100)]);
    assert_eq!(less.title, "Host-bound: GPUs idle for 900 µs (90.0% of traced GPU time)");
    assert!(has_advice(&less, "Launch ahead"));
    // A call of no known kind is named and not said to block.
    let unknown = of(&[("hipInit", 450_000)]);
    assert_eq!(unknown.title, "Host-bound: GPUs idle for 900 µs (90.0% of traced GPU time), 50.0% of that in hipInit");
    let outside = of(&[("hipFree", 100), ("no~call~recorded", 810_000)]);
    assert!(outside.title.ends_with("90.0% of that in no recorded call"), "{}", outside.title);
    assert!(
        finding_of("unexplained_idle", "no_record", &[("no~call~recorded", 900_000)], None)
            .title
            .ends_with("; no API calls recorded")
    );
}

/// Equal names of several GPUs count together, and of equals the first by name is named.
#[test]
fn calls_of_all_gpus_add_up() {
    let by_cause = "rank gpu cause stretches idle_ns mean_ns max_ns idle_pct
        0 0 sync 3 300000 10.5 20 100.0
        1 0 sync 3 300000 10.5 20 100.0";
    let span = "rank gpu span_ns busy_ns idle_ns compute_ns comm_ns copy_ns exposed_comm_ns exposed_copy_ns lead_ns tail_ns busy_pct idle_pct
        0 0 1000000 700000 300000 700000 0 0 0 0 0 0 70.0 30.0
        1 0 1000000 700000 300000 700000 0 0 0 0 0 0 70.0 30.0";
    let by_call = "rank gpu cause name idle_ns short_ns
        0 0 sync hipMemcpy 150000 0
        1 0 sync hipMemcpy 150000 0
        0 0 sync hipStreamSynchronize 150000 0
        1 0 sync hipStreamSynchronize 150000 0";
    let rows = [("time_breakdown", span), ("idle_by_cause", by_cause), ("idle_by_call", by_call)];
    let findings = found(&rows);
    let sync = findings.iter().find(|finding| finding.rule == "sync_idle").unwrap();
    assert!(sync.title.starts_with("hipMemcpy blocks the host: GPUs idle for 600 µs (30.0%"), "{}", sync.title);
    assert!(sync.title.ends_with("50.0% of that in hipMemcpy"), "{}", sync.title);
    assert!(has_advice(sync, "pinned memory"));
}

#[test]
fn outside_of_calls_functions_and_ranges_are_named() {
    let of = |inside: Option<(&str, &str, i64)>| {
        finding_of(
            "host_bound_idle",
            "host_bound",
            &[("no~call~recorded", 880_000), ("hipLaunchKernel", 20_000)],
            inside,
        )
    };
    let loader = of(Some(("range", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 720_000)));
    assert!(
        loader.title.contains("blocks the host") && loader.title.contains("80.0% of that in enumerate(DataLoader)"),
        "{}",
        loader.title
    );
    assert!(has_advice(&loader, "num_workers"));
    let operator = of(Some(("function_name", "aten::add", 450_000)));
    assert!(
        operator.title.starts_with("Host-bound") && operator.title.ends_with("50.0% of that in aten::add"),
        "{}",
        operator.title
    );
    // All of a step lies in its range, which explains nothing.
    let step = of(Some(("range", "ProfilerStep#5", 900_000)));
    assert!(step.title.ends_with("97.8% of that in no recorded call"), "{}", step.title);
}

/// A range around everything is left out, and the one in it is named.
#[test]
fn a_range_around_the_whole_run_explains_nothing() {
    let by_cause = "rank gpu cause stretches idle_ns mean_ns max_ns idle_pct\n0 0 host_bound 3 900000 10.5 20 100.0";
    let calls = "rank gpu cause name idle_ns short_ns\n0 0 host_bound no~call~recorded 900000 0";
    let of = |name: &str, longest_ns: i64| {
        let ranges = format!(
            "range cause name idle_ns short_ns longest_ns\n{name} host_bound no~call~recorded 540000 0 {longest_ns}\n\
             sample host_bound no~call~recorded 360000 0 12000"
        );
        let rows = [SPAN, ("idle_by_cause", by_cause), ("idle_by_call", calls), ("idle_by_call", &ranges)];
        let findings = found(&rows);
        findings.into_iter().find(|finding| finding.rule == "host_bound_idle").unwrap().title
    };
    // Nine tenths of a span of 1,000,000 ns.
    assert!(of("forward", 899_999).ends_with("60.0% of that in forward"));
    assert!(of("forward", 900_000).ends_with("40.0% of that in sample"));
    let loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
    assert!(of(loader, 900_000).contains("60.0% of that in enumerate(DataLoader)"));
}

/// Where neither a call, a function nor a range takes a third, the state of the launching thread does.
#[test]
fn the_state_of_the_thread_explains_the_rest() {
    let calls = [("no~call~recorded", 880_000), ("hipLaunchKernel", 20_000)];
    let of = |state: &'static str, ns: i64| {
        finding_of("host_bound_idle", "host_bound", &calls, Some(("thread_state", state, ns)))
    };
    let runnable = of("runnable", 540_000);
    assert!(runnable.title.ends_with("60.0% of that in the run queue, runnable but not running"), "{}", runnable.title);
    assert!(runnable.title.starts_with("Host-bound: ") && has_advice(&runnable, "cpu.max"), "{:?}", runnable.advice);
    let disk = of("disk_sleep", 299_700);
    assert!(disk.title.contains("33.3% of that in uninterruptible sleep") && has_advice(&disk, "page faults"));
    // Less than a third, or a state of no known kind, explains nothing.
    for (state, ns) in [("disk_sleep", 299_699), ("other", 900_000)] {
        assert!(of(state, ns).title.ends_with("97.8% of that in no recorded call"), "{state}");
    }
    let free = [("hipFree", 540_000), ("no~call~recorded", 360_000)];
    let free = finding_of("host_bound_idle", "host_bound", &free, Some(("thread_state", "runnable", 360_000)));
    assert!(free.title.starts_with("hipFree blocks the host"), "a call comes first: {}", free.title);
}

/// Activity of a thread after its launch follows from the delay.
#[test]
fn a_wait_for_a_delayed_launch_does_not_block_the_host() {
    let delay = finding_of("launch_delay_idle", "launch_delay", &[("hipStreamSynchronize", 900_000)], None);
    let title = "Launch latency: GPUs idle for 900 µs (90.0% of traced GPU time), 100.0% of that while the host was in hipStreamSynchronize";
    assert_eq!(delay.title, title);
    assert!(!has_advice(&delay, "Move synchronization out") && !has_advice(&delay, "HIP graph"), "{:?}", delay.advice);
}

/// A HIP graph shortens short gaps between launches, and no others.
#[test]
fn graphs_are_for_short_gaps_without_a_blocking_call() {
    let steps = "rank period iterations steady steady_ns median_ns kernel_pct\n0 10 20 20 900000 1000 90.0";
    let kernels =
        "kernel_name category calls total_ns mean_ns median_ns max_ns pct\ngemm gemm 200 1000 5.0 5.0 5 100.0";
    let of = |name: &str, short_ns: i64| {
        let calls = format!("rank gpu cause name idle_ns short_ns\n0 0 host_bound {name} 600000 {short_ns}");
        let rows = [SPAN, ("idle_by_call", &calls), ("iteration_summary", steps), ("kernel_summary", kernels)];
        priority_of("graph_candidate", &rows)
    };
    assert_eq!(of("no~call~recorded", 600_000), "medium");
    assert_eq!(of("hipLaunchKernel", 50_001), "low");
    assert_eq!(of("hipLaunchKernel", 50_000), "-");
    assert_eq!([of("hipFree", 600_000), of("hipMemcpyWithStream", 600_000)], ["-"; 2]);
}

/// The share of a single GPU counts if others may wait for it: it communicates, and is of the same program.
#[test]
fn only_an_awaited_gpu_counts_by_itself() {
    let head = "rank gpu span_ns busy_ns idle_ns compute_ns comm_ns copy_ns exposed_comm_ns exposed_copy_ns lead_ns tail_ns busy_pct idle_pct";
    let of = |comm_ns: i64, programs: &[Rows<'_>]| {
        let spans = [comm_ns, 1, 1, 1].into_iter().enumerate();
        let spans = spans.map(|(rank, ns)| format!("{rank} 0 1000000 900000 100000 900000 {ns} 0 0 0 0 0 90.0 10.0"));
        let spans = format!("{head}\n{}", spans.collect::<Vec<_>>().join("\n"));
        let idle = "rank gpu cause stretches idle_ns mean_ns max_ns idle_pct
            0 0 host_bound 3 212000 10.5 20 100.0
            1 0 host_bound 3 10000 10.5 20 100.0
            2 0 host_bound 3 10000 10.5 20 100.0
            3 0 host_bound 3 10000 10.5 20 100.0";
        let rows = [("time_breakdown", spans.as_str()), ("idle_by_cause", idle)];
        priority_of("host_bound_idle", &[&rows[..], programs].concat())
    };
    let separate =
        "program processes first_rank last_rank compared kernels kernel_sum_ns\n0 1 0 0 no 5 5\n1 3 1 3 yes 5 5";
    assert_eq!((of(1, &[]), of(0, &[]), of(1, &[("programs", separate)])), ("medium", "low", "low"));
}
