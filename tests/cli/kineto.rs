//! Traces of the PyTorch profiler: real ones compared with a reading of their JSON, generated ones, and damaged ones.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::common::{Run, real, records, run, succeed};

const FIXTURE: &str = "fixtures/kineto_two_ranks";

/// Number, summed duration and bytes of events by what they are.
type Sums = BTreeMap<(String, String), (i64, i64, i64)>;

fn text_of(path: &Path) -> String {
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}

/// The events of a file as a parser of JSON gives them, and what times count from.
fn events_of(text: &str) -> (Vec<Value>, i64) {
    let mut document: Value = serde_json::from_str(text).unwrap();
    let base = document["baseTimeNanoseconds"].as_i64().unwrap_or(0);
    let Value::Array(events) = document["traceEvents"].take() else { panic!("no events") };
    (events, base)
}

/// Exact as long as microseconds with three decimals fit into a floating point number; those since 1970 do not, but are whole.
fn ns(microseconds: &Value) -> i64 {
    if let Some(whole) = microseconds.as_i64() {
        return whole * 1000;
    }
    (microseconds.as_f64().unwrap() * 1000.0).round() as i64
}

/// Sums that a JSON parser finds, and the first start of a kernel.
fn expected(events: &[Value], base: i64) -> (Sums, i64) {
    let mut sums = Sums::new();
    let mut first = i64::MAX;
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let (category, name) = (event["cat"].as_str().unwrap(), event["name"].as_str().unwrap());
        let duration = ns(&event["dur"]);
        let (table, what) = match category {
            "kernel" | "gpu_memset" => ("kernel", name.to_owned()),
            "gpu_memcpy" => {
                let letters: Vec<char> = name.split(' ').nth(1).unwrap().chars().collect();
                ("copy", format!("{}2{}", letters[0], letters[3]))
            }
            "cuda_runtime" | "cuda_driver" | "cpu_op" | "python_function" | "user_annotation" if duration > 0 => {
                (category, name.to_owned())
            }
            _ => continue,
        };
        if table == "kernel" {
            first = first.min(ns(&event["ts"]) + base);
        }
        let sum = sums.entry((table.to_owned(), what)).or_default();
        let bytes = if table == "copy" { event["args"]["bytes"].as_i64().unwrap_or(0) } else { 0 };
        *sum = (sum.0 + 1, sum.1 + duration, sum.2 + bytes);
    }
    (sums, first)
}

const SUMS: &str = "
    SELECT 'kernel' AS what, CAST(kernel_name AS VARCHAR) AS name, COUNT(*) AS n, SUM(duration_ns) AS ns, 0 AS bytes,
        MIN(start_ns) AS first
    FROM kernels GROUP BY kernel_name
    UNION ALL
    SELECT 'copy', CAST(direction AS VARCHAR), COUNT(*), SUM(duration_ns), SUM(COALESCE(bytes, 0)), 0
    FROM memory_copies GROUP BY direction
    UNION ALL
    SELECT CAST(category AS VARCHAR), CAST(name AS VARCHAR), COUNT(*), SUM(duration_ns), 0, 0
    FROM regions GROUP BY category, name";

fn found(input: &str) -> (Sums, i64) {
    let rows = records(&["sql", SUMS, input, "-q"]);
    let whole = |row: &Value, name: &str| row[name].as_i64().unwrap();
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let first = rows.iter().filter(|row| row["what"] == "kernel").map(|row| whole(row, "first")).min().unwrap();
    let sums = rows
        .iter()
        .map(|row| ((text(row, "what"), text(row, "name")), (whole(row, "n"), whole(row, "ns"), whole(row, "bytes"))))
        .collect();
    (sums, first)
}

/// Files of a folder and those in it, in their order.
fn files(folder: &str) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(self::files(path.to_str().unwrap())) } else { files.push(path) }
    }
    files.sort();
    files
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn real_traces_hold_what_a_parser_of_json_finds() {
    let mut seen = 0;
    for path in files(&real("kineto")) {
        let text = text_of(&path);
        let (events, base) = events_of(&text);
        let (mut sums, first) = expected(&events, base);
        let (mut read, read_first) = found(path.to_str().unwrap());
        if path.ends_with("mi250_minitoy_rocm62.json.gz") {
            // The sizes of these copies are recorded for their calls alone.
            let bytes = read.get_mut(&("copy".to_owned(), "H2D".to_owned())).unwrap();
            assert_eq!(std::mem::take(&mut bytes.2), 5_120);
        }
        assert_eq!(first, read_first, "{}", path.display());
        for (what, found) in &read {
            assert_eq!(sums.remove(what).as_ref(), Some(found), "{} {what:?}", path.display());
        }
        assert!(sums.is_empty(), "{}: {sums:?}", path.display());
        read.clear();
        seen += 1;
    }
    assert_eq!(seen, 16);
}

