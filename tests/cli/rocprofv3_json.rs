//! rocprofv3 JSON: small documents made here, and a real file.

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::common::{Run, listing, number, real, records, run, succeed};
use crate::rocprofv3_documents::{FINI, INIT, call, counted, dispatch, document, process};

/// A directory for the files of one test.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn rows(sql: &str, input: &str) -> Vec<Value> {
    records(&["sql", sql, input])
}

fn anomalies(input: &str) -> Vec<Value> {
    let answer = run(&[
        "sql",
        "SELECT check_id, table_name, count, detail FROM anomalies ORDER BY check_id, table_name, detail",
        input,
        "-f",
        "json",
    ]);
    serde_json::from_str(&answer.stdout).unwrap()
}

fn has_anomaly(input: &str, check: &str, table: &str, count: i64) -> bool {
    let found = anomalies(input);
    let has = found.iter().any(|a| a["check_id"] == check && a["table_name"] == table && a["count"] == count);
    assert!(has, "{check} {table} {count} is not in {found:#?}");
    has
}

#[test]
fn every_table_is_filled() {
    let place = Place::new();
    let file = place.write("1_results.json", serde_json::to_string_pretty(&document(&[process(1)])).unwrap());
    let first = |sql: &str| rows(sql, &file).remove(0);
    assert_eq!(
        first("SELECT * FROM processes"),
        json!({"process": 0, "rank": 0, "role": "trace", "guid": null, "node": 0, "hostname": "host-a", "machine_id": "m1",
            "pid": 1, "ppid": null, "command": "./app --steps 5", "start_ns": INIT, "end_ns": FINI, "source": "1_results.json",
            "format": "rocprofv3-json", "schema_version": null})
    );
    assert_eq!(
        first("SELECT * FROM agents WHERE agent_id = 2"),
        json!({"process": 0, "rank": 0, "agent_id": 2, "agent_type": "GPU", "gpu": 1, "device": 1, "name": "gfx942",
            "product_name": "AMD Instinct MI300X", "cu_count": 304, "num_xcc": 8, "simd_per_cu": 4, "max_waves_per_simd": 8,
            "wave_size": 64, "lds_bytes": 65536, "max_clock_mhz": 2100, "mem_clock_mhz": 1300, "mem_bus_bits": 8192,
            "mem_bytes": 206_141_652_992_i64, "shader_engines": 32, "max_waves_per_cu": 32, "lds_banks": null, "scalar_caches": null,
            "l2_channels": null, "hbm_channels": null, "command_pipes": null, "mem_bytes_per_s": null, "pci_device_id": 29857, "uuid": "02000000000000000000000000000000"})
    );
    assert_eq!(
        first("SELECT * FROM kernels ORDER BY dispatch_id"),
        json!({"process": 0, "rank": 0, "dispatch_id": 1, "kernel_id": 8, "kernel_name": "void scale<float>(float*, int)",
            "short_name": "scale", "category": first("SELECT category FROM kernel_symbols WHERE kernel_id = 8")["category"],
            "agent_id": 1, "gpu": 0, "device": 0, "queue_id": 3, "stream_id": 2, "tid": 70, "correlation_id": 101, "external_id": 7,
            "region_name": "forward", "start_ns": 1_200_000, "end_ns": 1_200_500, "duration_ns": 500, "valid": true,
            "workgroup_x": 64, "workgroup_y": 2, "workgroup_z": 1, "grid_x": 640, "grid_y": 4, "grid_z": 1, "lds_bytes": 2048,
            "scratch_bytes": 16, "graph_exec_id": null, "graph_node_id": null, "inputs": null})
    );
    assert_eq!(
        rows("SELECT kernel_name, short_name FROM kernels ORDER BY dispatch_id", &file)[1..],
        [
            json!({"kernel_name": "_Zmangled5", "short_name": "rename.kd"}),
            json!({"kernel_name": "kernel_99", "short_name": "kernel_99"})
        ]
    );
    assert_eq!(
        rows(
            "SELECT region_id, domain, category, name, message, correlation_id, parent_correlation_id, duration_ns FROM regions ORDER BY region_id",
            &file
        ),
        [
            json!({"region_id": 1, "domain": "hip", "category": "HIP_RUNTIME_API", "name": "hipLaunchKernel", "message": null,
                "correlation_id": 101, "parent_correlation_id": null, "duration_ns": 10_000}),
            json!({"region_id": 2, "domain": "hip", "category": "HIP_RUNTIME_API", "name": "hipMalloc", "message": null,
                "correlation_id": 102, "parent_correlation_id": 101, "duration_ns": 1_000}),
            json!({"region_id": 3, "domain": "marker", "category": "MARKER_CORE_RANGE_API", "name": "roctxThreadRangeA",
                "message": "step 1", "correlation_id": 201, "parent_correlation_id": null, "duration_ns": 1_950_000}),
        ]
    );
    assert_eq!(
        rows("SELECT mark_id, domain, name, message, time_ns FROM marks ORDER BY mark_id", &file),
        [
            json!({"mark_id": 1, "domain": "hip", "name": "hipMalloc", "message": null, "time_ns": 1_120_000}),
            json!({"mark_id": 2, "domain": "marker", "name": "roctxMarkA", "message": "mark", "time_ns": 1_060_000}),
            json!({"mark_id": 3, "domain": "marker", "name": "roctxNameOsThread", "message": "main thread", "time_ns": 1_010_000}),
            json!({"mark_id": 4, "domain": "kfd", "name": "EVICT", "message": null, "time_ns": 1_700_000}),
        ]
    );
    assert_eq!(
        rows("SELECT owner, owner_id, position, type, name, value FROM args ORDER BY owner_id, position", &file),
        [
            json!({"owner": "region", "owner_id": 1, "position": 0, "type": "hipStream_t", "name": "stream", "value": "0x0"}),
            json!({"owner": "region", "owner_id": 1, "position": 1, "type": "int", "name": "n", "value": "5"}),
        ]
    );
    assert_eq!(
        rows(
            "SELECT direction, src_agent_id, dst_agent_id, gpu, peer_gpu, bytes FROM memory_copies ORDER BY copy_id",
            &file
        ),
        [
            json!({"direction": "H2D", "src_agent_id": 0, "dst_agent_id": 1, "gpu": 0, "peer_gpu": null, "bytes": 4096}),
            json!({"direction": "P2P", "src_agent_id": 1, "dst_agent_id": 2, "gpu": 0, "peer_gpu": 1, "bytes": 4096}),
            json!({"direction": "D2D", "src_agent_id": 1, "dst_agent_id": 1, "gpu": 0, "peer_gpu": null, "bytes": 4096}),
            json!({"direction": "D2H", "src_agent_id": 1, "dst_agent_id": 0, "gpu": 0, "peer_gpu": null, "bytes": 4096}),
        ]
    );
    assert_eq!(
        rows(
            "SELECT operation, level, agent_id, address, bytes, flags, queue_id FROM memory_allocations ORDER BY alloc_id",
            &file
        ),
        [
            json!({"operation": "ALLOC", "level": "REAL", "agent_id": 1, "address": 255, "bytes": 256, "flags": null, "queue_id": null}),
            json!({"operation": "ALLOC", "level": "VIRTUAL", "agent_id": 1, "address": -1, "bytes": 512, "flags": null, "queue_id": null}),
            json!({"operation": "FREE", "level": "REAL", "agent_id": 1, "address": 255, "bytes": 0, "flags": null, "queue_id": null}),
            json!({"operation": "FREE", "level": "VIRTUAL", "agent_id": 1, "address": null, "bytes": 0, "flags": null, "queue_id": null}),
            json!({"operation": "RECLAIM", "level": "SCRATCH", "agent_id": 1, "address": null, "bytes": 512, "flags": 2, "queue_id": 4}),
        ]
    );
    assert_eq!(
        rows("SELECT operation, gpu, queue_id, source_queue_id, event_handle, duration_ns FROM hip_events", &file),
        [
            json!({"operation": "HIP_EVENT_WAIT", "gpu": 0, "queue_id": 3, "source_queue_id": 4, "event_handle": 16, "duration_ns": 10})
        ]
    );
    assert_eq!(
        rows("SELECT * FROM pc_samples ORDER BY dispatch_id", &file),
        [1, 2].map(|dispatch| json!({"process": 0, "rank": 0, "dispatch_id": dispatch, "code_object_id": 1, "code_object_offset": 8040,
            "instruction": if dispatch == 1 { json!("v_add_f32 v0, v1, v2") } else { Value::Null },
            "comment": if dispatch == 1 { json!("app.cpp:12") } else { Value::Null },
            "stall_reason": "WAITCNT", "instruction_type": "TYPE_NO_INST", "wave_issued": false, "exec_mask": "0xffffffffffffffff",
            "xcc": 3, "shader_engine": 1, "cu": 7, "simd": 2, "wave": 4, "time_ns": 1_200_100}))
    );
    assert_eq!(rows("SELECT tid, name FROM threads", &file), [json!({"tid": 70, "name": "main thread"})]);
    assert_eq!(
        rows("SELECT queue_id FROM queues ORDER BY queue_id", &file),
        [json!({"queue_id": 3}), json!({"queue_id": 4})]
    );
    assert_eq!(rows("SELECT stream_id, name FROM streams", &file), [json!({"stream_id": 2, "name": null})]);
    assert_eq!(
        rows("SELECT code_object_id, agent_id, uri, load_base, load_size FROM code_objects", &file),
        [json!({"code_object_id": 1, "agent_id": 1, "uri": "memory://1", "load_base": -1, "load_size": 64})]
    );
    assert_eq!(
        rows(
            "SELECT kernel_id, mangled_name, base_name, vgpr, accum_vgpr, sgpr, lds_static_bytes, scratch_static_bytes, code_object_id FROM kernel_symbols ORDER BY kernel_id",
            &file
        )[1],
        json!({"kernel_id": 8, "mangled_name": "_Zmangled8", "base_name": "scale", "vgpr": 64, "accum_vgpr": 4, "sgpr": 32,
            "lds_static_bytes": 1024, "scratch_static_bytes": 16, "code_object_id": 1})
    );
    let info = succeed(&["info", &file]);
    for count in [
        "threads 1",
        "queues 2",
        "streams 1",
        "code_objects 1",
        "kernel_symbols 2",
        "kernels 3",
        "memory_copies 4",
        "memory_allocations 5",
        "regions 3",
        "marks 4",
        "args 2",
        "pc_samples 2",
        "hip_events 1",
    ] {
        assert!(info.contains(count), "{count}: {info}");
    }
    has_anomaly(&file, "missing_symbol", "kernels", 1);
}

