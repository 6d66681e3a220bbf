//! Traces of the PyTorch profiler in the forms in which people have them: members in any order, other versions, JSON that no parser takes,
//! ids that are missing, files that a program merged.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::common::{Run, records, run, succeed};

const BASE_NS: i64 = 1_767_189_312_000_000_000;

fn span(duration: i64) -> Value {
    json!({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 0, "dur": duration})
}

fn operator(name: &str, tid: i64, start: i64, external: i64) -> Value {
    json!({"ph": "X", "cat": "cpu_op", "name": name, "pid": 100, "tid": tid, "ts": start, "dur": 60, "args": {"External id": external}})
}

fn call(tid: i64, start: i64, args: &Value) -> Value {
    json!({"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 100, "tid": tid, "ts": start, "dur": 8, "args": args})
}

fn kernel(name: &str, stream: i64, start: i64, duration: i64, args: &Value) -> Value {
    let mut event = json!({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": start, "dur": duration,
        "args": {"device": 0, "stream": stream}});
    for (key, value) in args.as_object().unwrap() {
        event["args"][key] = value.clone();
    }
    event
}

/// Ten operators with a launch and a kernel each.
fn events() -> Vec<Value> {
    let mut events = vec![span(20_000)];
    for number in 0..10 {
        let start = 1_000 + 1_000 * number;
        events.push(operator("aten::mm", 100, start, 10 + number));
        events.push(call(100, start + 5, &json!({"correlation": 100 + number, "External id": 10 + number})));
        events.push(kernel(
            "gemm",
            7,
            start + 100,
            200,
            &json!({"correlation": 100 + number, "External id": 10 + number}),
        ));
    }
    events
}

pub fn trace_of_operators() -> String {
    document(&events()).to_string()
}

fn document(events: &[Value]) -> Value {
    json!({"schemaVersion": 1, "baseTimeNanoseconds": BASE_NS, "traceEvents": events})
}

/// Text of an object whose members stand in this order.
fn ordered(members: &[(&str, String)]) -> String {
    let members: Vec<String> = members.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
    format!("{{{}}}", members.join(", "))
}

fn written(directory: &Path, name: &str, text: &[u8]) -> String {
    let path = directory.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn sql(statement: &str, text: &[u8]) -> Run {
    let directory = tempfile::tempdir().unwrap();
    let path = written(directory.path(), "trace.json", text);
    run(&["sql", statement, &path, "-f", "csv"])
}

fn checks(text: &[u8]) -> Vec<Value> {
    let directory = tempfile::tempdir().unwrap();
    let path = written(directory.path(), "trace.json", text);
    serde_json::from_str(&run(&["check", &path, "-f", "json", "-q"]).stdout).unwrap()
}

/// Count of a check, 0 if it found nothing.
fn count(checks: &[Value], name: &str) -> i64 {
    let text = serde_json::to_string(checks).unwrap();
    let rows = checks.iter().flat_map(|row| row["rows"].as_array().cloned().unwrap_or_else(|| vec![row.clone()]));
    let found = rows.into_iter().find(|row| row["check_id"] == name);
    found.map_or(0, |row| row["count"].as_i64().unwrap_or_else(|| panic!("{text}")))
}

/// Kernels and their time below each operator.
fn operators(path: &str) -> Vec<(String, i64, i64)> {
    let rows = records(&[
        "sql",
        "SELECT CAST(name AS VARCHAR) AS name, SUM(self_kernels) AS n, SUM(self_kernel_ns) AS ns FROM operators \
         WHERE kind = 'operator' GROUP BY name ORDER BY name",
        path,
        "-q",
    ]);
    let whole = |row: &Value, name: &str| row[name].as_i64().unwrap();
    rows.iter().map(|row| (row["name"].as_str().unwrap().to_owned(), whole(row, "n"), whole(row, "ns"))).collect()
}

fn operators_of(text: &[u8]) -> Vec<(String, i64, i64)> {
    let directory = tempfile::tempdir().unwrap();
    operators(&written(directory.path(), "trace.json", text))
}

/// Valid traces: as text, with the number of their kernels and the first start.
fn forms() -> Vec<(&'static str, String, i64)> {
    let events = || serde_json::to_string(&events()).unwrap();
    let names: Vec<Value> = (0..200)
        .map(|number| json!({"ph": "M", "name": "thread_name", "pid": 100, "tid": number, "ts": 0, "args": {"name": "pt_autograd"}}))
        .collect();
    let named: Vec<Value> = names.iter().cloned().chain(self::events()).collect();
    let many = json!({"system": {"environment": "y".repeat(300_000)}}).to_string();
    let of = |category: &str, event: &dyn Fn() -> Value| {
        let mut event = event();
        event["cat"] = json!(category);
        event
    };
    let gpu = || kernel("gemm", 7, 1_100, 200, &json!({"correlation": 1}));
    let old = json!([
        {"ph": "X", "cat": "Operator", "name": "aten::mm", "pid": 1, "tid": "1", "ts": 1_000, "dur": 60,
            "args": {"Device": 1, "External id": 2, "Trace name": "PyTorch Profiler", "Trace iteration": 0}},
        {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": "1", "ts": 1_005, "dur": 8,
            "args": {"cbid": 211, "correlation": 1, "external id": 2}},
        of("Kernel", &gpu),
    ]);
    let base = || BASE_NS.to_string();
    vec![
        ("sorted", document(&self::events()).to_string(), BASE_NS),
        ("pretty", serde_json::to_string_pretty(&document(&self::events())).unwrap(), BASE_NS),
        ("names first", ordered(&[("traceEvents", json!(named).to_string()), ("schemaVersion", "1".into())]), 0),
        ("events first", ordered(&[("traceEvents", events()), ("baseTimeNanoseconds", base())]), BASE_NS),
        ("much before", ordered(&[("metadata", many.clone()), ("traceEvents", events())]), 0),
        (
            "base behind",
            ordered(&[("metadata", many), ("traceEvents", events()), ("baseTimeNanoseconds", base())]),
            BASE_NS,
        ),
        ("version alone", ordered(&[("schemaVersion", "1".into()), ("traceEvents", json!([gpu()]).to_string())]), 0),
        ("a kernel alone", ordered(&[("traceEvents", json!([gpu()]).to_string())]), 0),
        ("of 2021", ordered(&[("traceEvents", old.to_string())]), 0),
        ("a mark", format!("\u{feff}{}", document(&self::events())), BASE_NS),
        ("blanks", format!("\n \t\r\n{}\n", document(&self::events())), BASE_NS),
    ]
}

#[test]
fn valid_traces_are_recognized_by_their_events() {
    let directory = tempfile::tempdir().unwrap();
    for (number, (form, text, base)) in forms().into_iter().enumerate() {
        for (ending, bytes) in [("json", text.as_bytes().to_vec()), ("json.gz", gzip(text.as_bytes()))] {
            let path = written(directory.path(), &format!("{number}/trace.{ending}"), &bytes);
            let found = succeed(&["sql", "SELECT MIN(start_ns) AS s FROM kernels", &path, "-f", "csv", "-q"]);
            assert_eq!(found, format!("s\n{}\n", base + 1_100_000), "{form} {ending}");
        }
    }
    for category in ["gpu_memset", "cuda_driver", "gpu_memcpy", "hip_runtime", "Memcpy", "Memset", "python_function"] {
        let mut event = kernel("Memset (Device)", 7, 1_100, 200, &json!({"correlation": 1}));
        event["cat"] = json!(category);
        let run = sql("SELECT 1 AS one", json!({"traceEvents": [event]}).to_string().as_bytes());
        assert_eq!(run.code, 0, "{category}: {}", run.stderr);
    }
}

#[test]
fn a_folder_says_what_is_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().to_str().unwrap();
    for rank in 0..2 {
        let mut document = document(&events());
        document["distributedInfo"] = json!({"rank": rank});
        document["padding"] = json!({"of": rank});
        written(directory.path(), &format!("rank{rank}.json"), document.to_string().as_bytes());
    }
    written(
        directory.path(),
        "chrome.json",
        br#"{"traceEvents": [{"ph": "X", "name": "f", "cat": "function", "ts": 1, "dur": 2}]}"#,
    );
    written(directory.path(), "config.json", br#"{"hidden_size": 4096}"#);
    written(directory.path(), "broken.json", br#"{"hidden_size": 4096]"#);
    let run = run(&["check", folder, "-f", "json", "-q"]);
    let found: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((count(&found, "skipped_file"), count(&found, "other_json")), (1, 2), "{}", run.stdout);
    assert!(run.stdout.contains("chrome.json"), "{}", run.stdout);
}

#[test]
fn times_are_exact_however_they_are_written() {
    let event = |start: &str, duration: &str| {
        format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": {start}, "dur": {duration}, "args": {{"device": 0, "stream": 7, "correlation": 1}}}}"#
        )
    };
    for (start, duration, start_ns, duration_ns) in [
        ("1.682725898236567e15", "2.048e+00", 1_682_725_898_236_567_000_i64, 2_048),
        ("1682725898236567.123", "1.001", 1_682_725_898_236_567_123, 1_001),
        ("168272589823656712.3E-2", "25e-1", 1_682_725_898_236_567_123, 2_500),
        ("\"1682725898236660.5\"", "\"2.5\"", 1_682_725_898_236_660_500, 2_500),
    ] {
        let text = format!(r#"{{"schemaVersion": 1, "traceEvents": [{}]}}"#, event(start, duration));
        let run = sql("SELECT start_ns AS s, duration_ns AS d FROM kernels", text.as_bytes());
        assert_eq!(run.stdout, format!("s,d\n{start_ns},{duration_ns}\n"), "{start}: {}", run.stderr);
        assert_eq!(count(&checks(text.as_bytes()), "text_times"), i64::from(start.starts_with('"')), "{start}");
    }
}

#[test]
fn words_and_halves_of_letters_lose_nothing_else() {
    let event = |name: &str, word: &str| {
        format!(
            r#"{{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD{name}", "pid": 0, "tid": 7, "ts": 10, "dur": 2,
            "args": {{"device": 0, "stream": 7, "memory bandwidth (GB/s)": {word}, "correlation": 3, "bytes": 300}}}}"#
        )
    };
    for word in ["N/A", "NaN", "inf", "-Infinity", "N/A (unknown)", "#REF!", "None", "1.5"] {
        let text = format!(r#"{{"schemaVersion": 1, "traceEvents": [{}]}}"#, event("", word));
        let run = sql("SELECT bytes AS b, correlation_id AS c FROM memory_copies", text.as_bytes());
        assert_eq!((run.code, run.stdout.as_str()), (0, "b,c\n300,3\n"), "{word}: {}", run.stderr);
        assert_eq!(count(&checks(text.as_bytes()), "bare_words"), i64::from(word != "1.5"), "{word}");
    }
    let named = |name: &str| {
        let event = format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": 7, "ts": 10, "dur": 2, "args": {{"device": 0}}}}"#
        );
        let text = format!(r#"{{"schemaVersion": 1, "traceEvents": [{event}]}}"#);
        sql("SELECT CAST(kernel_name AS VARCHAR) AS n FROM kernels", text.as_bytes()).stdout
    };
    assert_eq!(named(r"a\ud83d\ude00 b\ud800 \u00e9"), "n\na\u{1f600} b\u{fffd} é\n");
    assert_eq!(named(r"C:\Users\new\x"), "n\nC:\\Users\\new\\x\n");
    assert_eq!(named("tab\there"), "n\ntab\there\n");
}

#[test]
fn damage_behind_and_before_the_events_costs_no_other_member() {
    let list = serde_json::to_string(&events()).unwrap();
    let base = format!("\"baseTimeNanoseconds\": {BASE_NS}");
    for (text, code) in [
        (format!("{{\"schemaVersion\": 1, \"traceEvents\": {list}, \"INFO\": [\"Tracing\nstarted\"], {base}}}"), 0),
        (format!("{{\"schemaVersion\": 1, \"INFO\": \"Tracing\nstarted\", {base}, \"traceEvents\": {list}}}"), 0),
        (format!("{{\"schemaVersion\": 1, \"traceEvents\": {list}, \"INFO\": [1}}, {base}}}"), 5),
        (format!("{{\"schemaVersion\": 1, \"traceEvents\": {list} \"traceName\": \"x\", {base}}}"), 5),
        (format!("{{\"schemaVersion\": 1, \"a\": [1}}, {base}, \"traceEvents\": {list}}}"), 5),
        (format!("{{\"schemaVersion\": 1 2, {base}, \"traceEvents\": {list}}}"), 5),
    ] {
        let run = sql("SELECT COUNT(*) AS n, MIN(start_ns) AS s FROM kernels", text.as_bytes());
        let expected = format!("n,s\n10,{}\n", BASE_NS + 1_100_000);
        assert_eq!((run.code, run.stdout), (code, expected), "{}: {}", text.get(..60).unwrap_or_default(), run.stderr);
    }
    // A second document is lost, other bytes are not; the first is whole.
    let whole = document(&events()).to_string();
    for (behind, code) in [(whole.as_str(), 5), ("[1]", 5), (" \n", 0), ("junk", 0)] {
        let run = sql("SELECT COUNT(*) AS n FROM kernels", format!("{whole}\n{behind}").as_bytes());
        assert_eq!((run.code, run.stdout.as_str()), (code, "n\n10\n"), "{behind}: {}", run.stderr);
    }
    let text = document(&events()).to_string().replacen("\"gemm\"", "\"ge\nmm\"", 1);
    let run = sql("SELECT COUNT(*) AS n FROM kernels", text.as_bytes());
    assert_eq!((run.code, run.stdout.as_str()), (0, "n\n10\n"), "{}", run.stderr);
    assert_eq!(count(&checks(text.as_bytes()), "raw_line_ends"), 1);
}

#[test]
fn a_head_that_ends_in_a_number_is_not_damaged() {
    // The first 4,096 bytes end at each place of a number.
    for shift in 0..12 {
        let start = format!("{{\"a\": \"{}\", \"b\": ", "x".repeat(4_096 - 18 - shift));
        let run = sql("SELECT 1 AS one", format!("{start}-12.5e+10, \"c\": 1}}").as_bytes());
        assert!(run.stderr.contains("JSON of another program"), "{shift}: {}", run.stderr);
    }
}

/// Gives the process id of a rank in a merged file.
type Label<'a> = &'a dyn Fn(i64, &str) -> Value;

/// Events of ranks, with the process ids that a program gave them that merged their traces.
fn merged(label: Label<'_>) -> (Vec<Value>, Vec<Value>) {
    let (mut parts, mut all) = (Vec::new(), Vec::new());
    for rank in 0..2 {
        let mut events = vec![span(20_000)];
        let (name, kernel_name) = if rank == 0 { ("aten::mm", "gemm") } else { ("aten::gelu", "gelu") };
        for number in 0..10 {
            let start = 1_000 + 1_000 * number + 3 * rank;
            let mut operator = operator(name, 5_000 + rank, start, 10 + number);
            let ids = json!({"correlation": 100 + number, "External id": 10 + number});
            let mut call = call(5_000 + rank, start + 5, &ids);
            let mut kernel = kernel(kernel_name, 7, start + 100, 200 + 100 * rank, &ids);
            operator["pid"] = json!(5_000 + rank);
            call["pid"] = json!(5_000 + rank);
            kernel["pid"] = json!(rank);
            kernel["args"]["device"] = json!(rank);
            events.extend([operator, call, kernel]);
        }
        for event in &events {
            let mut event = event.clone();
            let pid = event["pid"].as_str().map_or_else(|| event["pid"].to_string(), str::to_owned);
            event["pid"] = label(rank, &pid);
            all.push(event);
        }
        let gpus = json!([{"id": 0, "name": "AMD Instinct MI300X"}, {"id": 1, "name": "AMD Instinct MI300X"}]);
        let mut part = document(&events);
        part["distributedInfo"] = json!({"rank": rank});
        part["deviceProperties"] = gpus;
        parts.push(part);
    }
    (parts, all)
}

#[test]
fn merged_ranks_are_processes_of_their_own_and_count_once_beside_their_files() {
    let labels: [Label<'_>; 6] = [
        &|rank, pid| json!(format!("[TP0{rank}] {pid}")),
        &|rank, pid| json!(format!("[TP0{rank}-PP00] {pid}")),
        &|rank, pid| json!(format!("rank{rank}_{pid}")),
        &|rank, pid| json!(format!("Rank {rank}: {pid}")),
        &|rank, pid| json!(format!("{pid} (rank {rank})")),
        &|rank, pid| json!(format!("{pid}_tp{rank}")),
    ];
    for label in labels {
        let (parts, all) = merged(label);
        let shown = label(1, "5001");
        let mut document = document(&all);
        let gpu = |id: i64| json!({"id": id, "name": "AMD Instinct MI300X"});
        document["deviceProperties"] = json!([gpu(0), gpu(1), gpu(0), gpu(1)]);
        document["distributedInfo"] = json!({"rank": 0});
        let directory = tempfile::tempdir().unwrap();
        let path = written(directory.path(), "merged.trace.json.gz", &gzip(document.to_string().as_bytes()));
        let expected = [("aten::gelu".to_owned(), 10, 3_000_000), ("aten::mm".to_owned(), 10, 2_000_000)];
        assert_eq!(operators(&path), expected, "{shown}");
        let statement = "SELECT rank, pid FROM processes ORDER BY rank";
        let ranks = succeed(&["sql", statement, &path, "-f", "csv", "-q"]);
        assert_eq!(ranks, "rank,pid\n0,5000\n1,5001\n", "{shown}");
        let statement = "SELECT DISTINCT rank, gpu, device FROM kernels ORDER BY rank";
        let gpus = succeed(&["sql", statement, &path, "-f", "csv", "-q"]);
        assert_eq!(gpus, "rank,gpu,device\n0,0,0\n1,1,1\n", "{shown}");
        for (rank, part) in parts.iter().enumerate() {
            written(directory.path(), &format!("part-{rank}.trace.json"), part.to_string().as_bytes());
            let folder = directory.path().to_str().unwrap();
            let calls = succeed(&["sql", "SELECT COUNT(*) AS n FROM kernels", folder, "-f", "csv", "-q"]);
            assert_eq!(calls, "n\n20\n", "{shown} with {} parts", rank + 1);
        }
        assert_eq!(operators(directory.path().to_str().unwrap()), expected, "{shown}");
    }
}

/// Processes whose ids are texts without number are different ones: the same correlation id of both ties nothing.
#[test]
fn text_pids_are_not_all_the_same() {
    let mut events = Vec::new();
    for (host, name) in [("alpha", "aten::mm"), ("beta", "aten::gelu")] {
        let mut operator = operator(name, 100, 1_000, 10);
        let mut call = call(100, 1_005, &json!({"correlation": 1}));
        operator["pid"] = json!(format!("{host}/python"));
        call["pid"] = json!(format!("{host}/python"));
        events.extend([operator, call, kernel(name, 7, 1_100, 200, &json!({"correlation": 1}))]);
    }
    let text = document(&events).to_string();
    let run = sql("SELECT COUNT(correlation_id) AS n FROM kernels", text.as_bytes());
    assert_eq!(run.stdout, "n\n0\n", "{}", run.stderr);
    assert_eq!(count(&checks(text.as_bytes()), "ambiguous_correlation"), 2);
}

#[test]
fn external_ids_tie_kernels_to_operators_where_nothing_else_does() {
    let mut without = vec![span(20_000)];
    let mut inverted = vec![span(20_000)];
    let mut several = vec![span(20_000)];
    for number in 0..5 {
        let start = 1_000 + 1_000 * number;
        let external = 10 + number;
        let ids = json!({"correlation": 100 + number, "External id": external});
        let external_id = json!({"External id": external});
        for events in [&mut without, &mut inverted, &mut several] {
            events.push(operator("aten::mm", 100, start, external));
        }
        without.push(call(100, start + 5, &external_id));
        without.push(kernel("gemm", 7, start + 100, 200, &external_id));
        inverted.push(call(100, start - 4, &ids));
        inverted.push(kernel("gemm", 7, start + 100, 200, &ids));
        for part in 0..2 {
            several.push(call(100, start + 5 + 20 * part, &external_id));
            several.push(kernel("gemm", 7, start + 100 + 110 * part, 100, &external_id));
        }
    }
    let mm = |n, ns| [("aten::mm".to_owned(), n, ns)];
    let text = document(&without).to_string();
    assert_eq!(operators_of(text.as_bytes()), mm(5, 1_000_000));
    assert_eq!(count(&checks(text.as_bytes()), "tied_by_external_id"), 5);
    let launches = "SELECT COUNT(*) AS n FROM launches";
    assert_eq!(sql(launches, text.as_bytes()).stdout, "n\n5\n", "each operator has one launch and one kernel");
    let text = document(&inverted).to_string();
    assert_eq!(operators_of(text.as_bytes()), mm(5, 1_000_000));
    assert_eq!(count(&checks(text.as_bytes()), "call_outside_operator"), 5);
    let text = document(&several).to_string();
    assert_eq!(operators_of(text.as_bytes()), mm(10, 1_000_000));
    assert_eq!(sql(launches, text.as_bytes()).stdout, "n\n0\n", "which launch is whose is not known");
    let whole = document(&events()).to_string();
    let found = checks(whole.as_bytes());
    assert_eq!((count(&found, "tied_by_external_id"), count(&found, "call_outside_operator")), (0, 0));
}

#[test]
fn a_launch_starts_kernels_on_one_stream_unless_it_is_that_of_a_graph() {
    let events = |launch: &str| {
        let mut events = vec![span(20_000)];
        for number in 0..5 {
            let start = 1_000 + 1_000 * number;
            let id = json!({"correlation": 100 + number});
            let mut call = call(100, start + 5, &id);
            call["name"] = json!(launch);
            events.extend([
                operator("aten::mm", 100, start, 0),
                call,
                kernel("gemm", 94_732_411, start + 100, 200, &id),
                kernel("add", -16, start + 150, 100, &id),
            ]);
        }
        document(&events).to_string()
    };
    let text = events("hipLaunchKernel");
    assert_eq!(operators_of(text.as_bytes()), [("aten::mm".to_owned(), 5, 1_000_000)]);
    assert_eq!(count(&checks(text.as_bytes()), "shared_correlation"), 5);
    let text = events("hipGraphLaunch");
    assert_eq!(operators_of(text.as_bytes()), [("aten::mm".to_owned(), 10, 1_500_000)]);
    assert_eq!(count(&checks(text.as_bytes()), "shared_correlation"), 0);
}

#[test]
fn durations_end_where_later_work_of_their_stream_begins() {
    let mut events = vec![span(20_000)];
    for number in 0..10 {
        let id = json!({"correlation": 100 + number});
        let start = 1_000 + 100 * number;
        events.push(call(100, start - 20, &id));
        let duration = if number == 2 || number == 5 { 600_000 } else { 90 };
        events.push(kernel("gemm", 7, start, duration, &id));
        // Work of another stream goes on meanwhile, and the start of the next overlaps.
        events.push(kernel("copy", 8, start, 110, &json!({"correlation": 200 + number})));
    }
    let mut copy = kernel("Memcpy HtoD (Host -> Device)", 7, 1_550, 20, &json!({"correlation": 300}));
    copy["cat"] = json!("gpu_memcpy");
    events.push(copy);
    let text = document(&events[1..]).to_string();
    let statement = "SELECT CAST(kernel_name AS VARCHAR) AS k, SUM(duration_ns) AS ns FROM kernels WHERE valid GROUP BY kernel_name ORDER BY k";
    let run = sql(statement, text.as_bytes());
    assert_eq!(run.stdout, "k,ns\ncopy,1100000\ngemm,870000\n", "{}", run.stderr);
    assert_eq!(count(&checks(text.as_bytes()), "overrun_duration"), 2);
}

/// Kernels by which pipeline ranks send to the next one, as PyTorch describes them.
fn pipeline(ranks: i64, describe: &dyn Fn(bool, i64, i64, i64) -> Value) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for rank in 0..ranks {
        let mut events = vec![span(20_000)];
        let mut sequence = 0;
        let mut message = |sends: bool, peer: i64, start: i64, duration: i64| {
            sequence += 1;
            let mut args = describe(sends, rank, peer, sequence);
            for (key, value) in
                [("In msg nelems", json!(1_024)), ("dtype", json!("BFloat16")), ("correlation", json!(sequence))]
            {
                args[key] = value;
            }
            args["Collective name"] = json!(if sends { "send" } else { "recv" });
            args["Process Group Name"] = json!("5");
            events.push(kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", 20, start, duration, &args));
        };
        for step in 0..5 {
            let sent = 1_950 + 1_000 * (step + rank);
            if rank > 0 {
                let early = if step == 0 { 400 } else { 100 };
                message(false, rank - 1, sent - 1_000 - early, 50 + early);
            }
            if rank + 1 < ranks {
                message(true, rank + 1, sent, 50);
            }
        }
        let mut document = document(&events);
        document["distributedInfo"] = json!({"rank": rank, "world_size": ranks});
        written(directory.path(), &format!("rank{rank}.json"), document.to_string().as_bytes());
    }
    directory
}

fn collectives(directory: &tempfile::TempDir) -> Vec<Value> {
    records(&["table", "collectives", directory.path().to_str().unwrap(), "-q"])
}

#[test]
fn what_a_rank_sends_is_paired_with_what_the_other_receives() {
    let group = |ranks: i64| json!((0..ranks).collect::<Vec<_>>()).to_string();
    let with_peers = |ranks: i64, with_sequence: bool| {
        pipeline(ranks, &move |sends, _, peer, sequence| {
            let mut args = json!({"Group size": ranks, "Process Group Ranks": group(ranks)});
            args[if sends { "Dst Rank" } else { "Src Rank" }] = json!(peer);
            if with_sequence {
                args["Seq"] = json!(sequence);
            }
            args
        })
    };
    for (ranks, with_sequence) in [(4, true), (4, false), (2, true), (3, false)] {
        let rows = collectives(&with_peers(ranks, with_sequence));
        assert_eq!(rows.len() as i64, 5 * (ranks - 1), "{ranks}: {rows:?}");
        for row in &rows {
            assert_eq!(
                (&row["gpus"], &row["missing"], &row["overlap_ns"]),
                (&json!(2), &json!(0), &json!(50_000)),
                "{row}"
            );
            assert_eq!(row["last_rank"], row["lowest_rank"], "the sender comes last: {row}");
        }
        let waits: i64 = rows.iter().map(|row| row["wait_ns"].as_i64().unwrap()).sum();
        assert_eq!(waits, 800_000 * (ranks - 1));
    }
    // Groups of two name the peer, others without peers are left alone.
    let pairs = pipeline(2, &|_, _, _, _| json!({"Group size": 2, "Process Group Ranks": "[0, 1]"}));
    assert!(collectives(&pairs).iter().all(|row| row["gpus"] == 2 && row["overlap_ns"] == 50_000));
    let unknown = pipeline(4, &|_, _, _, _| json!({"Group size": 4, "Process Group Ranks": "[0, 1, 2, 3]"}));
    let rows = collectives(&unknown);
    assert!(rows.len() == 30 && rows.iter().all(|row| row["gpus"] == 1), "{rows:?}");
}

#[test]
fn kernels_of_an_operator_that_calls_itself_count_once() {
    let mut events = vec![span(20_000)];
    for (name, start, duration) in [("aten::to", 1_000, 60), ("aten::copy_", 1_001, 50), ("aten::to", 1_002, 40)] {
        let mut operator = operator(name, 100, start, start);
        operator["dur"] = json!(duration);
        events.push(operator);
    }
    events.push(call(100, 1_005, &json!({"correlation": 1})));
    events.push(kernel("gemm", 7, 1_100, 200, &json!({"correlation": 1})));
    let directory = tempfile::tempdir().unwrap();
    let path = written(directory.path(), "trace.json", document(&events).to_string().as_bytes());
    let rows = records(&["table", "operator_summary", &path, "-q"]);
    let of = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    for name in ["aten::to", "aten::copy_"] {
        assert_eq!((&of(name)["kernels"], &of(name)["gpu_ns"]), (&json!(1), &json!(200_000)), "{rows:?}");
    }
}

/// Traces without queues: each stream has a track of its own.
#[test]
fn streams_have_tracks_where_no_queue_is_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let mut events = vec![span(20_000)];
    for (number, stream) in [7, 8].into_iter().enumerate() {
        let start = 1_100 + 50 * number as i64;
        events.push(kernel("gemm", stream, start, 200, &json!({"correlation": number + 1})));
    }
    let path = written(directory.path(), "trace.json", document(&events).to_string().as_bytes());
    let out = directory.path().join("out.pftrace");
    succeed(&["convert", &path, "--to", "pftrace", "-o", out.to_str().unwrap(), "-q"]);
    let bytes = std::fs::read(out).unwrap();
    let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(has("Stream 7") && has("Stream 8"), "the tracks are of streams");
}
