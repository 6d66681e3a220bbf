//! The critical path, slack and what kernels are worth: small traces whose answers are worked out here, and what holds on all.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::common::{real, records, run, succeed};
use crate::idling::{COLLECTIVE, COPY, FIRST_GPU, HIP, LAUNCH, SYNCHRONISE, event, kernel, process_of, written};
use crate::rocprofv3_documents::INIT;

const MALLOC: i64 = 0;
const MEMCPY: i64 = 5;
const GEMM_NAME: &str = "Cijk_Ailk_Bljk_SB_MT64";
const COLLECTIVE_NAME: &str = "ncclDevKernel_AllReduce_Sum";

/// A collective on a stream and queue of its own.
fn collective(dispatch_id: i64, correlation_id: i64, start: i64, end: i64) -> Value {
    let mut collective = kernel(dispatch_id, correlation_id, FIRST_GPU, start, end);
    collective["dispatch_info"]["kernel_id"] = json!(COLLECTIVE);
    collective["dispatch_info"]["queue_id"]["handle"] = json!(4);
    collective["stream_id"]["handle"] = json!(5);
    collective
}

/// Times in nanoseconds after the start of the process. One thread launches GEMMs 1, 3 and 5 on one stream and collectives
/// 2 and 4 on another, waits for the device, allocates and copies:
///
/// | host | | GPU | |
/// | --- | --- | --- | --- |
/// | hipLaunchKernel | 1000–1100 | GEMM 1 | 1150–3200 |
/// | hipLaunchKernel | 1110–1120 | collective 2 | 1200–1900 |
/// | hipDeviceSynchronize | 1200–3300 | | |
/// | hipMalloc | 3350–3450 | | |
/// | hipLaunchKernel | 3500–3600 | GEMM 3 | 3700–5000 |
/// | hipLaunchKernel | 3610–3620 | collective 4 | 3650–6500 |
/// | hipMemcpy | 5500–7000 | copy | 5900–6800 |
/// | hipLaunchKernel | 7100–7400 | GEMM 5 | 7300–8000 |
///
/// GEMM 5 starts inside of its call, 200 after that began, which is later than anything in its stream ended. The call came
/// 100 after the copy's, which returned 200 after the copy. The copy started 400 into its call. That came 1880 after
/// the second of two launches, the first of which came 200 after the wait for the device, which ended 100 after GEMM 1.
fn program() -> Value {
    let calls = vec![
        event(HIP, LAUNCH, 101, 1_000, 1_100),
        event(HIP, LAUNCH, 102, 1_110, 1_120),
        event(HIP, SYNCHRONISE, 200, 1_200, 3_300),
        event(HIP, MALLOC, 201, 3_350, 3_450),
        event(HIP, LAUNCH, 103, 3_500, 3_600),
        event(HIP, LAUNCH, 104, 3_610, 3_620),
        event(HIP, MEMCPY, 105, 5_500, 7_000),
        event(HIP, LAUNCH, 106, 7_100, 7_400),
    ];
    let mut copy = event(COPY, 2, 105, 5_900, 6_800);
    copy["src_agent_id"] = json!({"handle": 900});
    copy["dst_agent_id"] = json!({"handle": FIRST_GPU});
    copy["bytes"] = json!(4096);
    let kernels = vec![
        kernel(1, 101, FIRST_GPU, 1_150, 3_200),
        collective(2, 102, 1_200, 1_900),
        kernel(3, 103, FIRST_GPU, 3_700, 5_000),
        collective(4, 104, 3_650, 6_500),
        kernel(5, 106, FIRST_GPU, 7_300, 8_000),
    ];
    process_of(1, &[("hip_api", calls), ("memory_copy", vec![copy]), ("kernel_dispatch", kernels)])
}