#[test]
fn a_dataset_made_of_it_is_the_same_and_holds_no_secrets() {
    let place = Place::new();
    let mut process = process(1);
    process["callback_records"]["counter_collection"] = json!([counted(1, &[(55, json!(2.0))])]);
    let file = place.write("a.json", document(&[process]).to_string());
    let dataset = place.0.path().join("dataset");
    let dataset = dataset.to_str().unwrap();
    succeed(&["convert", &file, "-o", dataset]);
    let manifest = std::fs::read_to_string(Path::new(dataset).join("manifest.json")).unwrap();
    assert!(!manifest.contains("secret"), "{manifest}");
    for (table, order) in [
        ("processes", "process"),
        ("agents", "agent_id"),
        ("queues", "queue_id"),
        ("threads", "tid"),
        ("code_objects", "code_object_id"),
        ("kernel_symbols", "kernel_id"),
        ("kernels", "dispatch_id"),
        ("memory_copies", "copy_id"),
        ("memory_allocations", "alloc_id"),
        ("regions", "region_id"),
        ("marks", "mark_id"),
        ("args", "position"),
        ("counter_dispatches", "dispatch_id"),
        ("counters", "counter"),
        ("counter_instances", "instance"),
        ("pc_samples", "dispatch_id"),
        ("hip_events", "hip_event_id"),
    ] {
        let sql = format!("SELECT * FROM {table} ORDER BY {order}");
        let own = rows(&sql, &file);
        assert!(!own.is_empty(), "{table}");
        assert_eq!(own, rows(&sql, dataset), "{table}");
    }
}

