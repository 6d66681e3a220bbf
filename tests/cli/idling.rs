//! Idle time and its causes, overlap, and devices: small traces whose answers are worked out here, and sums that hold on all.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{real, records, run};
use crate::rocprofv3_documents::{INIT, call, dispatch, document, process};

pub const HIP: i64 = 1;
const MARKER: i64 = 2;
pub const COPY: i64 = 3;
const CONTROL: i64 = 10;
pub const LAUNCH: i64 = 1;
pub const SYNCHRONISE: i64 = 2;
const GRAPH_LAUNCH: i64 = 3;
const COPY_ASYNC: i64 = 4;
pub const GEMM: i64 = 8;
pub const COLLECTIVE: i64 = 5;
pub const FIRST_GPU: u64 = 901;
const SECOND_GPU: u64 = 902;

/// A call, copy or range of thread 70 with times since the start of the process.
pub fn event(kind: i64, operation: i64, id: i64, start: i64, end: i64) -> Value {
    call(kind, operation, id, INIT + start, INIT + end)
}

/// A kernel with times since the start of the process.
pub fn kernel(dispatch_id: i64, correlation_id: i64, gpu: u64, start: i64, end: i64) -> Value {
    let mut kernel = dispatch(dispatch_id, GEMM, gpu, INIT + start, INIT + end);
    kernel["correlation_id"]["internal"] = json!(correlation_id);
    kernel
}

/// A process of 10 µs with GPUs 901 and 902 and nothing but the given records.
pub fn process_of(pid: i64, records: &[(&str, Vec<Value>)]) -> Value {
    let mut process = process(pid);
    process["metadata"]["fini_time"] = json!(INIT + 10_000);
    for (_, list) in process["buffer_records"].as_object_mut().unwrap() {
        *list = json!([]);
    }
    let kinds = process["strings"]["buffer_records"].as_array_mut().unwrap();
    kinds[1]["operations"] = json!([
        "hipMalloc",
        "hipLaunchKernel",
        "hipDeviceSynchronize",
        "hipGraphLaunch",
        "hipMemcpyAsync",
        "hipMemcpy"
    ]);
    kinds.push(json!({"kind": "MARKER_CONTROL_API", "operations": ["roctxProfilerPause", "roctxProfilerResume"]}));
    for (name, list) in records {
        process["buffer_records"][*name] = json!(list);
    }
    for (symbol, name) in [(1, "Cijk_Ailk_Bljk_SB_MT64"), (2, "ncclDevKernel_AllReduce_Sum")] {
        for field in ["formatted_kernel_name", "demangled_kernel_name", "truncated_kernel_name"] {
            process["kernel_symbols"][symbol][field] = json!(name);
        }
    }
    process
}

/// A document of processes and its path.
pub fn written(processes: &[Value]) -> (TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("1_results.json");
    std::fs::write(&path, document(processes).to_string()).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (directory, path)
}