/// Figures that the index of the files states, and what only these files have.
#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn real_traces_have_what_is_known_of_them() {
    let data = real("kineto");
    let checkpointed = format!("{data}/single/mi300x_resnet_actckpt_rank0of8.json.gz");
    let rows = |sql: &str, input: &str| records(&["sql", sql, input, "-q"]);
    assert_eq!(
        rows("SELECT rank, pid, format, schema_version AS v FROM processes", &checkpointed),
        [json!({"rank": 0, "pid": 542, "format": "kineto", "v": "1"})]
    );
    let collectives = rows(
        "SELECT operation, message_bytes AS b, ranks, COUNT(*) AS n FROM collective_kernels
        WHERE operation IS NOT NULL GROUP BY operation, message_bytes, ranks",
        &checkpointed,
    );
    assert_eq!(collectives.iter().map(|row| row["n"].as_i64().unwrap()).sum::<i64>(), 12);
    let known = |row: &Value| row["ranks"] == 8 && row["b"].as_i64().is_some_and(|bytes| bytes > 0);
    assert!(collectives.iter().all(known), "{collectives:?}");
    let iterations = records(&["table", "iterations", &checkpointed, "-q"]);
    assert_eq!(iterations.len(), 3);
    // Sizes of kernels are recorded for the calls alone; 757 kernels have no call, and fills have no size.
    assert_eq!(
        rows("SELECT COUNT(*) AS n FROM kernels WHERE grid_x = 0 AND category <> 'fill'", &checkpointed),
        [json!({"n": 757})]
    );
    // The two ranks of one run become one trace.
    let two = succeed(&[
        "sql",
        "SELECT DISTINCT rank, device FROM kernels ORDER BY rank",
        &format!("{data}/nvidia-2ranks"),
        "-f",
        "csv",
        "-q",
    ]);
    assert_eq!(two, "rank,device\n0,0\n1,1\n");
    // Autograd recorded 438 operators within its nodes; the outermost of them ran again.
    let again = records(&["table", "recompute", &checkpointed, "-q"]);
    assert!(again.iter().any(|row| row["name"] == "aten::conv2d" && row["calls"] == 57), "{again:?}");
    let plain = format!("{data}/single/mi300x_ddp_resnet18.json.gz");
    assert_eq!(records(&["table", "recompute", &plain, "-q"]), Vec::<Value>::new());
    // Kernels of a graph were launched by no operator, so they are in none.
    let decode = format!("{data}/single/mi300x_vllm_decode_graph_exec.json.gz");
    let below =
        rows("SELECT SUM(self_kernels) AS n FROM operators WHERE kind = 'operator'", &decode)[0]["n"].as_i64().unwrap();
    assert!(below < 425, "{below}");
    let names = rows("SELECT DISTINCT name FROM agents", &format!("{data}/vendor-pairs/bert_small_h100.json.gz"));
    assert_eq!(names, [json!({"name": "sm_90"})]);
}

