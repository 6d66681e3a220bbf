//! Launches, queues, calls and graphs on a small trace whose answers are worked out in comments.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{records, run, succeed};
use crate::rocprofv3_documents::{call, dispatch, document, process};

/// Begin of the time line of the comments.
const T: i64 = 2_000_000;
const LAUNCH: i64 = 1;
const WRAPPER: i64 = 2;
const SYNCHRONIZE: i64 = 3;
const COPY_ASYNC: i64 = 4;
const GRAPH_LAUNCH: i64 = 5;
/// Kernels and GPUs by their numbers in the document.
const SCALE: i64 = 8;
const RENAME: i64 = 5;
const GPU: u64 = 901;

/// A call of the HIP runtime.
fn hip(operation: i64, id: i64, from: i64, to: i64) -> Value {
    call(1, operation, id, T + from, T + to)
}

/// A dispatch with the correlation id of a call.
fn kernel(number: i64, kernel: i64, id: i64, from: i64, to: i64) -> Value {
    let mut dispatch = dispatch(number, kernel, GPU, T + from, T + to);
    dispatch["correlation_id"]["internal"] = json!(id);
    dispatch
}

/// A trace with these calls, markers, dispatches and copies.
fn trace(calls: &[Value], markers: &[Value], kernels: &[Value], copies: &[Value]) -> (TempDir, String) {
    let mut process = process(70);
    process["strings"]["buffer_records"][1]["operations"] = json!([
        "hipMalloc",
        "hipLaunchKernel",
        "hipblasGemmEx",
        "hipDeviceSynchronize",
        "hipMemcpyAsync",
        "hipGraphLaunch"
    ]);
    process["buffer_records"] =
        json!({"kernel_dispatch": kernels, "hip_api": calls, "marker_api": markers, "memory_copy": copies});
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("1_results.json");
    std::fs::write(&path, document(&[process]).to_string()).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (directory, path)
}

/// The trace of the comments: times in nanoseconds from `T`.
///
/// | id | call | dispatch or copy |
/// | --- | --- | --- |
/// | 101 | launch 0..100 | scale 300..1300 |
/// | 102 | launch 100..200 | scale 1310..2310, right behind the first |
/// | 103 | library 5000..5100, in it launch 5010..5060, in it a marker 5020..5030 | rename 5400..5450 |
/// | 104 | none was recorded | rename 6000..6050 |
/// | 105 | copy 7000..7050 | H2D 7100..7500 |
/// | 106 | wait 5100..7300 | |
/// | 107 | launch 8000..8010 | ends before it starts: left out everywhere |
fn anatomy() -> (TempDir, String) {
    let calls = [
        hip(LAUNCH, 101, 0, 100),
        hip(LAUNCH, 102, 100, 200),
        hip(WRAPPER, 103, 5000, 5100),
        hip(LAUNCH, 103, 5010, 5060),
        hip(COPY_ASYNC, 105, 7000, 7050),
        hip(SYNCHRONIZE, 106, 5100, 7300),
        hip(LAUNCH, 107, 8000, 8010),
    ];
    let markers = [call(2, 1, 103, T + 5020, T + 5030)];
    let kernels = [
        kernel(1, SCALE, 101, 300, 1300),
        kernel(2, SCALE, 102, 1310, 2310),
        kernel(3, RENAME, 103, 5400, 5450),
        kernel(4, RENAME, 104, 6000, 6050),
        kernel(5, RENAME, 107, 8100, 8050),
    ];
    let mut copy = call(3, 2, 105, T + 7100, T + 7500);
    for (name, value) in [("src_agent_id", json!({"handle": 900})), ("dst_agent_id", json!({"handle": GPU}))] {
        copy[name] = value;
    }
    copy["bytes"] = json!(4096);
    copy["stream_id"] = json!({"handle": 2});
    trace(&calls, &markers, &kernels, &[copy])
}

/// Values of the records of an answer, by columns.
fn values(records: &[Value], columns: &str) -> Vec<Value> {
    let columns: Vec<&str> = columns.split(' ').collect();
    records.iter().map(|record| columns.iter().map(|column| record[*column].clone()).collect()).collect()
}