/// Times in nanoseconds after the start of the process. GPU 0 (thread 70 does everything):
///
/// | stretch | what comes next | why |
/// | --- | --- | --- |
/// | 0–2000 | kernel 1 | lead |
/// | 3000–4050 | kernel 2, launched 3900–4000 | in hipDeviceSynchronize until 3300: sync 300, host_bound 700, launch_delay 50 |
/// | – | kernel 3 overlaps kernel 2 on another stream | kernel 2 ends at 5000, kernel 3 at 5200 |
/// | 5200–5300 | copy, launched 4020–4030 | launch_delay 100 |
/// | 5300–5600 | kernel 4 | copy_only 300 |
/// | 5600–6600 | kernel 4, launched 6400–6500 | paused from 5700 to 6300: host_bound 100 + 200, paused 600, launch_delay 100 |
/// | 7000–7100 | kernel 5, by hipGraphLaunch 6510–9000 | host_bound 100 |
/// | 7200–7300 | kernel 6, of the same call | some of it has begun: launch_delay 100 |
/// | 7400–8000 | kernel 7, whose call is not recorded | no_record 600 |
/// | 8100–10000 | nothing | tail 1900 |
///
/// GPU 1 has one kernel, 2100–2200, launched 1110–1120, in the same span: before it launch_delay 100, after it 5900 in which
/// the thread synchronises until 3300 (sync 1100), the recording is stopped for 600, and 4200 are host_bound.
fn anatomy() -> Value {
    let calls = vec![
        event(HIP, LAUNCH, 101, 1_000, 1_100),
        event(HIP, LAUNCH, 107, 1_110, 1_120),
        event(HIP, SYNCHRONISE, 200, 1_200, 3_300),
        event(HIP, LAUNCH, 102, 3_900, 4_000),
        event(HIP, LAUNCH, 103, 4_010, 4_020),
        event(HIP, COPY_ASYNC, 104, 4_020, 4_030),
        event(HIP, LAUNCH, 105, 6_400, 6_500),
        event(HIP, GRAPH_LAUNCH, 106, 6_510, 9_000),
    ];
    let mut copy = event(COPY, 2, 104, 5_300, 5_600);
    copy["src_agent_id"] = json!({"handle": 900});
    copy["dst_agent_id"] = json!({"handle": FIRST_GPU});
    copy["bytes"] = json!(4096);
    let markers = vec![
        event(MARKER, 1, 201, 3_350, 4_100),
        event(CONTROL, 0, 301, 5_700, 5_700),
        event(CONTROL, 1, 302, 6_200, 6_300),
    ];
    let kernels = vec![
        kernel(1, 101, FIRST_GPU, 2_000, 3_000),
        kernel(8, 107, SECOND_GPU, 2_100, 2_200),
        kernel(2, 102, FIRST_GPU, 4_050, 5_000),
        kernel(3, 103, FIRST_GPU, 4_500, 5_200),
        kernel(4, 105, FIRST_GPU, 6_600, 7_000),
        kernel(5, 106, FIRST_GPU, 7_100, 7_200),
        kernel(6, 106, FIRST_GPU, 7_300, 7_400),
        kernel(7, 999, FIRST_GPU, 8_000, 8_100),
    ];
    process_of(
        1,
        &[("hip_api", calls), ("memory_copy", vec![copy]), ("marker_api", markers), ("kernel_dispatch", kernels)],
    )
}

fn causes(input: &str, options: &[&str]) -> BTreeMap<(i64, String), i64> {
    let rows = records(&[&["table", "idle_by_cause", input], options].concat());
    let key = |row: &Value| (row["gpu"].as_i64().unwrap(), row["cause"].as_str().unwrap().to_owned());
    rows.iter().map(|row| (key(row), row["total_ns"].as_i64().unwrap())).collect()
}

fn of(gpu: i64, causes: &[(&str, i64)]) -> BTreeMap<(i64, String), i64> {
    causes.iter().map(|(cause, time)| ((gpu, (*cause).to_owned()), *time)).collect()
}

#[test]
fn every_cause_is_told() {
    let (_directory, input) = written(&[anatomy()]);
    let mut expected = of(
        0,
        &[
            ("lead", 2_000),
            ("sync", 300),
            ("host_bound", 1_100),
            ("launch_delay", 350),
            ("copy_only", 300),
            ("paused", 600),
            ("no_record", 600),
            ("tail", 1_900),
        ],
    );
    let second = [
        ("lead", 2_000),
        ("launch_delay", 100),
        ("sync", 1_100),
        ("host_bound", 4_200),
        ("paused", 600),
        ("tail", 1_900),
    ];
    expected.append(&mut of(1, &second));
    assert_eq!(causes(&input, &[]), expected);
    // The window 3500 to 5250 keeps the gap before kernel 2 from 3500 on, and half of the one before the copy.
    let window = format!("{}ns:{}ns", INIT + 3_500, INIT + 5_250);
    let mut expected = of(0, &[("host_bound", 500), ("launch_delay", 100)]);
    expected.append(&mut of(1, &[("host_bound", 1_750)]));
    assert_eq!(causes(&input, &["--window", &window]), expected);
}