/// Operators with the kernels below them, compared with a reading that nests them by brute force.
#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn kernels_belong_to_the_operators_that_launched_them() {
    let path = format!("{}/vendor-pairs/bert_small_mi300x.json.gz", real("kineto"));
    let (events, _) = events_of(&text_of(Path::new(&path)));
    let of = |category: &str| {
        events.iter().filter(|event| event["ph"] == "X" && event["cat"] == category).collect::<Vec<_>>()
    };
    let span = |event: &Value| (ns(&event["ts"]), ns(&event["ts"]) + ns(&event["dur"]));
    let (operators, calls) = (of("cpu_op"), of("cuda_runtime"));
    let mut self_kernels: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for kernel in of("kernel") {
        let call = calls.iter().find(|call| call["args"]["correlation"] == kernel["args"]["correlation"]);
        let Some(call) = call else { continue };
        let start = span(call).0;
        let around = operators.iter().filter(|operator| {
            let (from, to) = span(operator);
            operator["tid"] == call["tid"] && from <= start && start < to
        });
        let innermost = around.max_by_key(|operator| (span(operator).0, std::cmp::Reverse(span(operator).1)));
        if let Some(operator) = innermost {
            let sum = self_kernels.entry(operator["name"].as_str().unwrap().to_owned()).or_default();
            *sum = (sum.0 + 1, sum.1 + ns(&kernel["dur"]));
        }
    }
    assert!(self_kernels.len() > 3, "{self_kernels:?}");
    let rows = records(&[
        "sql",
        "SELECT CAST(name AS VARCHAR) AS name, SUM(self_kernels) AS n, SUM(self_kernel_ns) AS ns
        FROM operators WHERE kind = 'operator' AND self_kernels > 0 GROUP BY name",
        &path,
        "-q",
    ]);
    let found: BTreeMap<String, (i64, i64)> = rows
        .iter()
        .map(|row| {
            (row["name"].as_str().unwrap().to_owned(), (row["n"].as_i64().unwrap(), row["ns"].as_i64().unwrap()))
        })
        .collect();
    assert_eq!(found, self_kernels);
}

#[test]
fn two_ranks_that_were_generated() {
    for path in files(FIXTURE) {
        let (events, base) = events_of(&text_of(&path));
        assert_eq!(found(path.to_str().unwrap()), expected(&events, base), "{}", path.display());
    }
    for query in [
        "operator_summary",
        "operator_shapes",
        "module_summary",
        "recompute",
        "collectives",
        "collective_summary",
        "range_summary",
    ] {
        insta::assert_snapshot!(format!("kineto_{query}_csv"), succeed(&["table", query, FIXTURE, "-f", "csv", "-q"]));
    }
    let collectives = records(&["table", "collectives", FIXTURE, "-q"]);
    assert!(collectives.iter().all(|row| row["gpus"] == 2 && row["operation"] == "all_reduce"), "{collectives:?}");
    let moved = records(&["sql", "SELECT DISTINCT message_bytes AS b, ranks FROM collective_kernels", FIXTURE, "-q"]);
    assert_eq!(moved, [json!({"b": 2 << 20, "ranks": 2})]);
    // Own kernels of all operators are all kernels: each was launched by one.
    let all =
        records(&["sql", "SELECT SUM(self_kernels) AS own FROM operators WHERE kind = 'operator'", FIXTURE, "-q"]);
    let kernels = records(&["sql", "SELECT COUNT(*) AS own FROM kernels", FIXTURE, "-q"]);
    assert_eq!(all, kernels);
}

/// The first collective of one rank is missing: by their order each would be matched with the one before.
#[test]
fn collectives_are_matched_by_their_recorded_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let mut lost = 0;
    for path in files(FIXTURE) {
        let mut document: Value = serde_json::from_str(&text_of(&path)).unwrap();
        let rank = document["distributedInfo"]["rank"].as_i64().unwrap();
        let events = document["traceEvents"].as_array_mut().unwrap();
        let is_collective = |event: &Value| event["cat"] == "kernel" && event["args"]["Seq"].is_i64();
        let all = events.iter().filter(|event| is_collective(event)).count();
        // The other rank loses the last, so that both have as many.
        let place =
            if rank == 0 { events.iter().position(is_collective) } else { events.iter().rposition(is_collective) };
        events.remove(place.unwrap());
        lost += 1;
        assert!(all > 2, "{all}");
        std::fs::write(directory.path().join(format!("rank{rank}.json")), document.to_string()).unwrap();
    }
    assert_eq!(lost, 2);
    let statement = "SELECT collective, COUNT(*) AS n, MIN(sequence) AS least, MAX(sequence) AS greatest, MIN(CAST(matched_by AS VARCHAR)) AS basis \
        FROM collective_kernels WHERE gpus > 1 GROUP BY collective ORDER BY collective";
    let found = records(&["sql", statement, directory.path().to_str().unwrap(), "-q"]);
    assert!(!found.is_empty());
    for row in found {
        assert_eq!((&row["n"], &row["basis"]), (&json!(2), &json!("sequence")), "{row}");
        assert_eq!(row["least"], row["greatest"], "{row}");
    }
}