#[test]
fn launches_name_the_innermost_call() {
    let (_directory, input) = anatomy();
    let trace = records(&["table", "launch_trace", &input]);
    assert_eq!(
        values(&trace, "correlation_id kind api_name api_ns queue_delay_ns duration_ns total_ns"),
        [
            // 100 + 1110 + 1000 from the start of the call to the end of the kernel.
            json!([102, "kernel", "hipLaunchKernel", 100, 1110, 1000, 2210]),
            // Neither the library around the call nor the marker in it.
            json!([103, "kernel", "hipLaunchKernel", 50, 340, 50, 440]),
            json!([101, "kernel", "hipLaunchKernel", 100, 200, 1000, 1300]),
            json!([105, "copy", "hipMemcpyAsync", 50, 50, 400, 500]),
        ]
    );
    for launch in &trace {
        let sum: i64 =
            ["api_ns", "queue_delay_ns", "duration_ns"].iter().filter_map(|part| launch[*part].as_i64()).sum();
        assert_eq!(launch["total_ns"], json!(sum));
    }
    let longest = records(&["table", "launch_trace", &input, "--top", "1", "--by", "kind"]);
    assert_eq!(values(&longest, "kind correlation_id"), [json!(["copy", 105]), json!(["kernel", 102])]);
}

#[test]
fn the_summary_counts_what_has_no_launch() {
    let (_directory, input) = anatomy();
    let summary = records(&["table", "launch_summary", &input]);
    assert_eq!(
        values(&summary, "calls without_launch without_launch_pct mean_api_ns mean_queue_delay_ns total_kernel_ns"),
        // scale: delays 200 and 1110; rename: only one of two dispatches has a call.
        [json!([2, 0, 0.0, 100.0, 655.0, 2000]), json!([2, 1, 50.0, 50.0, 340.0, 100])]
    );
    assert_eq!(
        values(&summary, "prequeued_pct exposed_launch_ns launch_bound_calls_pct launch_bound"),
        [
            // The GPU stood idle for the first from the start of its call on, 300 ns; the second was issued at 200
            // while the first ran until 1300, so that only 10 ns are exposed. Both ran for longer.
            json!([50.0, 310, 0.0, "no"]),
            // The GPU was idle since 2310, the call began at 5010: 390 ns for a kernel of 50 ns.
            json!([0.0, 390, 100.0, "yes"]),
        ]
    );
    let least = records(&["table", "launch_summary", &input, "--launch-bound-pct", "0"]);
    assert_eq!(values(&least, "launch_bound"), [json!(["yes"]), json!(["yes"])]);
    let chosen = records(&["table", "launch_summary", &input, "--kernel", "scale"]);
    assert_eq!(values(&chosen, "calls prequeued_pct"), [json!([2, 50.0])]);
    // Dispatches before the window still count: the second dispatch stays prequeued.
    let later = format!("{}:{}", T + 2000, T + 3000);
    let windowed = records(&["table", "launch_summary", &input, "--window", &later]);
    assert_eq!(values(&windowed, "calls prequeued_pct"), [json!([1, 100.0])]);
}

#[test]
fn waiting_calls_say_what_the_gpu_did() {
    let (_directory, input) = anatomy();
    // In 5100..7300 ran rename 5400..5450 and 6000..6050 and the copy from 7100 on: 50 + 50 + 200.
    let sync = records(&["table", "api_sync", &input]);
    assert_eq!(
        values(&sync, "name class calls blocked_ns gpu_busy_ns gpu_idle_ns"),
        [json!(["hipDeviceSynchronize", "synchronise", 1, 2200, 300, 1900])]
    );
    let classes = records(&["table", "api_classes", &input]);
    assert_eq!(
        values(&classes, "class calls total_ns self_ns gpu_busy_ns"),
        [
            // The copy is called on the same thread in the wait.
            json!(["synchronise", 1, 2200, 2150, 300]),
            // 100 + 100 + 50 + 10, of which the marker takes 10; no kernel runs while one is launched.
            json!(["launch", 4, 260, 250, 0]),
            json!(["copy", 1, 50, 50, 0]),
            // The library call without the launch.
            json!(["other", 1, 100, 50, 0]),
        ]
    );
    let cut = format!("{}:{}", T + 6000, T + 7000);
    let clipped = records(&["table", "api_sync", &input, "--window", &cut, "--window-mode", "clip"]);
    assert_eq!(values(&clipped, "blocked_ns gpu_busy_ns"), [json!([1000, 50])]);
}