#[test]
fn compact_pretty_and_compressed_are_the_same() {
    let place = Place::new();
    let document = document(&[process(1), process(2)]);
    let pretty = serde_json::to_string_pretty(&document).unwrap();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(pretty.as_bytes()).unwrap();
    let compressed = encoder.finish().unwrap();
    // Indented by four and with spaces before the first bracket, as cereal writes it.
    let files = [
        place.write("a.json", document.to_string()),
        place.write("b.json", format!("\n  {}\n", pretty.replace("  ", "    "))),
        place.write("c.json.gz", &compressed),
    ];
    let before = listing(place.0.path());
    let sql = "SELECT process, dispatch_id, kernel_name, start_ns FROM kernels ORDER BY process, dispatch_id";
    let answers: Vec<Vec<Value>> = files.iter().map(|file| rows(sql, file)).collect();
    assert_eq!(answers[0].len(), 6);
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
    assert_eq!(listing(place.0.path()), before, "nothing is created near the inputs");
    assert_eq!(number("SELECT COUNT(*) AS n FROM processes", &files[0]), 2);

    let cut = place.write("cut.json.gz", &compressed[..compressed.len() / 2]);
    for verb in ["info", "check"] {
        let run = run(&[verb, &cut]);
        assert_eq!(run.code, 5, "{}", run.stderr);
        assert!(run.stderr.contains("compressed data is truncated"), "{}", run.stderr);
        assert!(verb == "info" || run.stdout.contains("damaged_input"), "{}", run.stdout);
    }
}