#[test]
fn the_path_is_told_part_by_part() {
    let (_directory, input) = written(&[program()]);
    let path = records(&["table", "critical_path", &input]);
    let told: Vec<Value> = path
        .iter()
        .map(|part| {
            let start = part["start_ns"].as_i64().unwrap() - INIT;
            json!([start, part["duration_ns"], part["kind"], part["name"], part["reached_by"]])
        })
        .collect();
    assert_eq!(
        Value::from(told),
        json!([
            [1_150, 2_050, "kernel", GEMM_NAME, "launch"],
            [3_200, 100, "sync_wakeup", "hipDeviceSynchronize", "wait"],
            [3_300, 50, "host", null, "thread"],
            [3_350, 100, "api", "hipMalloc", "thread"],
            [3_450, 50, "host", null, "thread"],
            [3_500, 100, "api", "hipLaunchKernel", "thread"],
            [3_600, 10, "host", null, "thread"],
            [3_610, 10, "api", "hipLaunchKernel", "thread"],
            [3_620, 1_880, "host", null, "thread"],
            [5_500, 400, "api", "hipMemcpy", "thread"],
            [5_900, 900, "copy", "H2D", "launch"],
            [6_800, 200, "sync_wakeup", "hipMemcpy", "wait"],
            [7_000, 100, "host", null, "thread"],
            [7_100, 200, "api", "hipLaunchKernel", "thread"],
            [7_300, 700, "kernel", GEMM_NAME, "launch"]
        ])
    );
    let longest = records(&["table", "critical_path", &input, "--top", "2", "--name", "short"]);
    assert_eq!([&longest[0]["target_id"], &longest[1]["kind"]], [&json!(1), &json!("host")]);

    let summary = records(&["table", "critical_path_summary", &input]);
    let told: Vec<Value> = summary
        .iter()
        .map(|row| json!([row["kind"], row["name"], row["parts"], row["path_ns"], row["total_ns"]]))
        .collect();
    assert_eq!(
        Value::from(told),
        json!([
            ["kernel", GEMM_NAME, 2, 2_750, 4_050],
            ["host", null, 5, 2_090, null],
            ["copy", "H2D", 1, 900, 900],
            ["api", "hipMemcpy", 1, 400, null],
            ["api", "hipLaunchKernel", 3, 310, null],
            ["sync_wakeup", "hipMemcpy", 1, 200, null],
            ["api", "hipMalloc", 1, 100, null],
            ["sync_wakeup", "hipDeviceSynchronize", 1, 100, null],
            ["kernel", COLLECTIVE_NAME, 0, 0, 3_550]
        ])
    );
    // 2750 of 6850, and of 4050.
    assert_eq!(
        (summary[0]["path_pct"].as_f64(), summary[0]["critical_pct"].as_f64()),
        (Some(40.14598540145985), Some(67.90123456790124))
    );
    // The window 3200 to 4000 is all on the path.
    let window = format!("{}ns:{}ns", INIT + 3_200, INIT + 4_000);
    let within = records(&["table", "critical_path_summary", &input, "--window", &window, "--by", "process"]);
    assert_eq!(within.iter().filter_map(|row| row["path_ns"].as_i64()).sum::<i64>(), 800);
}

/// Collective 2 could end at 3300, when the wait for the device returns; GEMM 3 at 7300, when GEMM 5 starts on its stream;
/// collective 4 at 8000, the end. If GEMMs took no time, the wait would return with collective 2 at 1900, 1400 earlier,
/// and GEMM 5 would end 1400 + 700 earlier. Collectives are not on the path, so that nothing is saved.
#[test]
fn slack_and_savings() {
    let (_directory, input) = written(&[program()]);
    let slack =
        records(&["sql", "SELECT dispatch_id, path_ns, slack_ns FROM dispatch_slack ORDER BY dispatch_id", &input]);
    let told: Vec<Value> = slack.iter().map(|row| json!([row["path_ns"], row["slack_ns"]])).collect();
    assert_eq!(Value::from(told), json!([[2_050, 0], [0, 1_400], [0, 2_300], [0, 1_500], [700, 0]]));

    let kernels = records(&["table", "kernel_slack", &input]);
    assert_eq!(
        kernels,
        [
            json!({"rank": 0, "kernel_name": GEMM_NAME, "calls": 3, "critical_calls": 2, "total_ns": 4_050, "path_ns": 2_750,
                "critical_pct": 67.90123456790124, "without_slack": 2, "min_slack_ns": 0, "median_slack_ns": 0.0, "max_slack_ns": 2_300}),
            json!({"rank": 0, "kernel_name": COLLECTIVE_NAME, "calls": 2, "critical_calls": 0, "total_ns": 3_550, "path_ns": 0,
                "critical_pct": 0.0, "without_slack": 0, "min_slack_ns": 1_400, "median_slack_ns": 1_450.0, "max_slack_ns": 1_500}),
        ]
    );
    let savings = records(&["table", "what_if_free", &input]);
    let told: Vec<Value> =
        savings.iter().map(|row| json!([row["kernel_name"], row["at_most_ns"], row["saved_ns"]])).collect();
    assert_eq!(Value::from(told), json!([[GEMM_NAME, 2_750, 2_100], [COLLECTIVE_NAME, 0, 0]]));
    // 2100 of 6850; 6850 over 4750.
    assert_eq!(savings[0]["saved_pct"].as_f64(), Some(30.656934306569344));
    assert_eq!(savings[0]["speedup_at_most"].as_f64(), Some(1.4421052631578948));
}