#[test]
fn queues_fill_and_run_empty() {
    let (_directory, input) = anatomy();
    // Issued at 100 and 200, the launch of 103 at 5060; that of 104 is unknown, so that it only runs.
    //   100 w1  200 w2  300 w1 r1  1300 w1  1310 r1  2310 -  5060 w1  5400 r1  5450 -  6000 r1  6050
    let summary = records(&["table", "queue_summary", &input, "--full", "2"]);
    assert_eq!(
        values(&summary, "queue_id span_ns empty_ns waiting_ns full_ns max_depth"),
        // Empty 2310..5060 and 5450..6000; waiting 100..1310 and 5060..5400; two at once from 200 to 1300.
        [json!([3, 5950, 2750 + 550, 1210 + 340, 1100, 2])]
    );
    let bins = records(&["table", "queue_depth", &input, "--bins", "2"]);
    assert_eq!(
        values(&bins, "bin bin_start_ns bin_end_ns max_depth empty_ns"),
        // The bins are 100..3075 and 3075..6050.
        [json!([0, 0, 2975, 2, 3075 - 2310]), json!([1, 2975, 5950, 1, 5060 - 3075 + 550])]
    );
    // Depth times time in the first bin: 100 + 2 * 1100 + 10 + 1000.
    let mean = bins[0]["mean_depth"].as_f64().unwrap();
    assert!((mean - 3310.0 / 2975.0).abs() < 1e-9, "{mean}");
}

#[test]
fn graphs_are_known_by_what_they_run() {
    let calls = [
        hip(GRAPH_LAUNCH, 201, 0, 100),
        hip(GRAPH_LAUNCH, 202, 1000, 1100),
        hip(GRAPH_LAUNCH, 203, 2000, 2100),
        hip(LAUNCH, 204, 3000, 3010),
    ];
    let kernels = [
        kernel(1, SCALE, 201, 50, 80),
        kernel(2, RENAME, 201, 90, 150),
        // The same work, its branches in another order.
        kernel(3, RENAME, 202, 1050, 1110),
        kernel(4, SCALE, 202, 1060, 1090),
        // Another graph.
        kernel(5, SCALE, 203, 2050, 2080),
        // No graph.
        kernel(6, SCALE, 204, 3050, 3080),
    ];
    let (_directory, input) = trace(&calls, &[], &kernels, &[]);
    let replays = records(&["table", "graph_replays", &input]);
    assert_eq!(
        values(&replays, "graph known_by replay correlation_id api_ns queue_delay_ns span_ns kernels nodes work_ns"),
        [
            json!([0, "same work", 0, 201, 100, -50, 100, 2, 0, 90]),
            json!([0, "same work", 1, 202, 100, -50, 60, 2, 0, 90]),
            json!([1, "same work", 0, 203, 100, -50, 30, 1, 0, 30]),
        ]
    );
    let summary = records(&["table", "graph_summary", &input]);
    assert_eq!(
        values(&summary, "graph replays kernels least_work mean_span_ns min_span_ns total_work_ns"),
        [json!([0, 2, 4, 2, 80.0, 60, 180]), json!([1, 1, 1, 1, 30.0, 30, 30])]
    );
    let nodes = records(&["table", "graph_nodes", &input, "--top", "1"]);
    // The branches change places, so that each position ran each kernel once; of equal times the first position wins.
    assert_eq!(values(&nodes, "graph node_id position runs total_ns"), [json!([0, null, 0, 1, 60])]);
    let (_directory, input) = trace(&calls[3..], &[], &kernels[5..], &[]);
    let none = run(&["table", "graph_summary", &input]);
    assert!(none.code == 3 && none.stderr.contains("makes a row of graph_work"), "{}", none.stderr);
}