#[test]
fn gaps_tell_what_surrounds_them() {
    let (_directory, input) = written(&[anatomy()]);
    let gaps = records(&["table", "idle_gaps", &input, "--gpu", "0"]);
    let told: Vec<Value> = gaps
        .iter()
        .map(|gap| {
            let start = gap["start_ns"].as_i64().unwrap() - INIT;
            json!([start, gap["duration_ns"], gap["cause"], gap["next_kind"], gap["api_name"], gap["range"]])
        })
        .collect();
    assert_eq!(
        Value::from(told),
        json!([
            // hipDeviceSynchronize ended before the part that is host_bound; its last 100 ns are in hipLaunchKernel.
            [3_000, 1_050, "host_bound", "kernel", "hipLaunchKernel", "step 1"],
            [5_600, 1_000, "paused", "kernel", null, null],
            [7_400, 600, "no_record", "kernel", "hipGraphLaunch", null],
            [5_200, 100, "launch_delay", "copy", null, null],
            [7_000, 100, "host_bound", "kernel", "hipGraphLaunch", null],
            [7_200, 100, "launch_delay", "kernel", "hipGraphLaunch", null]
        ])
    );
    let first = &gaps[0];
    assert_eq!(
        [&first["host_bound_ns"], &first["sync_ns"], &first["launch_delay_ns"]],
        [&json!(700), &json!(300), &json!(50)]
    );
    assert_eq!((&first["tid"], &first["kernel_before"]), (&json!(70), &json!("Cijk_Ailk_Bljk_SB_MT64")));
    // 100 of the 700 ns of the part that is host_bound.
    assert_eq!(first["api_pct"].as_f64().map(f64::round), Some(14.0));
    let sync = records(&["sql", "SELECT api_name, api_ns FROM idle_gaps WHERE cause = 'sync' ORDER BY gpu", &input]);
    let waits = |ns: i64| json!({"api_name": "hipDeviceSynchronize", "api_ns": ns});
    assert_eq!(sync, [waits(300), waits(1_100)]);
}