/// Kernels of one launch of a graph have one correlation id and no operator; the GPU is busy with each of them.
#[test]
fn a_gpu_is_busy_with_kernels_of_graphs() {
    let launch = json!({"ph": "X", "cat": "cuda_runtime", "name": "hipGraphLaunch", "pid": 9, "tid": 9, "ts": 5.0, "dur": 2.0,
        "args": {"correlation": 3}});
    let replayed = (0..4).map(|number| kernel(3, 10.0 + 5.0 * f64::from(number), 5.0));
    let text = trace(&[launch].into_iter().chain(replayed).collect::<Vec<_>>());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.json");
    std::fs::write(&path, text).unwrap();
    let rows = records(&["table", "time_breakdown", path.to_str().unwrap(), "-q"]);
    assert_eq!((&rows[0]["busy_ns"], &rows[0]["idle_ns"]), (&json!(20_000), &json!(0)), "{rows:?}");
}

/// A trace of these events.
fn trace(events: &[Value]) -> String {
    json!({"schemaVersion": 1, "record_shapes": 1, "traceEvents": events}).to_string()
}

fn call(pid: i64, correlation: i64, start: f64) -> Value {
    json!({"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": pid, "tid": pid, "ts": start, "dur": 2.5,
        "args": {"correlation": correlation}})
}

fn kernel(correlation: i64, start: f64, duration: f64) -> Value {
    json!({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": start, "dur": duration,
        "args": {"device": 0, "stream": 7, "correlation": correlation, "grid": [4, 1, 1], "block": [64, 2, 1]}})
}

/// Runs ad-hoc SQL on a file with this content.
fn sql(statement: &str, content: &[u8]) -> Run {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.json");
    std::fs::write(&path, content).unwrap();
    run(&["sql", statement, path.to_str().unwrap(), "-f", "csv"])
}

fn checks(content: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.json");
    std::fs::write(&path, content).unwrap();
    run(&["check", path.to_str().unwrap(), "-f", "csv"]).stdout
}

#[test]
fn sizes_are_in_work_items_and_times_exact() {
    let text = trace(&[call(9, 3, 10.5), kernel(3, 20.125, 1.001)]);
    let statement = "SELECT grid_x AS gx, grid_y AS gy, workgroup_x AS wx, start_ns AS s, duration_ns AS d, tid, stream_id AS q FROM kernels";
    assert_eq!(sql(statement, text.as_bytes()).stdout, "gx,gy,wx,s,d,tid,q\n256,2,64,20125,1001,9,7\n");
}

#[test]
fn durations_that_overflowed_do_not_count() {
    let span = json!({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "x", "ts": 1, "dur": 5000});
    let text =
        trace(&[kernel(1, 20.0, 1.0), kernel(2, 30.0, 4_294_967.295), kernel(3, 40.0, 18_446_744_073_709_551.0), span]);
    let valid = sql("SELECT correlation_id AS c, valid FROM kernels ORDER BY c", text.as_bytes());
    assert_eq!(valid.stdout, "c,valid\n1,true\n2,false\n3,false\n");
    assert!(checks(&text).contains("overflowed_duration,warning,kernels,2"), "{}", checks(&text));
}

#[test]
fn correlation_ids_of_several_processes_tie_nothing() {
    let events = [call(9, 3, 10.0), call(11, 3, 10.0), call(11, 4, 15.0), kernel(3, 20.0, 1.0), kernel(4, 30.0, 1.0)];
    let text = trace(&events);
    let found = sql("SELECT correlation_id AS c, tid FROM kernels ORDER BY start_ns", text.as_bytes());
    assert_eq!(found.stdout, "c,tid\n,\n4,11\n");
    assert!(checks(&text).contains("ambiguous_correlation,warning,kernels,1"), "{}", checks(&text));
}