/// Six times a GEMM of 400, a gap of 50, a collective of 450 on the same stream and 100 before the next, whose launches were
/// not recorded: 850 in kernels and 150 between, of which the last one has no 100.
#[test]
fn iterations_have_their_share() {
    let kernels = (0..6).flat_map(|step| {
        let mut collective = kernel(2 * step + 2, 0, FIRST_GPU, 1_000 * step + 450, 1_000 * step + 900);
        collective["dispatch_info"]["kernel_id"] = json!(COLLECTIVE);
        [kernel(2 * step + 1, 0, FIRST_GPU, 1_000 * step, 1_000 * step + 400), collective]
    });
    let (_directory, input) = written(&[process_of(1, &[("kernel_dispatch", kernels.collect())])]);
    let told: Vec<Value> = records(&["table", "critical_path_by_iteration", &input])
        .iter()
        .map(|row| json!([row["iteration"], row["duration_ns"], row["kernel_ns"], row["queue_wait_ns"], row["api_ns"]]))
        .collect();
    let expected =
        (0..6).map(|step| if step < 5 { json!([step, 1_000, 850, 150, 0]) } else { json!([5, 900, 850, 50, 0]) });
    assert_eq!(told, expected.collect::<Vec<_>>());
}

#[test]
fn a_trace_without_gpu_work_has_no_path() {
    let calls = vec![event(HIP, LAUNCH, 101, 1_000, 1_100), event(HIP, SYNCHRONISE, 200, 1_200, 3_300)];
    let (_directory, input) = written(&[process_of(1, &[("hip_api", calls)])]);
    for table in ["critical_path", "dispatch_slack", "kernel_savings"] {
        assert_eq!(records(&["sql", &format!("SELECT * FROM {table}"), &input]), [] as [Value; 0], "{table}");
    }
    let nothing = run(&["table", "critical_path", &input]);
    assert_eq!(nothing.code, 3, "{}", nothing.stderr);
}

#[test]
fn paths_are_as_long_as_spans() {
    let (_directory, made) = written(&[program()]);
    let fixtures =
        ["fixtures/two_nodes", "fixtures/two_nodes_json", "fixtures/hostile", "fixtures/merged", "fixtures/counters"];
    check_lengths_of_paths(fixtures.into_iter().map(str::to_owned).chain([made]));
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn paths_are_as_long_as_spans_of_real_traces() {
    let traces = ["rocpd-ranks", "rocpd-markers/rank2_1560_results.db", "rpd-ranks/extend.rpd", "rocpd-early"];
    check_lengths_of_paths(traces.into_iter().map(real));
}

fn check_lengths_of_paths(inputs: impl Iterator<Item = String>) {
    for input in inputs {
        let times = "SELECT process, start_ns, end_ns FROM kernels WHERE valid UNION ALL \
                     SELECT process, start_ns, end_ns FROM memory_copies WHERE valid";
        let by_process = |sql: &str| -> BTreeMap<i64, Value> {
            let rows = records(&["sql", sql, &input, "-q"]);
            rows.into_iter().map(|row| (row["process"].as_i64().unwrap(), row)).collect()
        };
        let spans = by_process(&format!(
            "SELECT process, MIN(start_ns) AS first_ns, MAX(end_ns) AS last_ns, MAX(end_ns) - MIN(start_ns) AS length_ns \
             FROM ({times}) AS w GROUP BY process"
        ));
        let paths = by_process(
            "SELECT process, MIN(start_ns) AS first_ns, MAX(end_ns) AS last_ns, SUM(duration_ns) AS length_ns \
             FROM critical_path GROUP BY process",
        );
        assert_eq!(paths, spans, "{input}");
        let torn = "SELECT COUNT(*) AS torn FROM (SELECT start_ns, LAG(end_ns) OVER (PARTITION BY process ORDER BY ordinal) AS \
                    before_ns FROM critical_path) AS p WHERE start_ns <> before_ns";
        let wrong_slack =
            "SELECT COUNT(*) AS wrong FROM dispatch_slack WHERE slack_ns < 0 OR (path_ns > 0 AND slack_ns > 0)";
        let wrong_saving = "SELECT COUNT(*) AS wrong FROM kernel_savings WHERE saved_ns < 0 OR saved_ns > path_ns";
        for sql in [torn, wrong_slack, wrong_saving] {
            assert!(succeed(&["sql", sql, &input, "-f", "csv", "-q"]).ends_with("\n0\n"), "{input} {sql}");
        }
        // Without a period there are no iterations, which has its own exit code.
        let ask = ["table", "critical_path_by_iteration", &input, "-q"];
        let rows = if run(&ask).code == 3 { Vec::new() } else { records(&ask) };
        for row in rows {
            let kinds = ["kernel", "copy", "api", "host", "launch_latency", "queue_wait", "sync_wakeup", "unknown"];
            let sum: i64 = kinds.iter().filter_map(|kind| row[format!("{kind}_ns")].as_i64()).sum();
            assert_eq!(Some(sum), row["duration_ns"].as_i64(), "{input} {row}");
        }
    }
}