/// Worked out from [`anatomy`]: of GPU 0 the gap 3000–4050 is in hipDeviceSynchronize until 3300, outside of calls until 3900, in
/// hipLaunchKernel until 4000; then 10 outside, 10 in hipLaunchKernel, 10 in hipMemcpyAsync, 20 outside.
#[test]
fn calls_share_idle_time_exactly() {
    let (_directory, input) = written(&[anatomy()]);
    let told = |options: &[&str]| {
        let rows = records(&[&["table", "idle_by_call", &input], options].concat());
        let row = |row: &Value| json!([row["gpu"], row["cause"], row["name"], row["idle_ns"]]);
        Value::from(rows.iter().map(row).collect::<Vec<Value>>())
    };
    let none = "no call recorded";
    let first = [
        json!([0, "host_bound", none, 800]),
        json!([0, "no_record", "hipGraphLaunch", 600]),
        json!([0, "sync", "hipDeviceSynchronize", 300]),
        json!([0, "host_bound", "hipLaunchKernel", 200]),
        json!([0, "launch_delay", "hipGraphLaunch", 190]),
        json!([0, "launch_delay", none, 140]),
        json!([0, "host_bound", "hipGraphLaunch", 100]),
        json!([0, "launch_delay", "hipLaunchKernel", 10]),
        json!([0, "launch_delay", "hipMemcpyAsync", 10]),
    ];
    let second = [
        json!([1, "host_bound", none, 2_390]),
        json!([1, "host_bound", "hipGraphLaunch", 1_590]),
        json!([1, "sync", "hipDeviceSynchronize", 1_100]),
        json!([1, "host_bound", "hipLaunchKernel", 210]),
        json!([1, "launch_delay", "hipDeviceSynchronize", 100]),
        json!([1, "host_bound", "hipMemcpyAsync", 10]),
    ];
    assert_eq!(told(&[]), Value::from([&first[..], &second[..]].concat()));
    let window = format!("{}ns:{}ns", INIT + 3_500, INIT + 5_250);
    assert_eq!(
        told(&["--window", &window, "--gpu", "0"]),
        json!([
            [0, "host_bound", none, 400],
            [0, "host_bound", "hipLaunchKernel", 100],
            [0, "launch_delay", none, 80],
            [0, "launch_delay", "hipLaunchKernel", 10],
            [0, "launch_delay", "hipMemcpyAsync", 10]
        ])
    );
    // The gap 5600–6600 is as long as the bound, the one of 1050 is longer.
    let short = records(&["table", "idle_by_call", &input, "--gpu", "0", "--short-us", "1"]);
    let of_sync = short.iter().find(|row| row["cause"] == "sync").unwrap();
    assert_eq!((&short[0]["short_ns"], &of_sync["short_ns"]), (&json!(200), &json!(0)));
    let ranges = records(&["table", "idle_by_call", &input, "--gpu", "0", "--by", "range"]);
    let step: Vec<&Value> = ranges.iter().filter(|row| row["range"] == "step 1").collect();
    let step: Vec<Value> = step.iter().map(|row| json!([row["cause"], row["name"], row["idle_ns"]])).collect();
    assert_eq!(
        Value::from(step),
        json!([
            ["host_bound", none, 550],
            ["host_bound", "hipLaunchKernel", 100],
            ["launch_delay", none, 30],
            ["launch_delay", "hipLaunchKernel", 10],
            ["launch_delay", "hipMemcpyAsync", 10]
        ])
    );
}

/// A loop in which the host takes memory for 400 µs, or works without calls for 20 µs, before each kernel of 5 µs.
#[test]
fn findings_follow_what_the_host_does() {
    let found = |gap_ns: i64, allocates: bool| {
        let (mut calls, mut kernels, step_ns) = (Vec::new(), Vec::new(), gap_ns + 10_000);
        for place in 0..200 {
            let start = 1_000 + place * step_ns;
            if allocates {
                calls.push(event(HIP, 0, 1_000 + place, start + 6_000, start + 6_000 + gap_ns - 2_000));
            }
            calls.push(event(HIP, LAUNCH, 1 + place, start + 5_500 + gap_ns, start + 6_000 + gap_ns));
            kernels.push(kernel(1 + place, 1 + place, FIRST_GPU, start + 6_500 + gap_ns, start + step_ns + 1_500));
        }
        let mut process = process_of(1, &[("hip_api", calls), ("kernel_dispatch", kernels)]);
        process["metadata"]["fini_time"] = json!(INIT + 201 * step_ns);
        let (_directory, input) = written(&[process]);
        let document = run(&["analyze", &input, "--format", "json", "-q"]).stdout;
        let document: Value = serde_json::from_str(&document).unwrap();
        document["findings"].as_array().unwrap().clone()
    };
    let of = |findings: &[Value], rule: &str| findings.iter().find(|finding| finding["rule"] == rule).cloned();
    let blocked = found(400_000, true);
    let idle = of(&blocked, "host_bound_idle").unwrap();
    let title = idle["title"].as_str().unwrap();
    assert!(
        title.starts_with("hipMalloc blocks the host: GPUs idle for ") && title.ends_with(" of that in hipMalloc"),
        "{title}"
    );
    assert!(idle["advice"].to_string().contains("hipMallocAsync"), "{idle}");
    assert!(!idle["advice"].to_string().contains("HIP graph"), "{idle}");
    assert_eq!(of(&blocked, "graph_candidate"), None);
    let looping = found(20_000, false);
    let title = of(&looping, "host_bound_idle").unwrap()["title"].as_str().unwrap().to_owned();
    assert!(title.starts_with("Host-bound: ") && title.ends_with(" of that in no recorded call"), "{title}");
}