#[test]
fn what_is_odd_is_read_and_noted() {
    let place = Place::new();
    let mut odd = process(1);
    let buffers = odd["buffer_records"].as_object_mut().unwrap();
    buffers.insert("new_things".to_owned(), json!([{"a": 1}, {"a": 2}]));
    buffers.insert("future_api".to_owned(), json!([call(77, 5, 900, 1_900_000, 1_900_100)]));
    buffers["kernel_dispatch"][0]["dispatch_info"]["agent_id"]["handle"] = json!(123);
    buffers["kernel_dispatch"][1]["start_timestamp"] = json!("1300000");
    buffers["kernel_dispatch"][1]["end_timestamp"] = json!(1_300_250.0);
    odd["unheard_of"] = json!({"x": [1, 2]});
    let text = document(&[odd]).to_string();
    let text = text.replace("\"private_segment_size\":16,\"queue", "\"private_segment_size\":-nan,\"queue");
    let mut bytes = text.into_bytes();
    let place_of = |bytes: &[u8], text: &[u8]| bytes.windows(text.len()).position(|window| window == text).unwrap();
    let name = b"\"formatted_kernel_name\":\"void ";
    let at = place_of(&bytes, name) + name.len();
    bytes[at] = 0xff;
    let file = place.write("odd.json", &bytes);
    assert_eq!(run(&["info", &file]).code, 0);
    assert_eq!(
        rows(
            "SELECT kernel_name, scratch_bytes, agent_id, start_ns, end_ns FROM kernels ORDER BY dispatch_id LIMIT 2",
            &file
        ),
        [
            json!({"kernel_name": "void \u{fffd}ffcale<float>(float*, int)", "scratch_bytes": null, "agent_id": null, "start_ns": 1_200_000, "end_ns": 1_200_500}),
            json!({"kernel_name": "_Zmangled5", "scratch_bytes": null, "agent_id": 2, "start_ns": 1_300_000, "end_ns": 1_300_250}),
        ]
    );
    assert_eq!(
        rows("SELECT domain, category, name FROM regions ORDER BY region_id DESC LIMIT 1", &file),
        [json!({"domain": "future", "category": "FUTURE_API", "name": "operation 5"})]
    );
    has_anomaly(&file, "unknown_section", "buffer_records.new_things", 2);
    assert!(run(&["table", "top", &file]).stderr.contains("buffer_records.new_things"));
    has_anomaly(&file, "invalid_utf8", "kernel_symbols", 1);
    has_anomaly(&file, "missing_agent", "kernels", 1);
    has_anomaly(&file, "unknown_kind", "regions", 1);
    let unknown = anomalies(&file).into_iter().find(|anomaly| anomaly["check_id"] == "unknown_kind").unwrap();
    assert!(unknown["detail"].as_str().unwrap().contains("buffer_records.future_api"), "{unknown}");
}