/// Twelve launches 6 µs apart, each call 4 µs long, each kernel 2 µs long and on its way for 8 µs: it starts 12 µs after its
/// call began, 4 µs after the end of the one before, which still ran when the call returned, 2 µs after that. The host sets
/// the pace. Where it launches every 100 ns pauses of 8 µs are not its doing: the first alone waits for its launch.
#[test]
fn launches_on_their_way_side_by_side_are_launch_bound() {
    for (pace, apart, bound) in [(6_000, 6_000, 12.0), (100, 10_000, 1.0)] {
        let calls: Vec<Value> =
            (0..12).map(|at| hip(LAUNCH, 300 + at, at * pace, at * pace + 4_000 * pace / 6_000)).collect();
        let kernels: Vec<Value> = (0..12)
            .map(|at| {
                let start = 12_000 + at * apart;
                kernel(at + 1, SCALE, 300 + at, start, start + 2_000)
            })
            .collect();
        let (_directory, input) = trace(&calls, &[], &kernels, &[]);
        let summary = records(&["table", "launch_summary", &input]);
        let expected = json!([12, 100.0 * bound / 12.0, if bound > 6.0 { "yes" } else { "no" }]);
        let rounded = |value: &Value| (value[1].as_f64().unwrap() * 1e6).round();
        let told = values(&summary, "calls launch_bound_calls_pct launch_bound");
        assert_eq!(
            (&told[0][0], &told[0][2], rounded(&told[0])),
            (&expected[0], &expected[2], rounded(&expected)),
            "{pace}"
        );
    }
}

#[test]
fn tables_made_on_demand_can_be_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (plain, kept) = (path("plain"), path("kept"));
    succeed(&["convert", "fixtures/two_nodes", "-o", &plain]);
    succeed(&["convert", "fixtures/two_nodes", "-o", &kept, "--with", "all"]);
    let has = |dataset: &str, table: &str| std::path::Path::new(dataset).join(table).exists();
    assert!(!has(&plain, "launches") && has(&kept, "launches") && has(&kept, "api_calls"));
    for query in ["launch_summary", "launch_trace", "api_classes", "api_sync", "queue_summary", "queue_depth"] {
        let ask = |input: &str, more: &[&str]| succeed(&[&["table", query, input, "-f", "csv"], more].concat());
        assert_eq!(ask("fixtures/two_nodes", &[]), ask(&plain, &[]), "{query}");
        assert_eq!(ask("fixtures/two_nodes", &[]), ask(&kept, &["--threads", "1"]), "{query}");
        let window = ["--window", "20%:60%", "--gpu", "0"];
        assert_eq!(ask("fixtures/two_nodes", &window), ask(&kept, &window), "{query}");
    }
    // Another choice of tables is another dataset; the same one is not written again.
    let again = run(&["convert", "fixtures/two_nodes", "-o", &kept, "--with", "all"]);
    assert!(again.stderr.contains("is up to date"), "{}", again.stderr);
    let fewer = run(&["convert", "fixtures/two_nodes", "-o", &kept, "--with", "launches"]);
    assert!(fewer.stderr.contains("wrote"), "{}", fewer.stderr);
    assert!(has(&kept, "launches") && !has(&kept, "api_calls"));
    for (table, reason) in [("nonsense", "no table is named"), ("kernels", "is always kept")] {
        let refused = run(&["convert", "fixtures/two_nodes", "-o", &kept, "--with", table]);
        assert!(refused.code == 2 && refused.stderr.contains(reason), "{}", refused.stderr);
    }
}

/// The launch 0..100 starts at 8100; a copy between two GPUs lasts until 8000 and keeps both of them busy, whichever way it
/// goes: the GPU waits for 100 ns.
#[test]
fn a_copy_between_gpus_keeps_both_busy() {
    for (source, destination) in [(GPU, 902), (902, GPU)] {
        let mut copy = call(3, 2, 105, T + 50, T + 8000);
        copy["src_agent_id"] = json!({"handle": source});
        copy["dst_agent_id"] = json!({"handle": destination});
        copy["bytes"] = json!(4096);
        copy["stream_id"] = json!({"handle": 2});
        let (_directory, input) =
            trace(&[hip(LAUNCH, 101, 0, 100)], &[], &[kernel(1, SCALE, 101, 8100, 8150)], &[copy]);
        let rows = records(&["table", "launch_summary", &input]);
        assert_eq!(rows[0]["exposed_launch_ns"], 100, "{source} to {destination}: {rows:?}");
    }
}