/// Sum of a column by rank and GPU.
fn by_gpu(rows: &[Value], column: &str) -> BTreeMap<(i64, i64), i64> {
    let mut sums = BTreeMap::new();
    for row in rows {
        let gpu = (row["rank"].as_i64().unwrap(), row["gpu"].as_i64().unwrap());
        *sums.entry(gpu).or_default() += row[column].as_i64().unwrap();
    }
    sums
}

#[test]
fn causes_add_up_to_the_idle_time() {
    let (_directory, made) = written(&[anatomy()]);
    let fixtures =
        ["fixtures/two_nodes", "fixtures/two_nodes_json", "fixtures/hostile", "fixtures/merged", "fixtures/counters"];
    check_sums_of_causes(fixtures.into_iter().map(str::to_owned).chain([made]));
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn causes_add_up_to_the_idle_time_of_real_traces() {
    let traces = [
        "rocpd-ranks",
        "rocpd-markers/rank2_1560_results.db",
        "rpd-ranks/extend.rpd",
        "rocprofv3-json",
        "rocpd-early",
        "kineto/single/mi300x_ddp_resnet18.json.gz",
    ];
    check_sums_of_causes(traces.into_iter().map(real));
}

fn check_sums_of_causes(inputs: impl Iterator<Item = String>) {
    for input in inputs {
        for window in [None, Some("20%:70%")] {
            let options: Vec<&str> = window.map_or(vec![], |window| vec!["--window", window]);
            let ask = |query: &str| records(&[&["table", query, &input, "-q"], &options[..]].concat());
            let (causes, breakdown) = (ask("idle_by_cause"), ask("time_breakdown"));
            let none = breakdown.iter().map(|row| ((row["rank"].as_i64().unwrap(), row["gpu"].as_i64().unwrap()), 0));
            let of_cause = |wanted: &dyn Fn(&str) -> bool| {
                let rows: Vec<Value> =
                    causes.iter().filter(|row| wanted(row["cause"].as_str().unwrap())).cloned().collect();
                let mut sums: BTreeMap<(i64, i64), i64> = none.clone().collect();
                sums.append(&mut by_gpu(&rows, "total_ns"));
                sums
            };
            let idle = of_cause(&|cause| !["copy_only", "lead", "tail"].contains(&cause));
            assert_eq!(idle, by_gpu(&breakdown, "idle_ns"), "{input} {window:?}");
            for by in ["rank,gpu", "rank,gpu,function_name,range"] {
                let calls = records(&[&["table", "idle_by_call", &input, "-q", "--by", by], &options[..]].concat());
                for cause in ["host_bound", "sync", "launch_delay", "no_record"] {
                    let rows: Vec<Value> = calls.iter().filter(|row| row["cause"] == cause).cloned().collect();
                    let mut of_calls: BTreeMap<(i64, i64), i64> = none.clone().collect();
                    of_calls.append(&mut by_gpu(&rows, "idle_ns"));
                    assert_eq!(of_calls, of_cause(&|other| other == cause), "{input} {window:?} {by} {cause}");
                }
            }
            // Copies without any kernel, whatever its kind.
            assert_eq!(
                of_cause(&|cause| cause == "copy_only"),
                by_gpu(&breakdown, "exposed_copy_ns"),
                "{input} {window:?}"
            );
            for cause in ["lead", "tail"] {
                let known: Vec<Value> =
                    breakdown.iter().filter(|row| !row[format!("{cause}_ns")].is_null()).cloned().collect();
                let found = of_cause(&|other| other == cause);
                for (gpu, time) in by_gpu(&known, &format!("{cause}_ns")) {
                    assert_eq!(found[&gpu], time.max(0), "{input} {window:?} {cause}");
                }
            }
        }
    }
}

/// Process 1 computes 2000–4000 and 7000–8000 and stops the recording 6500–6800; process 2 computes 3000–6000 on the
/// same GPU. Together: span 6000, busy 2000–6000 and 7000–8000, idle 700 and paused 300 between, shared 3000–4000.
#[test]
fn processes_share_a_device() {
    let first = process_of(
        1,
        &[
            ("kernel_dispatch", vec![kernel(1, 0, FIRST_GPU, 2_000, 4_000), kernel(2, 0, FIRST_GPU, 7_000, 8_000)]),
            ("marker_api", vec![event(CONTROL, 0, 301, 6_500, 6_510), event(CONTROL, 1, 302, 6_790, 6_800)]),
        ],
    );
    let second = process_of(2, &[("kernel_dispatch", vec![kernel(1, 0, FIRST_GPU, 3_000, 6_000)])]);
    let (_directory, input) = written(&[first, second]);
    let devices = records(&["table", "device_summary", &input]);
    assert_eq!(devices.len(), 1, "{devices:?}");
    for (column, expected) in [
        ("device", 0),
        ("processes", 2),
        ("span_ns", 6_000),
        ("busy_ns", 5_000),
        ("idle_ns", 700),
        ("paused_ns", 300),
        ("compute_ns", 5_000),
        ("comm_ns", 0),
        ("busy_sum_ns", 6_000),
        ("shared_ns", 1_000),
    ] {
        assert_eq!(devices[0][column], expected, "{column}");
    }
    let pauses = records(&["sql", "SELECT process, start_ns, end_ns, duration_ns FROM profiler_pauses", &input]);
    assert_eq!(pauses, [json!({"process": 0, "start_ns": INIT + 6_500, "end_ns": INIT + 6_800, "duration_ns": 300})]);
}

#[test]
fn a_gpu_that_never_idles_has_no_gaps() {
    let (_directory, input) =
        written(&[process_of(1, &[("kernel_dispatch", vec![kernel(1, 0, FIRST_GPU, 0, 10_000)])])]);
    for query in ["idle_gaps", "idle_by_cause", "idle_by_call"] {
        assert_eq!(records(&["table", query, &input]), [] as [Value; 0], "{query}");
    }
    let nothing = run(&["table", "idle_gaps", "fixtures/hostile", "--gpu", "9"]);
    assert_eq!(nothing.code, 3, "{}", nothing.stderr);
}

/// A GEMM 0–100 and another 90–120, a collective 50–150: GEMMs run for 120, two of them for 10, both kinds for 70.
#[test]
fn categories_overlap() {
    let mut collective = kernel(3, 0, FIRST_GPU, 50, 150);
    collective["dispatch_info"]["kernel_id"] = json!(COLLECTIVE);
    let kernels = vec![kernel(1, 0, FIRST_GPU, 0, 100), collective, kernel(2, 0, FIRST_GPU, 90, 120)];
    let (_directory, input) = written(&[process_of(1, &[("kernel_dispatch", kernels)])]);
    let matrix = records(&["table", "kernel_overlap_matrix", &input, "--by", "rank"]);
    let told: Vec<Value> = matrix
        .iter()
        .map(|row| {
            json!([row["category"], row["other_category"], row["overlap_ns"], row["category_ns"], row["other_ns"]])
        })
        .collect();
    assert_eq!(
        Value::from(told),
        json!([
            ["communication", "gemm", 70, 100, 120],
            ["gemm", "communication", 70, 120, 100],
            ["gemm", "gemm", 10, 120, 120],
            ["communication", "communication", 0, 100, 100]
        ])
    );
    let overlap = records(&["table", "overlap", &input]);
    for (column, expected) in [
        ("busy_ns", 150),
        ("compute_ns", 120),
        ("compute_alone_ns", 50),
        ("comm_ns", 100),
        ("compute_comm_overlap_ns", 70),
        ("exposed_comm_ns", 30),
        ("copy_ns", 0),
    ] {
        assert_eq!(overlap[0][column], expected, "{column}");
    }
}