#[test]
fn missing_keys_are_empty() {
    let place = Place::new();
    // A process without dispatches has no kernels to sum up, and a dispatch without anything is one of unknown times.
    for (text, summary) in [
        (r#"{"rocprofiler-sdk-tool": [{}]}"#, 3),
        (r#"{"rocprofiler-sdk-tool": {"metadata": {"pid": 5}}}"#, 3),
        (r#"{"rocprofiler-sdk-tool": [{"buffer_records": {"kernel_dispatch": [{}], "hip_api": [{}]}}]}"#, 0),
        (
            r#"{"rocprofiler-sdk-tool": [{"metadata": {"node": null, "command": null}, "buffer_records":
            {"kernel_dispatch": [{"correlation_id": null, "dispatch_info": null}], "hip_api": [{"args": null}]}}]}"#,
            0,
        ),
    ] {
        let file = place.write("a.json", text);
        let verbs = [(&["info", &file][..], 0), (&["check", &file], 0), (&["table", "kernel_summary", &file], summary)];
        for (verb, code) in verbs {
            let found = run(verb);
            assert_eq!(found.code, code, "{verb:?} on {text}: {}", found.stderr);
        }
    }
    let file = place.write("a.json", r#"{"rocprofiler-sdk-tool": []}"#);
    let run = run(&["info", &file]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("without any process"), "{}", run.stderr);
}

#[test]
fn a_bad_record_does_not_lose_the_others() {
    let place = Place::new();
    let text = serde_json::to_string_pretty(&document(&[process(1)])).unwrap();
    let broken = text.replacen("\"dispatch_id\": 2", "\"dispatch_id\": 2x", 1);
    let huge = text.replacen("\"dispatch_id\": 2", "\"dispatch_id\": 1e99999", 1);
    for text in [broken, huge] {
        let file = place.write("a.json", text);
        let answer = run(&["sql", "SELECT dispatch_id FROM kernels ORDER BY dispatch_id", &file, "-f", "csv"]);
        assert_eq!((answer.code, answer.stdout.as_str()), (5, "dispatch_id\n1\n3\n"), "{}", answer.stderr);
        assert!(answer.stderr.contains("buffer_records.kernel_dispatch"), "{}", answer.stderr);
        assert!(answer.stderr.contains("1 of 3 records"), "{}", answer.stderr);
    }
}

#[test]
fn a_lost_bracket_does_not_lose_the_records_behind() {
    let place = Place::new();
    let text = document(&[process(1)]).to_string();
    let at = text.find("\"grid_size\":{").unwrap() + text.split_once("\"grid_size\":{").unwrap().1.find('}').unwrap();
    let lost: String = text.char_indices().filter(|(place, _)| *place != at + 13).map(|(_, letter)| letter).collect();
    assert_eq!(lost.len() + 1, text.len());
    let file = place.write("a.json", lost);
    let answer = run(&["sql", "SELECT dispatch_id FROM kernels ORDER BY dispatch_id", &file, "-f", "csv"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (5, "dispatch_id\n2\n3\n"), "{}", answer.stderr);
    assert_eq!(run(&["sql", "SELECT COUNT(*) AS n FROM memory_copies", &file, "-f", "csv"]).stdout, "n\n4\n");
}

#[test]
fn deep_nesting_is_survived() {
    let place = Place::new();
    let text = document(&[process(1)]).to_string();
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("{\"handle\":", "}")] {
        let deep = format!("{}2{}", open.repeat(100_000), close.repeat(100_000));
        for (key, value) in [("dispatch_id", "2"), ("pid", "1"), ("kind", "1"), ("name", "\"SQ_WAVES\""), ("type", "2")]
        {
            let text = text.replacen(&format!("\"{key}\":{value}"), &format!("\"{key}\":{deep}"), 1);
            let file = place.write("a.json", text);
            let answer = run(&["sql", "SELECT COUNT(*) AS n FROM kernels", &file]);
            assert!([0, 5].contains(&answer.code), "{open} {key}: {}", answer.stderr);
            assert!([0, 5].contains(&run(&["info", &file]).code), "{open} {key}");
        }
    }
}

#[test]
fn a_truncated_file_gives_its_whole_records() {
    let place = Place::new();
    let sql = "SELECT COUNT(*) AS n FROM kernels";
    for text in [
        document(&[process(1), process(2)]).to_string(),
        serde_json::to_string_pretty(&document(&[process(1)])).unwrap(),
    ] {
        let whole = number(sql, &place.write("whole.json", &text));
        let mut last = 0;
        for step in 1..24 {
            let length = text.len() * step / 24;
            let file = place.write("cut.json", &text.as_bytes()[..length]);
            let Run { code, stdout, stderr } = run(&["sql", sql, &file, "-f", "csv"]);
            assert_eq!(code, 5, "{length}: {stderr}");
            if let Some(count) = stdout.lines().nth(1) {
                let count: i64 = count.parse().unwrap();
                assert!(count >= last && count <= whole, "{length}");
                last = count;
            }
        }
        assert!(last > 0);
    }
}

#[test]
fn counters_of_dispatches() {
    let place = Place::new();
    let mut process = process(1);
    process["callback_records"]["counter_collection"] = json!([
        counted(1, &[(55, json!(2.0)), (55, json!(5)), (56, json!(1.5))]),
        counted(4, &[(55, json!(7)), (55, json!("NaN"))]),
    ]);
    process["callback_records"]["spm_counter_collection"] = json!([{"dispatch_data": counted(1, &[])["dispatch_data"],
        "records": [{"counter_id": {"handle": 55}, "value": 3.5, "timestamp": 1_200_050, "instance_id": 8}]}]);
    let file = place.write("a.json", document(&[process]).to_string().replace("\"NaN\"", "NaN"));
    assert_eq!(
        rows(
            "SELECT dispatch_id, counter, value, min, max, mean, instances FROM counters ORDER BY dispatch_id, counter",
            &file
        ),
        [
            json!({"dispatch_id": 1, "counter": "SQ_WAVES", "value": 7.0, "min": 2.0, "max": 5.0, "mean": 3.5, "instances": 2}),
            json!({"dispatch_id": 1, "counter": "counter_56", "value": 1.5, "min": 1.5, "max": 1.5, "mean": 1.5, "instances": 1}),
            json!({"dispatch_id": 4, "counter": "SQ_WAVES", "value": 7.0, "min": 7.0, "max": 7.0, "mean": 7.0, "instances": 1}),
        ]
    );
    assert_eq!(
        rows(
            "SELECT instance, xcc, shader_engine, channel, value FROM counter_instances WHERE dispatch_id = 1 AND counter = 'SQ_WAVES' ORDER BY instance",
            &file
        ),
        [
            json!({"instance": 0, "xcc": 1, "shader_engine": 2, "channel": null, "value": 2.0}),
            json!({"instance": 1, "xcc": null, "shader_engine": null, "channel": null, "value": 5.0}),
        ]
    );
    // A dispatch that only counter collection saw is one all the same.
    let ids = "SELECT dispatch_id, tid, stream_id FROM kernels ORDER BY dispatch_id DESC LIMIT 1";
    assert_eq!(rows(ids, &file), [json!({"dispatch_id": 4, "tid": 71, "stream_id": 5})]);
    assert_eq!(number("SELECT COUNT(*) AS n FROM counter_dispatches", &file), 4);
    assert_eq!(
        rows("SELECT track, name, agent_id, device, time_ns, value FROM samples", &file),
        [json!({"track": "spm", "name": "SQ_WAVES", "agent_id": 1, "device": 0, "time_ns": 1_200_050, "value": 3.5})]
    );
    assert!(succeed(&["info", &file]).contains("kernels 4"));
    let check = run(&["check", &file]);
    assert!(check.stdout.contains("serialised_run"), "{}", check.stdout);
}

#[test]
fn a_counter_pass_beside_its_trace() {
    let place = Place::new();
    place.write("rank0_trace.json", document(&[process(1)]).to_string());
    let mut pass = process(2);
    pass["callback_records"]["counter_collection"] = json!([counted(1, &[(55, json!(3))])]);
    place.write("rank0_counters.json", document(&[pass]).to_string());
    let directory = place.0.path().to_str().unwrap();
    let count = |table: &str| {
        let sql = format!("SELECT COUNT(*) AS n FROM {table}");
        records(&["sql", &sql, directory, "--rank-from", "rank(\\d+)"])[0]["n"].as_i64().unwrap()
    };
    assert_eq!((count("processes"), count("kernels"), count("regions"), count("pc_samples")), (2, 3, 3, 4));
    assert_eq!((count("counter_dispatches"), count("counters")), (3, 1));
}

#[test]
fn keys_given_twice_count_once() {
    let place = Place::new();
    let mut twice = process(1);
    let symbol = twice["kernel_symbols"][1].clone();
    twice["kernel_symbols"].as_array_mut().unwrap().push(symbol);
    twice["buffer_records"]["kernel_dispatch"].as_array_mut().unwrap().push(dispatch(1, 8, 901, 1_500_000, 1_500_500));
    twice["callback_records"]["counter_collection"] = json!([counted(1, &[(55, json!(3))])]);
    let file = place.write("a.json", document(&[twice]).to_string());
    let calls = |name: &str| records(&["table", "kernel_summary", &file, "--name", name])[0]["calls"].clone();
    for name in ["full", "short", "base", "mangled"] {
        assert_eq!(calls(name), 2, "{name}: two dispatches of the kernel with two symbols");
    }
    let summary = records(&["table", "counter_summary", &file, "--by", "kernel_name"]);
    assert_eq!((&summary[0]["dispatches"], &summary[0]["total"]), (&json!(1), &json!(3.0)));
    has_anomaly(&file, "repeated_record", "kernel_symbols", 1);
    has_anomaly(&file, "repeated_record", "counter_dispatches", 1);
    has_anomaly(&file, "repeated_dispatch", "kernels", 1);
    assert!(succeed(&["info", &file]).contains("counter_dispatches 3"));
}

#[test]
fn a_counted_dispatch_without_id_is_kept() {
    let place = Place::new();
    let mut counts = process(1);
    let mut nameless = counted(4, &[(55, json!(3))]);
    nameless["dispatch_data"]["dispatch_info"].as_object_mut().unwrap().remove("dispatch_id");
    counts["callback_records"]["counter_collection"] = json!([nameless]);
    let file = place.write("a.json", document(&[counts]).to_string());
    assert_eq!(number("SELECT COUNT(*) AS n FROM kernels", &file), 4);
    assert_eq!(number("SELECT COUNT(*) AS n FROM counter_dispatches", &file), 4);
}

#[test]
fn counter_values_that_are_left_out_are_noted() {
    let place = Place::new();
    let mut counts = process(1);
    counts["callback_records"]["counter_collection"] = json!([counted(1, &[(55, json!(3)), (55, json!("NaN"))])]);
    let file = place.write("a.json", document(&[counts]).to_string());
    has_anomaly(&file, "missing_value", "counters", 1);
}

#[test]
fn counter_passes_without_known_ranks_are_pointed_out() {
    let place = Place::new();
    let mut pass = process(2);
    pass["callback_records"]["counter_collection"] = json!([counted(1, &[(55, json!(3))])]);
    place.write("rank0_trace.json", document(&[process(1)]).to_string());
    place.write("rank0_counters.json", document(&[pass]).to_string());
    let directory = place.0.path().to_str().unwrap();
    let query = ["table", "kernel_summary", directory];
    assert!(run(&query).stderr.contains("--rank-from"), "{}", run(&query).stderr);
    let named = run(&[&query[..], &["--rank-from", "rank(\\d+)"]].concat());
    assert_eq!((named.code, named.stderr.as_str()), (0, ""));
}

#[test]
fn arguments_stay_with_their_calls() {
    let place = Place::new();
    let mut odd = process(1);
    let with_args = |id: i64, args: Value| {
        let mut call = call(1, 0, id, 1_150_000 + id, 1_160_000 + id);
        call["args"] = args;
        call
    };
    let named = |name: &str| json!([{"type": "int", "name": name, "value": "1"}]);
    let mut bare = with_args(500, named("bare"));
    bare["correlation_id"] = json!(500);
    odd["buffer_records"]["hip_api"] =
        json!([with_args(501, json!({"by_name": 7})), bare, with_args(502, json!([5])), with_args(503, named("last"))]);
    let text = document(&[odd]).to_string();
    let file = place.write("a.json", &text);
    let sql = "SELECT r.correlation_id, a.name, a.value FROM args AS a JOIN regions AS r ON r.region_id = a.owner_id \
        ORDER BY r.region_id, a.position";
    assert_eq!(
        rows(sql, &file),
        [
            json!({"correlation_id": 501, "name": "by_name", "value": "7"}),
            json!({"correlation_id": 500, "name": "bare", "value": "1"}),
            json!({"correlation_id": 502, "name": "", "value": null}),
            json!({"correlation_id": 503, "name": "last", "value": "1"}),
        ]
    );
    assert!(succeed(&["info", &file]).contains("args 4"));
    // A call that is refused takes its arguments with it.
    let file = place.write("a.json", text.replacen("\"kind\":1,", "\"kind\":1,\"kind\":1,", 2));
    let answer = run(&["sql", sql, &file, "-f", "csv"]);
    assert_eq!((answer.code, answer.stdout.lines().last()), (5, Some("503,last,1")), "{}", answer.stderr);
}

#[test]
fn half_a_character_is_replaced() {
    let place = Place::new();
    let text = document(&[process(1)]).to_string().replace("void scale", "void \\udcff\\ud83d\\ude00scale");
    let file = place.write("a.json", text);
    let name = rows("SELECT kernel_name FROM kernels ORDER BY dispatch_id LIMIT 1", &file);
    assert_eq!(name, [json!({"kernel_name": "void \u{fffd}\u{1f600}scale<float>(float*, int)"})]);
    has_anomaly(&file, "invalid_utf8", "kernel_symbols", 2);
}

#[test]
fn captures_of_the_same_size_are_told_apart() {
    let place = Place::new();
    let nameless = |end: i64| {
        let mut process = process(1);
        process.as_object_mut().unwrap().remove("metadata");
        process["buffer_records"]["kernel_dispatch"][0] = dispatch(1, 8, 901, 1_200_000, end);
        process
    };
    let file = place.write("a.json", document(&[nameless(1_200_500), nameless(1_200_700)]).to_string());
    assert_eq!(number("SELECT COUNT(*) AS n FROM processes", &file), 2);
    assert_eq!(run(&["info", &file]).stderr, "");
}

#[test]
fn processes_of_a_file_are_ranked_by_pid() {
    let place = Place::new();
    let processes: Vec<Value> = [12, 10, 14, 11, 13].into_iter().map(process).collect();
    let file = place.write("a.json", document(&processes).to_string());
    let pids: Vec<Value> = rows("SELECT pid FROM processes ORDER BY rank", &file);
    assert_eq!(pids, [10, 11, 12, 13, 14].map(|pid| json!({"pid": pid})));
}

#[test]
fn captures_given_twice() {
    let place = Place::new();
    let text = document(&[process(1)]).to_string();
    place.write("a_results.json", &text);
    place.write("b_results.json", &text);
    place.write("other.json", r#"{"traceEvents": []}"#);
    place.write("c_results.json", "");
    place.write("notes.txt", "x");
    let directory = place.0.path().to_str().unwrap();
    let info = run(&["info", directory]);
    assert_eq!(info.code, 5, "an empty file named like a trace is a rank that was lost: {}", info.stderr);
    assert!(info.stdout.starts_with("1 process,"), "{}", info.stdout);
    assert!(info.stderr.contains("c_results.json"), "{}", info.stderr);
    assert!(info.stderr.contains("other.json: a Chrome trace"), "{}", info.stderr);
    std::fs::remove_file(place.0.path().join("c_results.json")).unwrap();
    assert_eq!(run(&["info", directory]).code, 0);
    has_anomaly(directory, "repeated_capture", "processes", 1);
}

#[test]
fn a_rocpd_database_of_the_same_process_is_preferred() {
    let place = Place::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/merged/merged.db");
    std::fs::copy(&fixture, place.0.path().join("merged.db")).unwrap();
    let database = place.0.path().join("merged.db");
    let facts =
        rows("SELECT pid, machine_id, hostname, start_ns FROM processes ORDER BY process", database.to_str().unwrap());
    let mut process = process(1);
    process["metadata"]["pid"] = facts[0]["pid"].clone();
    process["metadata"]["init_time"] = facts[0]["start_ns"].clone();
    process["metadata"]["node"]["machine_id"] = facts[0]["machine_id"].clone();
    process["metadata"]["node"]["hostname"] = facts[0]["hostname"].clone();
    place.write("same.json", document(&[process]).to_string());
    let directory = place.0.path().to_str().unwrap();
    let formats = rows("SELECT format FROM processes", directory);
    assert_eq!(formats.len(), facts.len());
    assert!(formats.iter().all(|row| row["format"] == "rocpd"), "{formats:?}");
    has_anomaly(directory, "repeated_format", "processes", 1);
}

#[test]
fn files_that_are_something_else() {
    let place = Place::new();
    for (name, content, what) in [
        ("a.json", br#"{"traceEvents": []}"#.to_vec(), "a Chrome trace, not one of the PyTorch profiler"),
        ("b.gz", vec![0x1f, 0x8b, 8, 0, 0], "a gzip file that cannot be decompressed"),
    ] {
        let file = place.write(name, content);
        let run = run(&["info", &file]);
        assert_eq!(run.code, 3, "{name}");
        assert!(run.stderr.contains(what), "{name}: {}", run.stderr);
    }
}

#[test]
fn samples_alone() {
    let place = Place::new();
    let sample = |time: i64| {
        json!({"record": {
            "hw_id": {"chiplet": 1, "shader_engine_id": 2, "cu_or_wgp_id": 3, "simd_id": 1, "wave_id": 4, "workgroup_id ": 9},
            "pc": {"code_object_id": 2, "code_object_offset": 64}, "exec_mask": 255, "timestamp": time, "dispatch_id": 7,
            "wave_issued": 0, "snapshot": {"stall_reason": "WAITCNT"}}, "inst_index": -1})
    };
    let text = format!("\n {}", json!([sample(1000), sample(2000)]));
    let file = place.write("samples.json", &text);
    let found =
        rows("SELECT dispatch_id, xcc, cu, stall_reason, wave_issued, time_ns FROM pc_samples ORDER BY time_ns", &file);
    let wanted = |time: i64| json!({"dispatch_id": 7, "xcc": 1, "cu": 3, "stall_reason": "WAITCNT", "wave_issued": false, "time_ns": time});
    assert_eq!(found, [wanted(1000), wanted(2000)]);
    let cut = place.write("cut.json", text.get(..text.len() - 20).unwrap());
    let damaged = run(&["sql", "SELECT time_ns FROM pc_samples", &cut, "-f", "csv"]);
    assert_eq!((damaged.code, damaged.stdout.as_str()), (5, "time_ns\n1000\n"), "{}", damaged.stderr);
    assert!(damaged.stderr.contains("is truncated after"), "{}", damaged.stderr);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn real_stochastic_samples() {
    let directory = real("csv/pc-sampling");
    assert_eq!(number("SELECT COUNT(*) FROM pc_samples WHERE code_object_offset > 8000", &directory), 4);
    let place = Place::new();
    for file in ["mi300x_stochastic_tail.json", "mi350_stochastic_tail.json"] {
        let samples = std::fs::read_to_string(PathBuf::from(&directory).join(file)).unwrap();
        let samples: Value = serde_json::from_str(&samples).unwrap();
        let count = samples.as_array().unwrap().len() as i64;
        let file = place
            .write("a.json", document(&[json!({"buffer_records": {"pc_sample_stochastic": samples}})]).to_string());
        assert_eq!(
            number(
                "SELECT COUNT(*) AS n FROM pc_samples WHERE code_object_offset > 0 AND time_ns > 0 AND xcc IS NOT NULL AND stall_reason IS NOT NULL",
                &file
            ),
            count
        );
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn facts_of_a_real_file() {
    let file = real("rocprofv3-json/908_results.json.gz");
    assert_eq!(
        rows("SELECT COUNT(*) AS dispatches, COUNT(DISTINCT kernel_name) AS names, COUNT(DISTINCT short_name) AS short,
              COUNT(DISTINCT stream_id) AS streams, COUNT(DISTINCT queue_id) AS queues, COUNT(DISTINCT gpu) AS gpus FROM kernels", &file),
        [json!({"dispatches": 43_915, "names": 80, "short": 44, "streams": 567, "queues": 5, "gpus": 1})]
    );
    let info = succeed(&["info", &file]);
    for fact in ["agents 10,", "queues 5,", "streams 567,", "kernel_symbols 9888,", "kernels 43915"] {
        assert!(info.contains(fact), "{fact}: {info}");
    }
    assert_eq!(
        rows("SELECT pid, start_ns, end_ns FROM processes", &file),
        [json!({"pid": 908, "start_ns": 63_855_948_165_371_i64, "end_ns": 63_875_155_697_841_i64})]
    );
}

/// Counts and sums equal those of TraceLens for the same file, in milliseconds.
#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn sums_by_kernel_are_those_of_another_program() {
    let (file, golden) =
        (real("rocprofv3-json/908_results.json.gz"), real("tracelens-908/csv_units_fixed/kernel_summary.csv"));
    let mut own: Vec<(String, i64, f64)> =
        rows("SELECT short_name, COUNT(*) AS n, SUM(duration_ns) AS ns FROM kernels GROUP BY short_name", &file)
            .iter()
            .map(|row| {
                (
                    row["short_name"].as_str().unwrap().to_owned(),
                    row["n"].as_i64().unwrap(),
                    row["ns"].as_f64().unwrap() / 1e6,
                )
            })
            .collect();
    own.sort_by(|a, b| a.0.cmp(&b.0));
    let mut theirs: Vec<(String, i64, f64)> = csv::Reader::from_path(golden)
        .unwrap()
        .records()
        .map(|record| record.unwrap())
        .map(|record| (record[0].to_owned(), record[1].parse::<f64>().unwrap() as i64, record[9].parse().unwrap()))
        .collect();
    theirs.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(own.len(), theirs.len());
    for (own, theirs) in own.iter().zip(&theirs) {
        assert_eq!((&own.0, own.1), (&theirs.0, theirs.1));
        assert!((own.2 - theirs.2).abs() <= theirs.2 * 1e-9, "{own:?} {theirs:?}");
    }
}
