//! ROCTx ranges and iterations on small traces made here, whose answers are worked out by hand.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::{number, records, run, succeed};
use crate::dialects::databases::schema_3;
use crate::rocprofv3_documents::{call, dispatch, document, process};

fn on_thread(mut record: Value, thread: i64) -> Value {
    record["thread_id"] = json!(thread);
    record
}

/// A kernel of the given launch, distinguished by its grid.
fn kernel(id: i64, launch: i64, grid: i64, start: i64, end: i64) -> Value {
    let mut kernel = dispatch(id, 8, 901, start, end);
    kernel["correlation_id"]["internal"] = json!(launch);
    kernel["dispatch_info"]["grid_size"]["x"] = json!(grid);
    kernel
}

fn write(
    directory: &Path,
    name: &str,
    kernels: &[Value],
    calls: &[Value],
    markers: &[Value],
    copies: &[Value],
) -> String {
    let mut process = process(7);
    let kept =
        ["kernel_dispatch", "hip_api", "marker_api", "memory_copy"].into_iter().zip([kernels, calls, markers, copies]);
    process["buffer_records"] = kept.map(|(section, rows)| (section.to_owned(), json!(rows))).collect();
    process["strings"]["buffer_records"][2]["operations"] =
        json!(["roctxMarkA", "roctxThreadRangeA", "roctxProcessRangeA", "roctxProfilerPause"]);
    process["strings"]["marker_api"] = json!([{"key": 201, "value": "step"}, {"key": 202, "value": "fwd/bwd"},
        {"key": 203, "value": "step"}, {"key": 204, "value": "other"}, {"key": 205, "value": "whole"},
        {"key": 208, "value": "step"}]);
    let path = directory.join(name);
    std::fs::write(&path, document(&[process]).to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Thread 70 runs `step` twice, the first with `fwd/bwd` in it; thread 71 runs `other` all the time, and `whole` is of the
/// process until shortly after the second step has begun. (In thousands of ns:)
///
/// | range             | time        | launched in it, when           | runs        | ns    |
/// | ----------------- | ----------- | ------------------------------ | ----------- | ----- |
/// | `step` 0          | 1100 – 1200 | kernel 2 at 1170               | 1250 – 1252 | 2,000 |
/// | `step` / `fwd/bwd`| 1110 – 1150 | kernel 1 at 1120               | 1160 – 1161 | 1,000 |
/// | `step` 1          | 1300 – 1400 | kernel 3 at 1310, copy at 1315 | 1320 – 1324, 2000 – 2000.4 | 4,000, 400 |
/// | none              |             | kernel 4 at 1410               | 1420 – 1428 | 8,000 |
/// | unknown           |             | kernel 5, no call              | 1130 – 1146 | 16,000 |
fn ranges(directory: &Path) -> String {
    let launch = |id: i64, start: i64| call(1, 1, id, start, start + 2_000);
    let range = |id: i64, thread: i64, start: i64, end: i64| on_thread(call(2, 1, id, start, end), thread);
    let kernels = [
        kernel(1, 101, 64, 1_160_000, 1_161_000),
        kernel(2, 102, 64, 1_250_000, 1_252_000),
        kernel(3, 103, 64, 1_320_000, 1_324_000),
        kernel(4, 104, 64, 1_420_000, 1_428_000),
        kernel(5, 999, 64, 1_130_000, 1_146_000),
    ];
    let calls = [
        launch(101, 1_120_000),
        launch(102, 1_170_000),
        launch(103, 1_310_000),
        launch(105, 1_315_000),
        launch(104, 1_410_000),
    ];
    let markers = [
        range(201, 70, 1_100_000, 1_200_000),
        range(202, 70, 1_110_000, 1_150_000),
        range(203, 70, 1_300_000, 1_400_000),
        range(204, 71, 1_100_000, 1_400_000),
        on_thread(call(2, 2, 205, 1_100_000, 1_320_000), 71),
        call(2, 3, 206, 1_330_000, 1_331_000),
    ];
    let mut copy = call(3, 4, 105, 2_000_000, 2_000_400);
    copy["src_agent_id"] = json!({"handle": 901});
    copy["dst_agent_id"] = json!({"handle": 901});
    copy["bytes"] = json!(4096);
    write(directory, "7_results.json", &kernels, &calls, &markers, &[copy])
}

fn rows(input: &str, sql: &str) -> String {
    succeed(&["sql", sql, input, "-f", "csv"])
}

#[test]
fn work_belongs_to_the_range_it_was_launched_in() {
    let directory = tempfile::tempdir().unwrap();
    let input = ranges(directory.path());
    let columns =
        "path, kind, tid, depth, iteration, duration_ns, gpu_start_ns, gpu_end_ns, kernels, kernel_ns, copy_ns";
    assert_eq!(
        rows(&input, &format!("SELECT {columns} FROM ranges ORDER BY kind, start_ns, tid, depth")),
        "path,kind,tid,depth,iteration,duration_ns,gpu_start_ns,gpu_end_ns,kernels,kernel_ns,copy_ns\n\
         whole,process,71,0,0,220000,1160000,2000400,3,7000,400\n\
         step,thread,70,0,0,100000,1160000,1252000,2,3000,0\n\
         other,thread,71,0,0,300000,,,0,0,0\n\
         step/fwd\\/bwd,thread,70,1,0,40000,1160000,1161000,1,1000,0\n\
         step,thread,70,0,1,100000,1320000,2000400,1,4000,400\n"
    );
    assert_eq!(
        rows(&input, "SELECT * FROM range_self_times ORDER BY range_id"),
        "process,rank,range_id,parent_id,self_ns,self_kernels,self_kernel_ns,self_copies,self_copy_ns\n\
         0,0,6,,60000,1,2000,0,0\n\
         0,0,7,6,40000,1,1000,0,0\n\
         0,0,8,,100000,1,4000,1,400\n\
         0,0,9,,300000,0,0,0,0\n\
         0,0,10,,220000,0,0,0,0\n"
    );
    assert_eq!(
        rows(&input, "SELECT kind, target_id, range_id, launch FROM range_work ORDER BY kind, target_id"),
        "kind,target_id,range_id,launch\ncopy,1,8,range\nkernel,1,7,range\nkernel,2,6,range\nkernel,3,8,range\n\
         kernel,4,,outside\nkernel,5,,unknown\n"
    );
}

#[test]
fn what_is_said_of_ranges() {
    let directory = tempfile::tempdir().unwrap();
    let input = ranges(directory.path());
    // All work is 31,400 ns, of which 7,400 ns were launched in ranges.
    assert_eq!(
        succeed(&["table", "range_coverage", &input, "-f", "csv", "--columns", "launch,kernels,copies,gpu_ns,pct"]),
        "launch,kernels,copies,gpu_ns,pct\nunknown,1,0,16000,50.955414012738856\noutside,1,0,8000,25.477707006369428\n\
         range,3,1,7400,23.56687898089172\n"
    );
    let columns = "path,kind,calls,total_ns,self_ns,kernels,gpu_ns,self_kernels,self_gpu_ns";
    assert_eq!(
        succeed(&["table", "range_summary", &input, "-f", "csv", "--columns", columns]),
        format!(
            "{columns}\nstep,thread,2,200000,160000,3,7400,2,6400\nstep/fwd\\/bwd,thread,1,40000,40000,1,1000,1,1000\n\
             other,thread,1,300000,300000,0,0,0,0\nwhole,process,1,220000,220000,3,7400,0,0\n"
        )
    );
    // The first step begins 60 µs before its first kernel and ends 52 µs before its last.
    let columns = "path,iteration,gpu_duration_ns,launch_delay_ns,overhang_ns,work_ns";
    let projection = succeed(&["table", "range_gpu_projection", &input, "-f", "csv", "--columns", columns]);
    assert!(projection.contains("\nstep,0,92000,60000,52000,3000\n"), "{projection}");
    // The kernels of a range are its own; a range that was launched in later has them all the same.
    let kernels = succeed(&[
        "table",
        "range_kernels",
        &input,
        "-f",
        "csv",
        "--name",
        "short",
        "--columns",
        "path,calls,total_ns",
    ]);
    assert_eq!(kernels, "path,calls,total_ns\n,2,24000\nstep,2,6000\nstep/fwd\\/bwd,1,1000\n");
    let nothing = run(&["table", "range_pace", &input, "-f", "csv"]);
    assert_eq!((nothing.code, nothing.stdout.lines().count()), (0, 1), "{}", nothing.stderr);
}

/// Odd ranges: a `step` in a `step`, an `other` that overlaps it in part, a range that ends before it begins, one
/// without length, one that was never ended, and a `step` of another thread. (In thousands of ns:)
///
/// | kernel | launched by, at | because                                               | in          | runs for |
/// | ------ | --------------- | ----------------------------------------------------- | ----------- | -------- |
/// | 1      | 70, 1200        | the inner step begins then                            | step / step | 1        |
/// | 2      | 70, 1300        | the inner step ends then, `other` goes on             | step / other| 2        |
/// | 3      | 70, 1260        | both are open, the inner step ends first              | step / step | 4        |
/// | 4      | 70, 1395        | the reversed range does not count                     | step        | 8        |
/// | 5      | 70, 1420        | the range without length does not count               | step        | 16       |
/// | 6      | 70, 1650        | the range without end does not count                  | none        | 32       |
/// | 7      | 72, 1150        | threads are apart                                     | step of 72  | 64       |
/// | 8      | 73, 1150        | this one has no range                                 | none        | 128      |
/// | 9      | id 0            | is that of no call, though one at 1250 has it         | unknown     | 256      |
///
/// All run long after the ranges are over.
#[test]
fn odd_ranges() {
    let directory = tempfile::tempdir().unwrap();
    let launches = [
        (301, 70, 1_200_000),
        (302, 70, 1_300_000),
        (303, 70, 1_260_000),
        (304, 70, 1_395_000),
        (305, 70, 1_420_000),
        (306, 70, 1_650_000),
        (307, 72, 1_150_000),
        (308, 73, 1_150_000),
        (0, 70, 1_250_000),
    ];
    let calls: Vec<Value> =
        launches.iter().map(|(id, thread, at)| on_thread(call(1, 1, *id, *at, at + 1_000), *thread)).collect();
    let mut start = 2_000_000;
    let kernels: Vec<Value> = (1..)
        .zip(launches)
        .map(|(place, (id, _, _))| {
            let duration = 1_000 << (place - 1);
            start += duration;
            kernel(place, id, 64, start - duration, start)
        })
        .collect();
    let markers = [
        call(2, 1, 201, 1_100_000, 1_500_000),
        call(2, 1, 203, 1_200_000, 1_300_000),
        call(2, 1, 204, 1_250_000, 1_350_000),
        call(2, 1, 202, 1_400_000, 1_390_000),
        call(2, 1, 205, 1_420_000, 1_420_000),
        call(2, 1, 207, 1_600_000, 0),
        on_thread(call(2, 1, 208, 1_100_000, 1_200_000), 72),
    ];
    let input = write(directory.path(), "7_results.json", &kernels, &calls, &markers, &[]);
    let sql = "SELECT r.path, r.tid, r.depth, r.iteration, r.kernels, r.kernel_ns, s.self_ns, s.self_kernel_ns FROM ranges r \
               JOIN range_self_times s ON s.process = r.process AND s.range_id = r.range_id ORDER BY r.tid, r.start_ns";
    assert_eq!(
        rows(&input, sql),
        "path,tid,depth,iteration,kernels,kernel_ns,self_ns,self_kernel_ns\n\
         step,70,0,0,5,31000,250000,24000\nstep/step,70,1,0,2,5000,100000,5000\n\
         step/other,70,1,0,1,2000,100000,2000\nstep,72,0,0,1,64000,100000,64000\n"
    );
    assert_eq!(
        succeed(&["table", "range_coverage", &input, "-f", "csv", "--columns", "launch,kernels,kernel_ns"]),
        "launch,kernels,kernel_ns\nunknown,1,256000\noutside,2,160000\nrange,6,95000\n"
    );
}

#[test]
fn a_window_keeps_what_ranges_are() {
    let directory = tempfile::tempdir().unwrap();
    let input = ranges(directory.path());
    let sql = "SELECT path, iteration, duration_ns, kernel_ns FROM ranges WHERE kind = 'thread' ORDER BY path";
    let within =
        |mode: &str| succeed(&["sql", sql, &input, "-f", "csv", "--window", "1350000:1450000", "--window-mode", mode]);
    // The second step keeps its ordinal and its work.
    assert_eq!(within("overlap"), "path,iteration,duration_ns,kernel_ns\nother,0,300000,0\nstep,1,100000,4000\n");
    assert_eq!(within("clip"), "path,iteration,duration_ns,kernel_ns\nother,0,50000,0\nstep,1,50000,4000\n");
    let inside = run(&["sql", sql, &input, "-f", "csv", "--window", "1350000:1450000", "--window-mode", "inside"]);
    assert_eq!((inside.code, inside.stdout.lines().count()), (3, 1), "{}", inside.stderr);
}

/// A trace with nine ranges of one path; the third takes 40 µs more than the others, which take 100 µs and 1 µs more each
/// time, and the last launches nothing. No kernels are recorded.
#[test]
fn the_pace_of_ranges() {
    let directory = tempfile::tempdir().unwrap();
    let markers: Vec<Value> = (0..9)
        .map(|at| {
            let start = 1_000_100 + at * 200_000;
            call(2, 1, 210 + at, start, start + 100_000 + at * 1_000 + if at == 2 { 40_000 } else { 0 })
        })
        .collect();
    let input = write(directory.path(), "7_results.json", &[], &[], &markers, &[]);
    let row = &records(&["table", "range_pace", &input])[0];
    // Durations in µs: 100 101 142 103 104 105 106 107 108; the distances from 105: 5 4 37 2 1 0 1 2 3, their median is 2.
    assert_eq!(row["iterations"], 9);
    assert_eq!(row["median_ns"], 105_000.0);
    assert_eq!(row["mad_ns"], 2_000.0);
    assert_eq!(row["pace_ns"], 200_000.0);
    assert_eq!(row["outliers"], 1);
    assert_eq!(row["worst_iteration"], 2);
    assert!((row["trend_ns"].as_f64().unwrap() - 1_000.0).abs() < 1e-6, "{row}");
}

#[test]
fn the_drift_of_a_range_on_the_gpu_has_parts_that_add_up() {
    let paced = schema_3("3.0.0", &[include_str!("quality/pace.sql")]);
    let rows = records(&["table", "range_pace", &paced.path]);
    let row = rows.iter().find(|row| row["path"] == "work").unwrap();
    let number = |column: &str| row[column].as_f64().unwrap();
    let parts = ["more_work_pct", "clock_pct", "slower_pct", "waiting_pct"].map(number);
    assert!((parts.iter().sum::<f64>() - number("gpu_drift_pct")).abs() < 1e-6, "{row}");
    // From 100 to 112.36 µs of 137.8 µs, by the clock alone: it explains more, because the short dispatches do not follow it.
    assert!((number("gpu_drift_pct") - 9.0).abs() < 0.3 && number("drift_pct") == 0.0, "{row}");
    assert!(
        number("more_work_pct") == 0.0 && number("waiting_pct") == 0.0 && number("gpu_drift_errors") > 5.0,
        "{row}"
    );
    assert!(number("clock_pct") > 8.7 && number("slower_pct").abs() < 1e-6, "{row}");
    // The same shape at two places.
    let shapes = records(&["table", "kernel_pace", &paced.path]);
    let is_behind =
        |row: &&Value| row["position"].as_str().is_some_and(|place| place.starts_with("after axpy(float*) with "));
    let places = shapes.iter().filter(is_behind).count();
    assert_eq!(places, 2, "{shapes:?}");
}

/// Three odd kernels, then six times the same seven, 1 µs apart and 500 ns long each. The first time takes 30 µs, others
/// 10 µs; the last ends with its last kernel, 6.5 µs after its begin. Each seven are launched in a range of 5 µs that begins
/// 1 µs before.
fn seven_kernels(directory: &Path) -> String {
    let mut kernels = Vec::new();
    let mut add = |launch: i64, grid: i64, start: i64| {
        kernels.push(kernel(kernels.len() as i64 + 1, launch, grid, start, start + 500));
    };
    for grid in [1024, 2048, 4096] {
        add(500, grid, 1_100_000 + grid);
    }
    let (mut calls, mut markers) = (Vec::new(), Vec::new());
    for (step, begin) in (0..).zip([2_000_000, 2_030_000, 2_040_000, 2_050_000, 2_060_000, 2_070_000]) {
        for (place, grid) in (0..).zip([64, 128, 64, 192, 256, 64, 320]) {
            add(600 + step, grid, begin + place * 1_000);
        }
        calls.push(call(1, 1, 600 + step, begin - 800, begin - 200));
        markers.push(call(2, 1, 700 + step, begin - 1_000, begin + 4_000));
    }
    write(directory, "7_results.json", &kernels, &calls, &markers, &[])
}

#[test]
fn iterations_and_ranges_are_compared() {
    let directory = tempfile::tempdir().unwrap();
    let input = seven_kernels(directory.path());
    // The ranges have no text, so that they go by their operation.
    assert_eq!(
        succeed(&["table", "iteration_ranges", &input, "-f", "csv"]),
        "rank,tid,path,ranges,iterations,ranges_per_iteration,kernels_per_range,period,pace_ns,iteration_ns\n\
         0,70,roctxThreadRangeA,6,6,1,7,7,10000,10000\n"
    );
}

/// Ranges `step` without any call, in each of which some layers of two kernels and a last kernel run, 10 µs each; from one step on all take twice
/// as long.
fn steps(directory: &Path, count: i64, layers: i64, jump: i64) -> String {
    let (mut kernels, mut markers, mut start) = (Vec::new(), Vec::new(), 2_000_000);
    for step in 0..count {
        let every = if step < jump { 10_000 } else { 20_000 };
        let end = start + (2 * layers + 1) * every;
        markers.push(on_thread(call(2, 1, 201, start - 100, end - 200), 70));
        for place in 0..=2 * layers {
            let at = start + place * every;
            let grid = if place == 2 * layers { 256 } else { 64 * (1 + place % 2) };
            let id = kernels.len() as i64 + 1;
            kernels.push(kernel(id, 500 + id, grid, at, at + every / 2));
        }
        start = end;
    }
    write(directory, "7_results.json", &kernels, &[], &markers, &[])
}

/// Two steps of eight layers.
pub fn layered_steps(directory: &Path) -> String {
    steps(directory, 2, 8, i64::MAX)
}

/// Six steps of 30 µs, then six of 60 µs.
pub fn jumping_steps(directory: &Path) -> String {
    steps(directory, 12, 1, 6)
}

#[test]
fn what_repeats_in_steps_are_layers() {
    let directory = tempfile::tempdir().unwrap();
    let input = layered_steps(directory.path());
    let columns = "unit,found_by,iterations,steady,levels,jump_at";
    assert_eq!(
        succeed(&["table", "iteration_summary", &input, "-f", "csv", "--columns", columns]),
        format!("{columns}\nstep,range,2,2,1,\n")
    );
    let layers = rows(&input, "SELECT iteration, layer, kernels FROM layers ORDER BY iteration, layer");
    assert!(layers.starts_with("iteration,layer,kernels\n0,0,2\n0,1,2\n0,2,2\n"), "{layers}");
    assert_eq!(layers.lines().count(), 1 + 16, "{layers}");
    let parts = rows(&input, "SELECT kind, unit, iterations, layers FROM run_parts ORDER BY part");
    assert!(parts.contains("steady,step,2,16"), "{parts}");
}

#[test]
fn steps_that_jump_are_on_levels() {
    let directory = tempfile::tempdir().unwrap();
    let input = jumping_steps(directory.path());
    let columns = "unit,found_by,iterations,steady,levels,jump_at,before_jump_ns,after_jump_ns";
    assert_eq!(
        succeed(&["table", "iteration_summary", &input, "-f", "csv", "--columns", columns]),
        format!("{columns}\nstep,range,12,12,2,6,30000,60000\n")
    );
    let parts = rows(&input, "SELECT kind, iterations FROM run_parts ORDER BY part");
    assert!(parts.contains("uneven,6\nsteady,6"), "{parts}");
}

#[test]
fn iterations_are_found_without_markers() {
    let directory = tempfile::tempdir().unwrap();
    let input = seven_kernels(directory.path());
    assert_eq!(
        rows(&input, "SELECT * FROM iterations ORDER BY iteration"),
        "process,rank,iteration,unit,found_by,phase,level,start_ns,end_ns,duration_ns,kernels,kernel_ns,period\n\
         0,0,0,iteration,kernel_sequence,warmup,0,2000000,2030000,30000,7,3500,7\n0,0,1,iteration,kernel_sequence,steady,0,2030000,2040000,10000,7,3500,7\n\
         0,0,2,iteration,kernel_sequence,steady,0,2040000,2050000,10000,7,3500,7\n0,0,3,iteration,kernel_sequence,steady,0,2050000,2060000,10000,7,3500,7\n\
         0,0,4,iteration,kernel_sequence,steady,0,2060000,2070000,10000,7,3500,7\n0,0,5,iteration,kernel_sequence,steady,0,2070000,2076500,6500,7,3500,7\n"
    );
    let columns = "period,iterations,warmup,steady,cooldown,warmup_ns,steady_ns,median_ns,after_ns";
    assert_eq!(
        succeed(&["table", "iteration_summary", &input, "-f", "csv", "--columns", columns]),
        format!("{columns}\n7,6,1,5,0,30000,46500,10000,0\n")
    );
}

#[test]
fn iterations_choose_a_stretch_of_time() {
    let directory = tempfile::tempdir().unwrap();
    let input = seven_kernels(directory.path());
    let calls = |iterations: &str| {
        let rows = records(&["table", "kernel_by_category", &input, "--iter", iterations]);
        rows.iter().map(|row| row["calls"].as_i64().unwrap()).sum::<i64>()
    };
    for (iterations, expected) in
        [("1..2", 14), ("3", 7), ("4..", 14), ("..1", 14), ("steady", 35), ("warmup", 7), ("4..99", 14)]
    {
        assert_eq!(calls(iterations), expected, "{iterations}");
    }
    let both = succeed(&[
        "table",
        "iterations",
        &input,
        "--iter",
        "1..3",
        "--window",
        "2045000:",
        "-f",
        "csv",
        "--columns",
        "iteration",
    ]);
    assert_eq!(both, "iteration\n2\n3\n");
    for (iterations, code, expected) in [
        ("9", 3, "no process has the iterations 9; available: 0-5"),
        ("cooldown", 3, "no process has the iterations cooldown"),
        ("5..1", 2, "write 1..5"),
        ("soon", 2, "is not a set of iterations"),
    ] {
        let failed = run(&["table", "kernel_summary", &input, "--iter", iterations]);
        assert_eq!(failed.code, code, "{iterations}: {}", failed.stderr);
        assert!(failed.stderr.contains(expected), "{iterations}: {}", failed.stderr);
    }
}

/// A stream that runs the same five kernels twelve times, 1 µs apart, and one alongside that runs three others in turn,
/// 1.7 µs apart: the period is that of the stream with more kernels.
#[test]
fn streams_side_by_side() {
    let directory = tempfile::tempdir().unwrap();
    let on_stream = |mut kernel: Value, stream: i64| {
        kernel["stream_id"]["handle"] = json!(stream);
        kernel
    };
    let mut kernels: Vec<Value> = (0..60)
        .map(|at| {
            let grid = [64, 128, 192, 256, 320][at as usize % 5];
            on_stream(kernel(at + 1, 500, grid, 2_000_000 + at * 1_000, 2_000_500 + at * 1_000), 2)
        })
        .collect();
    kernels.extend((0..35).map(|at| {
        let grid = [1024, 2048, 4096][at as usize % 3];
        on_stream(kernel(at + 100, 500, grid, 2_000_000 + at * 1_700, 2_000_800 + at * 1_700), 9)
    }));
    let input = write(directory.path(), "7_results.json", &kernels, &[], &[], &[]);
    let columns = "period,iterations,steady,median_ns";
    assert_eq!(
        succeed(&["table", "iteration_summary", &input, "-f", "csv", "--columns", columns]),
        format!("{columns}\n5,12,12,5000\n")
    );
}

/// Twelve steps of four kernels 1 µs apart, with a fifth on another stream, launched after the second: it starts alongside the
/// second, third or fourth, and in one step only alongside the first of the next. However they fall in with one another, five
/// kernels are launched time and again, and each step takes 5 µs.
#[test]
fn streams_that_fall_in_with_one_another_anyhow() {
    let directory = tempfile::tempdir().unwrap();
    let late = [3, 0, 1, 2, 0, 0, 2, 1, 0, 2, 1, 1];
    let kernels: Vec<Value> = (0..12)
        .flat_map(|step| {
            let at = 2_000_000 + step * 5_000;
            let beside = at + 1_500 + 1_000 * late[step as usize];
            [(64, at, 2), (128, at + 1_000, 2), (1024, beside, 9), (192, at + 2_000, 2), (256, at + 3_000, 2)]
        })
        .zip(1..)
        .map(|((grid, start, stream), id)| {
            let mut kernel = kernel(id, 500, grid, start, start + 900);
            kernel["stream_id"]["handle"] = json!(stream);
            kernel
        })
        .collect();
    let input = write(directory.path(), "7_results.json", &kernels, &[], &[], &[]);
    let columns = "period,iterations,steady,median_ns";
    assert_eq!(
        succeed(&["table", "iteration_summary", &input, "-f", "csv", "--columns", columns]),
        format!("{columns}\n5,12,12,5000\n")
    );
}

/// One kernel a hundred times, 2 µs apart, the first two three times as slow: every dispatch is an iteration.
#[test]
fn a_loop_of_one_kernel() {
    let directory = tempfile::tempdir().unwrap();
    let kernels: Vec<Value> = (0..100)
        .map(|at| {
            let start = 2_000_000 + at * 2_000 + at.min(2) * 4_000;
            kernel(at + 1, 500, 64, start, start + 1_000)
        })
        .collect();
    let input = write(directory.path(), "7_results.json", &kernels, &[], &[], &[]);
    let columns = "period,iterations,warmup,steady,median_ns";
    assert_eq!(
        succeed(&["table", "iteration_summary", &input, "-f", "csv", "--columns", columns]),
        format!("{columns}\n1,100,2,98,2000\n")
    );
}

/// `--iter` does the same on every verb, on the trace and on a dataset made of it.
#[test]
fn every_verb_chooses_iterations() {
    let directory = tempfile::tempdir().unwrap();
    let input = seven_kernels(directory.path());
    let dataset = directory.path().join("dataset");
    let chosen = directory.path().join("chosen");
    let (dataset, chosen) = (dataset.to_str().unwrap(), chosen.to_str().unwrap());
    succeed(&["convert", &input, "--output", dataset]);
    for source in [input.as_str(), dataset] {
        let count = succeed(&["sql", "SELECT COUNT(*) AS n FROM kernels", source, "--iter", "1..2", "-f", "csv"]);
        assert_eq!(count, "n\n14\n");
        let ranges =
            succeed(&["table", "ranges", source, "--iter", "1", "-f", "csv", "--columns", "iteration,kernels"]);
        // The second range begins 1 µs before the second iteration, and the third before that ends.
        assert_eq!(ranges, "iteration,kernels\n1,7\n2,7\n");
        let info = succeed(&["info", source, "--iter", "steady"]);
        assert!(info.contains("kernels 35"), "{info}");
        let check = run(&["check", source, "--iter", "9"]);
        assert_eq!(check.code, 3, "{}", check.stderr);
    }
    succeed(&["convert", &input, "--iter", "1..2", "--output", chosen]);
    assert_eq!(succeed(&["sql", "SELECT COUNT(*) AS n FROM kernels", chosen, "-f", "csv"]), "n\n14\n");
}

#[test]
fn no_period_is_made_up() {
    let directory = tempfile::tempdir().unwrap();
    // Squares modulo a prime come in no order.
    let kernels: Vec<Value> = (1..200)
        .map(|id| kernel(id, 500, 64 * (id * id % 23 * id % 7 + 1), 1_000_000 + id * 1_000, 1_000_500 + id * 1_000))
        .collect();
    let random: Vec<Value> =
        kernels.into_iter().enumerate().filter(|(at, _)| (at * at + at / 3) % 5 < 2).map(|(_, row)| row).collect();
    let input = write(directory.path(), "7_results.json", &random, &[], &[], &[]);
    let answer = run(&["table", "iterations", &input]);
    assert_eq!(answer.code, 3, "{}", answer.stdout);
    assert!(answer.stderr.contains("no process repeats a sequence of kernels"), "{}", answer.stderr);
    let filtered = run(&["table", "kernel_summary", &input, "--iter", "steady"]);
    assert_eq!(filtered.code, 3, "{}", filtered.stdout);
    assert!(filtered.stderr.contains("--iter has no iterations"), "{}", filtered.stderr);
    assert_eq!(number("SELECT COUNT(*) AS n FROM iterations", &input), 0);
}