#[test]
fn a_truncated_trace_loses_only_its_end() {
    let text = text_of(&files(FIXTURE)[0]);
    let whole: i64 = 48;
    let mut last = whole;
    for part in [9, 6, 3] {
        let cut = &text.as_bytes()[..text.len() * part / 10];
        let kept = String::from_utf8_lossy(cut).matches("\"cat\": \"kernel\"").count() as i64;
        let run = sql("SELECT COUNT(*) AS n FROM kernels", cut);
        assert_eq!(run.code, 5, "{}", run.stderr);
        assert!(run.stderr.contains("truncated"), "{}", run.stderr);
        let found: i64 = run.stdout.lines().nth(1).unwrap().parse().unwrap();
        assert!((kept - 1..=kept).contains(&found) && found < last, "{found} of {kept}");
        last = found;
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let run = sql("SELECT COUNT(*) AS n FROM kernels", &packed[..packed.len() / 2]);
    assert_eq!(run.code, 5, "{}", run.stderr);
}

#[test]
fn a_damaged_event_is_lost_alone() {
    let text = text_of(&files(FIXTURE)[0]);
    for (from, to) in [
        ("\"cat\": \"kernel\"", "\"cat\": \"kernel"),
        ("\"cat\": \"kernel\"", "\"cat\" \"kernel\""),
        ("\"block\": [", "\"block\": ("),
        ("\"kind\": \"Dispatch Kernel\",", "\"kind\": \"Dispatch Kernel\", }"),
    ] {
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text);
        let run = sql("SELECT COUNT(*) AS n FROM kernels", damaged.as_bytes());
        assert_eq!((run.code, run.stdout.as_str()), (5, "n\n47\n"), "{to}: {}", run.stderr);
        assert!(run.stderr.contains("1 events cannot be parsed"), "{to}: {}", run.stderr);
    }
    // Damage before the events costs no event.
    let damaged = text.replacen("\"schemaVersion\": 1", "\"schemaVersion\": 1 2", 1);
    let run = sql("SELECT COUNT(*) AS n FROM kernels", damaged.as_bytes());
    assert_eq!((run.code, run.stdout.as_str()), (5, "n\n48\n"), "{}", run.stderr);
}

#[test]
fn values_of_wrong_types_do_no_harm() {
    let odd = [
        json!({"ph": "X", "cat": "kernel", "name": null, "pid": "gpu", "tid": [], "ts": "soon", "dur": {}, "args": []}),
        json!({"ph": "X", "cat": "kernel", "name": "k", "ts": -1e300, "dur": 1e300, "args": {"grid": 5, "block": [null], "device": "x"}}),
        json!({"ph": "X", "cat": "gpu_memcpy", "args": {"bytes": -5, "kind": 7}}),
        json!({"ph": "X", "cat": "cpu_op", "name": "", "ts": 1, "dur": 1, "args": null}),
        json!({"ph": 3, "cat": []}),
        json!({}),
    ];
    let run = sql("SELECT COUNT(*) AS n, SUM(CAST(valid AS BIGINT)) AS v FROM kernels", trace(&odd).as_bytes());
    assert_eq!((run.code, run.stdout.as_str()), (0, "n,v\n2,0\n"), "{}", run.stderr);
    let run = sql("SELECT CAST(name AS VARCHAR) AS name FROM regions", trace(&odd).as_bytes());
    assert_eq!(run.stdout, "name\nunknown\n", "{}", run.stderr);
    let run = sql("SELECT CAST(direction AS VARCHAR) AS d, bytes FROM memory_copies", trace(&odd).as_bytes());
    assert_eq!(run.stdout, "d,bytes\nNONE,\n", "{}", run.stderr);
}

#[test]
fn what_is_not_read_is_counted() {
    let text = trace(&[
        kernel(1, 1.0, 1.0),
        json!({"ph": "s", "cat": "ac2g", "id": 1}),
        json!({"ph": "s", "cat": "ac2g", "id": 2}),
    ]);
    let found = checks(&text);
    assert!(found.contains("unread_events,info,processes,2") && found.contains("ac2g (2)"), "{found}");
}

#[test]
fn chrome_traces_of_other_programs_are_named() {
    for (text, program) in [
        (
            r#"{"traceEvents": [{"ph": "M", "name": "process_name", "args": {"name": "/host:CPU"}}]}"#,
            "JAX or TensorFlow (XLA)",
        ),
        (r#"{"traceEvents": [], "viztracer_metadata": {"version": "1"}}"#, "VizTracer"),
        (r#"{"traceEvents": [{"name": "k", "ph": "X", "args": {"BeginNs": "1"}}]}"#, "rocprof v1"),
    ] {
        let run = sql("SELECT 1 AS one FROM kernels", text.as_bytes());
        assert_eq!(run.code, 3, "{text}: {}", run.stderr);
        assert!(run.stderr.contains(&format!("a Chrome trace of {program}")), "{text}: {}", run.stderr);
    }
}

#[test]
fn events_alone_are_a_trace() {
    let text = r#"{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1682725898236567,"dur":2}]}"#;
    let run = sql("SELECT start_ns AS s, CAST(domain AS VARCHAR) AS d FROM regions", text.as_bytes());
    assert_eq!(run.stdout, "s,d\n1682725898236567000,torch\n", "{}", run.stderr);
}
