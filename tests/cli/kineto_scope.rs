//! Documents that are only a list of events, merged files, traces of other accelerators, work of the backward pass, messages between two
//! ranks in the forms of newer versions.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{records, run};

const SEND_RECEIVE: &str = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";

fn span() -> Value {
    json!({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 0, "dur": 20_000})
}

fn region(category: &str, name: &str, tid: i64, start: i64, duration: i64) -> Value {
    json!({"ph": "X", "cat": category, "name": name, "pid": 100, "tid": tid, "ts": start, "dur": duration, "args": {}})
}

/// A call and its kernel.
fn launched(tid: i64, start: i64, duration: i64, id: i64) -> [Value; 2] {
    let mut call = region("cuda_runtime", "hipLaunchKernel", tid, start, 2);
    call["args"] = json!({"correlation": id});
    let kernel = json!({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": start + 10, "dur": duration,
        "args": {"device": 0, "stream": 7, "correlation": id, "grid": [4, 1, 1], "block": [64, 1, 1]}});
    [call, kernel]
}

fn written(directory: &TempDir, name: &str, text: &str) -> String {
    let path = directory.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn document(events: &[Value]) -> String {
    json!({"schemaVersion": 1, "traceEvents": events}).to_string()
}

fn kernels(path: &str) -> Vec<Value> {
    records(&["sql", "SELECT COUNT(*) AS n, SUM(duration_ns) AS ns FROM kernels", path, "-q"])
}

fn checks(path: &str) -> Vec<Value> {
    let found: Value = serde_json::from_str(&run(&["check", path, "-f", "json", "-q"]).stdout).unwrap();
    let rows = found.as_array().unwrap().iter();
    rows.flat_map(|row| row["rows"].as_array().cloned().unwrap_or_else(|| vec![row.clone()])).collect()
}

fn events() -> Vec<Value> {
    let mut events = vec![span(), region("cpu_op", "aten::mm", 100, 990, 100)];
    events.extend((0..4).flat_map(|number| launched(100, 1_000 + 20 * number, 15, number + 1)));
    events
}

#[test]
fn a_list_of_events_is_a_trace() {
    let list = || serde_json::to_string(&events()).unwrap();
    let names = r#"{"ph": "M", "name": "thread_name", "pid": 100, "tid": 1, "args": {"name": "t"}},"#.repeat(200);
    for text in [
        list(),
        format!("\u{feff}  {}\n", list()),
        serde_json::to_string_pretty(&events()).unwrap(),
        format!("[{names}\n{}", list().trim_start_matches('[')),
        list().replace("},{", "},\n,{"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = written(&directory, "trace.json", &text);
        assert_eq!(kernels(&path), [json!({"n": 4, "ns": 60_000})], "{text}");
        // A folder has it too.
        assert_eq!(kernels(directory.path().to_str().unwrap()), [json!({"n": 4, "ns": 60_000})]);
    }
    // One that is cut has what is there.
    let directory = tempfile::tempdir().unwrap();
    let text = list();
    let path = written(&directory, "trace.json", text.get(..text.len() - 40).unwrap());
    let cut = run(&["table", "kernel_summary", &path, "-f", "csv"]);
    assert_eq!(cut.code, 5, "{}", cut.stderr);
    assert!(cut.stderr.contains("truncated"), "{}", cut.stderr);
    // Lists of other things are not traces.
    for text in
        [r#"[1, 2, 3]"#, r#"[{"kernel": "a"}, {"ph": "X"}]"#, r#"[{"ph": "X", "name": "x", "cat": "function"}]"#]
    {
        let path = written(&directory, "other.json", text);
        assert_eq!(run(&["info", &path]).code, 3, "{text}");
    }
}

/// The events of a rank, and the same with its ids moved as by a program that merges traces into one list.
fn of_rank(rank: i64, shift: i64) -> Vec<Value> {
    let mut events: Vec<Value> =
        (0..3 + rank).flat_map(|number| launched(100, 1_000 + 40 * number, 11 + rank, number + 1)).collect();
    for event in &mut events {
        event["pid"] = json!(event["pid"].as_i64().unwrap() + shift);
    }
    events
}

#[test]
fn a_merged_file_with_moved_ids_counts_once_beside_its_parts() {
    let directory = tempfile::tempdir().unwrap();
    let mut merged = Vec::new();
    for rank in 0..3 {
        let document = json!({"schemaVersion": 1, "distributedInfo": {"rank": rank}, "traceEvents": of_rank(rank, 0)});
        written(&directory, &format!("rank{rank}.json"), &document.to_string());
        merged.extend(of_rank(rank, 100_000 * rank));
    }
    let folder = directory.path().to_str().unwrap();
    let parts = json!({"n": 3 + 4 + 5, "ns": 1_000 * (3 * 11 + 4 * 12 + 5 * 13)});
    assert_eq!(kernels(folder), std::slice::from_ref(&parts));
    let path = written(&directory, "merged.json", &document(&merged));
    assert_eq!(kernels(folder), std::slice::from_ref(&parts));
    assert!(checks(folder).iter().any(|row| row["check_id"] == "repeated_format"));
    // Alone it is what it is, and with one part missing nothing shows that it has the others.
    assert_eq!(kernels(&path), [parts]);
    std::fs::remove_file(directory.path().join("rank1.json")).unwrap();
    assert_eq!(records(&["sql", "SELECT COUNT(*) AS n FROM kernels", folder, "-q"])[0]["n"], 12 + 3 + 5);
}

#[test]
fn traces_of_other_accelerators_are_named() {
    let directory = tempfile::tempdir().unwrap();
    for (category, name) in [
        ("xpu_runtime", "Intel GPU (XPU)"),
        ("mtia_runtime", "MTIA"),
        ("privateuse1_runtime", "PrivateUse1"),
        ("hpu_op", "HPU"),
    ] {
        let mut all = events();
        all.push(region(category, "launch", 100, 995, 3));
        let path = written(&directory, "trace.json", &document(&all));
        let found = checks(&path);
        let row =
            found.iter().find(|row| row["check_id"] == "other_accelerator").unwrap_or_else(|| panic!("{found:?}"));
        assert!(row["detail"].as_str().unwrap().contains(name), "{row}");
    }
    let mut all = events();
    all.push(json!({"ph": "M", "name": "process_name", "pid": 9, "tid": 0, "args": {"name": "Ascend Hardware"}}));
    let found = checks(&written(&directory, "trace.json", &serde_json::to_string(&all).unwrap()));
    assert!(
        found
            .iter()
            .any(|row| row["check_id"] == "other_accelerator" && row["detail"].as_str().unwrap().contains("Ascend"))
    );
    assert!(
        checks(&written(&directory, "trace.json", &document(&events())))
            .iter()
            .all(|row| row["check_id"] != "other_accelerator")
    );
    let onnx = r#"[{"cat" : "Session","pid" :1,"tid" :2,"dur" :3,"ts" :4,"ph" : "X","name" :"model_loading_from_saved_file","args" : {}}]"#;
    let refused = run(&["info", &written(&directory, "onnx.json", onnx)]);
    assert!(refused.code == 3 && refused.stderr.contains("ONNX Runtime"), "{}", refused.stderr);
}

#[test]
fn sizes_that_are_recorded_as_0_are_those_of_the_call_or_unknown() {
    let directory = tempfile::tempdir().unwrap();
    let mut all = events();
    for kernel in all.iter_mut().filter(|event| event["cat"] == "kernel") {
        (kernel["args"]["grid"], kernel["args"]["block"]) = (json!([0, 0, 0]), json!([0, 0, 0]));
    }
    let first = all.iter_mut().find(|event| event["cat"] == "cuda_runtime").unwrap();
    (first["args"]["grid"], first["args"]["block"]) = (json!([5, 1, 1]), json!([128, 1, 1]));
    let path = written(&directory, "trace.json", &document(&all));
    let rows = records(&["sql", "SELECT grid_x, workgroup_x FROM kernels ORDER BY dispatch_id", &path, "-q"]);
    assert_eq!(rows[0], json!({"grid_x": 640, "workgroup_x": 128}));
    assert_eq!(rows[1], json!({"grid_x": 0, "workgroup_x": 0}));
    let found = checks(&path);
    assert_eq!(found.iter().find(|row| row["check_id"] == "unknown_sizes").unwrap()["count"], 4, "{found:?}");
}

#[test]
fn recursion_counts_once_by_shape_and_by_module() {
    let mut all = vec![span()];
    for (name, start, duration, dims) in
        [("aten::to", 1_000, 60, "[[2]]"), ("aten::copy_", 1_001, 50, "[[2]]"), ("aten::to", 1_002, 40, "[[2]]")]
    {
        let mut operator = region("cpu_op", name, 100, start, duration);
        operator["args"]["Input Dims"] = serde_json::from_str(dims).unwrap();
        all.push(operator);
    }
    for (name, start, duration) in [("Block_0", 998, 70), ("Linear_1", 999, 66), ("Block_0", 1_000, 64)] {
        all.push(region("python_function", &format!("nn.Module: {name}"), 100, start, duration));
    }
    all.extend(launched(100, 1_005, 200, 1));
    let directory = tempfile::tempdir().unwrap();
    let path = written(&directory, "trace.json", &document(&all));
    for (table, names) in
        [("operator_shapes", ["aten::to", "aten::copy_"]), ("module_summary", ["Block_0", "Linear_1"])]
    {
        let rows = records(&["table", table, &path, "-q"]);
        for name in names {
            let row = rows.iter().find(|row| row["name"] == name).unwrap();
            assert_eq!((&row["kernels"], &row["gpu_ns"]), (&json!(1), &json!(200_000)), "{row}");
        }
    }
}

#[test]
fn the_backward_pass_belongs_to_the_range_that_waits_for_it() {
    let backward =
        |tid: i64, start: i64| region("cpu_op", "autograd::engine::evaluate_function: MmBackward0", tid, start, 50);
    let mut all = vec![
        span(),
        region("user_annotation", "ProfilerStep#1", 100, 1_000, 1_000),
        region("user_annotation", "forward", 100, 1_010, 100),
        region("user_annotation", "backward", 100, 1_200, 300),
        region("python_function", "nn.Module: Trainer_0", 100, 1_005, 900),
        backward(200, 1_210),
        backward(200, 1_300),
        backward(200, 1_600),
    ];
    // One call in the forward pass, two below `backward`, one between, one of a thread that has nothing to do with it.
    for (number, (tid, start)) in
        [(100, 1_020), (200, 1_215), (200, 1_305), (200, 1_605), (300, 1_250)].into_iter().enumerate()
    {
        all.extend(launched(tid, start, 5, number as i64 + 1));
    }
    let directory = tempfile::tempdir().unwrap();
    let path = written(&directory, "trace.json", &document(&all));
    let rows = records(&["sql", "SELECT message, kernels FROM ranges ORDER BY start_ns", &path, "-q"]);
    let found: Vec<(&str, i64)> =
        rows.iter().map(|row| (row["message"].as_str().unwrap(), row["kernels"].as_i64().unwrap())).collect();
    assert_eq!(found, [("ProfilerStep#1", 4), ("forward", 1), ("backward", 2)]);
    let modules = records(&["table", "module_summary", &path, "-q"]);
    assert_eq!((&modules[0]["name"], &modules[0]["kernels"]), (&json!("Trainer_0"), &json!(4)));
    // Two threads that could wait for it leave it to none.
    all.push(region("user_annotation", "other", 400, 1_200, 300));
    let path = written(&directory, "two.json", &document(&all));
    let rows =
        records(&["sql", "SELECT message, kernels FROM ranges WHERE message IN ('backward', 'other')", &path, "-q"]);
    assert!(rows.len() == 2 && rows.iter().all(|row| row["kernels"] == 0), "{rows:?}");
}

/// Ranks whose kernels are described by their number, rank and step.
fn ranks(directory: &Path, count: i64, kernel: &str, steps: i64, describe: &dyn Fn(i64, i64) -> Value) -> String {
    for rank in 0..count {
        let mut events = vec![span()];
        for step in 0..steps {
            let mut args = describe(rank, step);
            for (key, value) in [("device", json!(0)), ("stream", json!(20)), ("correlation", json!(step + 1))] {
                args[key] = value;
            }
            // Each rank starts a little later, and all end together.
            let start = 1_000 + 1_000 * step + 10 * rank;
            events.push(json!({"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 20, "ts": start, "dur": 100 - 10 * rank, "args": args}));
        }
        let document =
            json!({"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": count}, "traceEvents": events});
        std::fs::write(directory.join(format!("rank{rank}.json")), document.to_string()).unwrap();
    }
    directory.to_str().unwrap().to_owned()
}

fn group(count: i64) -> Value {
    json!({"Group size": count, "Process Group Name": "5", "Process Group Ranks": json!((0..count).collect::<Vec<i64>>()).to_string()})
}

#[test]
fn coalesced_messages_are_pairs_or_unknown() {
    let coalesced = |count: i64| {
        move |_: i64, _: i64| {
            let mut args = group(count);
            (args["Collective name"], args["In msg nelems"], args["dtype"]) =
                (json!("coalesced"), json!(64), json!("Float"));
            args
        }
    };
    // Each group of messages of two ranks is between both.
    let directory = tempfile::tempdir().unwrap();
    let rows = records(&["table", "collectives", &ranks(directory.path(), 2, SEND_RECEIVE, 5, &coalesced(2)), "-q"]);
    assert!(
        rows.len() == 5 && rows.iter().all(|row| row["gpus"] == 2 && row["operation"] == "send_receive"),
        "{rows:?}"
    );
    // Groups of more ranks do not show which are concerned.
    let directory = tempfile::tempdir().unwrap();
    let path = ranks(directory.path(), 4, SEND_RECEIVE, 5, &coalesced(4));
    let rows = records(&["table", "collectives", &path, "-q"]);
    assert!(rows.len() == 20 && rows.iter().all(|row| row["gpus"] == 1 && row["sizes"] == "mixed group"), "{rows:?}");
    // An exchange of all by such kernels is a collective.
    let directory = tempfile::tempdir().unwrap();
    let path = ranks(directory.path(), 4, SEND_RECEIVE, 5, &|_, _| {
        let mut args = group(4);
        args["Collective name"] = json!("all_to_allv");
        args
    });
    let rows = records(&["table", "collectives", &path, "-q"]);
    assert!(rows.len() == 5 && rows.iter().all(|row| row["gpus"] == 4), "{rows:?}");
}

#[test]
fn ids_of_collectives_match_those_of_all_ranks() {
    // Rank 1 lacks the first collective; numbers or ids say which those that follow are.
    for name in ["Seq", "Comms Id"] {
        let directory = tempfile::tempdir().unwrap();
        let path = ranks(directory.path(), 2, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 4, &|rank, step| {
            let mut args = group(2);
            args["Collective name"] = json!("allreduce");
            args[name] = if name == "Seq" {
                json!(step + rank)
            } else {
                json!(18_446_744_073_709_551_000_u64 + (step + rank) as u64)
            };
            args
        });
        let rows = records(&["table", "collectives", &path, "-q"]);
        let pairs = rows.iter().filter(|row| row["gpus"] == 2).count();
        assert_eq!(pairs, 3, "{name}: {rows:?}");
        assert!(rows.iter().filter(|row| row["gpus"] == 2).all(|row| row["matched_by"] == "sequence"), "{rows:?}");
    }
}
