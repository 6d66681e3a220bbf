//! rocprofv3 CSV: small files made here, and real samples compared with an independent parse.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::common::{Run, listing, number, real, records, run, succeed};
use crate::rocprofv3_documents::{document, process};

const KERNELS: &str = "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\
    \"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\
    \"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\
    \"Grid_Size_Y\",\"Grid_Size_Z\"\n";
const CALLS: &str =
    "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n";
const COUNTERS: &str = "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\",\"Grid_Size\",\
    \"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\
    \"SGPR_Count\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n";

/// A row of a kernel trace.
fn kernel(dispatch: i64, id: i64, name: &str, start: i64, end: i64) -> String {
    format!(
        "\"KERNEL_DISPATCH\",\"Agent 4\",1,2,70,{dispatch},{id},\"{name}\",{dispatch},{start},{end},512,16,8,4,32,64,2,1,640,4,1\n"
    )
}

/// A row of a counter collection.
fn counter(dispatch: i64, id: i64, name: &str, value: &str) -> String {
    format!(
        "{dispatch},{dispatch},\"Agent 4\",1,70,70,2560,{id},\"k<int>(int)\",128,512,16,8,4,32,\"{name}\",{value},{},{}\n",
        dispatch * 1000,
        dispatch * 1000 + 500
    )
}

/// A directory for the files of one test.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn path(&self) -> String {
        self.0.path().to_str().unwrap().to_owned()
    }
}

fn rows(sql: &str, input: &str) -> Vec<Value> {
    records(&["sql", sql, input])
}

fn anomaly(input: &str, check: &str) -> Option<Value> {
    let sql = format!("SELECT * FROM anomalies WHERE check_id = '{check}'");
    let answer = run(&["sql", &sql, input, "-f", "json"]);
    let found: Vec<Value> = serde_json::from_str(&answer.stdout).unwrap();
    found.into_iter().next()
}

/// The rows of a file by column, read without the program. Lines without content are none.
fn parse(path: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(path).unwrap();
    let names = reader.headers().unwrap().clone();
    reader
        .records()
        .map(|record| names.iter().map(str::to_owned).zip(record.unwrap().iter().map(str::to_owned)).collect())
        .collect()
}

fn sum(rows: &[BTreeMap<String, String>], column: &str) -> i128 {
    rows.iter().map(|row| row[column].parse::<i128>().unwrap()).sum()
}

/// Rows of the samples: file, table, rows.
const SAMPLES: &[(&str, &str, i64)] = &[
    ("gfx1151/decode_kernel_trace.csv", "kernels", 144),
    ("gfx1151/prefill_kernel_trace.csv", "kernels", 1128),
    ("gfx1151/decode_hip_api_trace.csv", "regions", 920),
    ("gfx1151/prefill_hip_api_trace.csv", "regions", 5),
    ("gfx1151/decode_stall_counter_collection.csv", "counter_instances", 340),
    ("gfx1151/prefill_stall_counter_collection.csv", "counter_instances", 540),
    ("gfx1151/decode_fetch_counter_collection.csv", "counter_instances", 34),
    ("gfx1151/prefill_fetch_counter_collection.csv", "counter_instances", 54),
    ("sdk-docs/counter_collection.csv", "counter_instances", 4),
    ("sdk-docs/kernel_names.csv", "counter_instances", 4),
    ("sdk-docs/kernel_trace.csv", "kernels", 9),
    ("sdk-docs/kernel_trace_truncated.csv", "kernels", 4),
    ("sdk-docs/hip_compile_trace.csv", "regions", 5),
    ("sdk-docs/hip_runtime_trace.csv", "regions", 8),
    ("sdk-docs/hip_trace.csv", "regions", 17),
    ("sdk-docs/hsa_api_trace.csv", "regions", 10),
    ("sdk-docs/hsa_core_api_trace.csv", "regions", 32),
    ("sdk-docs/marker_api_trace.csv", "regions", 3),
    ("sdk-docs/marker_api_trace.csv", "marks", 2),
    ("sdk-docs/python_bindings.csv", "regions", 5),
    ("sdk-docs/python_bindings.csv", "marks", 1),
    ("sdk-docs/rccl_trace.csv", "regions", 21),
    ("sdk-docs/rocdecode_api_trace.csv", "regions", 6),
    ("sdk-docs/rocjpeg_api_trace.csv", "regions", 4),
    ("sdk-docs/rocpd-to-csv.csv", "regions", 13),
    ("sdk-docs/memory_copy_trace.csv", "memory_copies", 4),
    ("sdk-docs/memory_allocation_trace.csv", "memory_allocations", 4),
    ("sdk-docs/scratch_memory_trace.csv", "memory_allocations", 2),
    ("sdk-docs/pc_sampling_host_trap.csv", "pc_samples", 79),
    ("sdk-docs/pc_sampling_host_trap_debug.csv", "pc_samples", 21),
    ("sdk-docs/pc_sampling_stochastic_debug.csv", "pc_samples", 97),
];

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn every_sample_gives_its_rows() {
    let root = real("csv");
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (name, table, count) in SAMPLES {
        let file = format!("{root}/{name}");
        seen.insert(file.clone());
        assert_eq!(number(&format!("SELECT COUNT(*) FROM {table}"), &file), *count, "{name}");
        let parsed = parse(&file);
        let both: i64 = SAMPLES.iter().filter(|(other, _, _)| other == name).map(|(_, _, count)| count).sum();
        assert_eq!(parsed.len() as i64, both, "{name}");
        assert_eq!(rows("SELECT format FROM processes", &file), [json!({"format": "rocprofv3-csv"})]);
        match *table {
            "pc_samples" => {
                let sql =
                    "SELECT SUM(time_ns) AS s, SUM(dispatch_id) AS d, COUNT(DISTINCT instruction) AS i FROM pc_samples";
                let instructions: BTreeSet<&String> = parsed.iter().map(|row| &row["Instruction"]).collect();
                let sums = [sum(&parsed, "Sample_Timestamp"), sum(&parsed, "Dispatch_Id"), instructions.len() as i128];
                let found = &rows(sql, &file)[0];
                assert_eq!(["s", "d", "i"].map(|key| i128::from(found[key].as_i64().unwrap())), sums, "{name}");
            }
            "counter_instances" => {
                let total: f64 = parsed.iter().map(|row| row["Counter_Value"].parse::<f64>().unwrap()).sum();
                for table in ["counter_instances", "counters"] {
                    let found = rows(&format!("SELECT SUM(value) AS v FROM {table}"), &file)[0]["v"].as_f64().unwrap();
                    assert!((found - total).abs() <= total.abs() * 1e-9, "{name}: {found} {total}");
                }
                let dispatches: BTreeSet<&String> = parsed.iter().map(|row| &row["Dispatch_Id"]).collect();
                assert_eq!(number("SELECT COUNT(*) FROM kernels", &file), dispatches.len() as i64, "{name}");
                assert_eq!(number("SELECT COUNT(*) FROM counter_dispatches", &file), dispatches.len() as i64, "{name}");
            }
            "marks" => {}
            _ => {
                let found = number(&format!("SELECT SUM(duration_ns) AS d FROM {table}"), &file);
                assert_eq!(
                    i128::from(found),
                    sum(&parsed, "End_Timestamp") - sum(&parsed, "Start_Timestamp"),
                    "{name}"
                );
                assert_eq!(number(&format!("SELECT COUNT(*) FROM {table} WHERE valid"), &file), *count, "{name}");
            }
        }
    }
    let summaries = ["hip_api_stats.csv", "hip_domain_stats.csv"].map(|name| format!("{root}/sdk-docs/{name}"));
    seen.extend(summaries);
    for directory in ["gfx1151", "sdk-docs"] {
        for (path, _) in listing(std::path::Path::new(&format!("{root}/{directory}"))) {
            let path = path.to_str().unwrap().to_owned();
            assert!(!path.ends_with(".csv") || seen.contains(&path), "{path} is not checked");
        }
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn names_of_a_real_sample_are_those_of_the_file() {
    let root = real("csv");
    let file = format!("{root}/gfx1151/prefill_kernel_trace.csv");
    let mut expected: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for row in parse(&file) {
        let duration = row["End_Timestamp"].parse::<i64>().unwrap() - row["Start_Timestamp"].parse::<i64>().unwrap();
        let entry = expected.entry(row["Kernel_Name"].clone()).or_default();
        *entry = (entry.0 + 1, entry.1 + duration);
    }
    let sql = "SELECT kernel_name AS k, COUNT(*) AS n, SUM(duration_ns) AS d FROM kernels GROUP BY kernel_name";
    let found: BTreeMap<String, (i64, i64)> = rows(sql, &file)
        .iter()
        .map(|row| (row["k"].as_str().unwrap().to_owned(), (row["n"].as_i64().unwrap(), row["d"].as_i64().unwrap())))
        .collect();
    assert_eq!(found, expected);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn the_real_captures_are_told_apart() {
    let root = real("csv");
    let found = rows("SELECT pid, source, format FROM processes ORDER BY process", &format!("{root}/gfx1151"));
    let pids: Vec<i64> = found.iter().map(|row| row["pid"].as_i64().unwrap()).collect();
    assert_eq!(pids, [2_684_120, 2_684_191, 2_684_167, 3_985_093, 3_985_140, 3_985_130]);
    assert_eq!(found[0]["source"], "decode_*.csv");
    assert_eq!(found[1]["source"], "decode_fetch_counter_collection.csv");
    // Of files without common prefix and process, the rows that name no process make up one of their own.
    let found = rows("SELECT pid FROM processes WHERE source = '*.csv' ORDER BY process", &format!("{root}/sdk-docs"));
    let pids: Vec<i64> = found.iter().map(|row| row["pid"].as_i64().unwrap()).collect();
    assert_eq!(pids, [197, 717, 15606, 41688, 41884, -1]);
    assert_eq!(
        anomaly(&format!("{root}/sdk-docs"), "derived_summary").unwrap()["severity"],
        "info",
        "statistics are passed over"
    );
}

#[test]
fn every_spelling_of_a_kernel_trace_gives_the_same_rows() {
    let place = Place::new();
    let text = [KERNELS, &kernel(1, 9, "k<int>(int)", 1000, 1500), &kernel(2, 9, "k<int>(int)", 2000, 2700)].concat();
    let expected = json!({"dispatch_id": 2, "kernel_id": 9, "kernel_name": "k<int>(int)", "short_name": "k<...>", "agent_id": 4,
        "gpu": 0, "queue_id": 1, "stream_id": 2, "tid": 70, "correlation_id": 2, "start_ns": 2000, "end_ns": 2700,
        "duration_ns": 700, "valid": true, "workgroup_x": 64, "workgroup_y": 2, "workgroup_z": 1, "grid_x": 640, "grid_y": 4,
        "grid_z": 1, "lds_bytes": 512, "scratch_bytes": 16});
    let columns: Vec<&str> = expected.as_object().unwrap().keys().map(String::as_str).collect();
    let sql = format!("SELECT {} FROM kernels WHERE dispatch_id = 2", columns.join(", "));
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let mut writer = csv::WriterBuilder::new().quote_style(csv::QuoteStyle::Always).from_writer(Vec::new());
    for record in reader.records() {
        writer.write_record(&record.unwrap()).unwrap();
    }
    let quoted = writer.into_inner().unwrap();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    let old = text.replace("LDS_Block_Size", "Group_Segment_Size").replace("Scratch_Size", "Private_Segment_Size");
    let new = text
        .replace("LDS_Block", "Lds_Block")
        .replace("VGPR", "Vgpr")
        .replace("SGPR", "Sgpr")
        .replace("\"Kind\",", "\"Guid\",\"Kind\",")
        .replace("\"End_Timestamp\",", "\"End_Timestamp\",\"Duration\",")
        .replace("\"KERNEL", "\"g-1\",\"KERNEL")
        .replace(",1500,", ",1500,500,")
        .replace(",2700,", ",2700,700,");
    for (name, content) in [
        ("plain.csv", text.clone().into_bytes()),
        ("quoted.csv", quoted),
        ("upper.csv", text.replace("Start_Timestamp", "START_TIMESTAMP").into_bytes()),
        ("bom.csv", format!("\u{feff}{text}").into_bytes()),
        ("crlf.csv", text.replace('\n', "\r\n").into_bytes()),
        ("compressed.csv.gz", encoder.finish().unwrap()),
        ("old.csv", old.into_bytes()),
        ("new.csv", new.into_bytes()),
        ("floats.csv", text.replace(",2700,", ",2.7e3,").replace(",512,", ",0x200,").into_bytes()),
        ("header_between.csv", [KERNELS, text.as_str()].concat().into_bytes()),
        ("no_end.csv", text.trim_end().as_bytes().to_vec()),
    ] {
        let file = place.write(name, content);
        assert_eq!(rows(&sql, &file), std::slice::from_ref(&expected), "{name}");
        assert_eq!(number("SELECT COUNT(*) FROM kernels", &file), 2, "{name}");
        assert_eq!(
            rows("SELECT vgpr, accum_vgpr, sgpr FROM kernel_symbols", &file),
            [json!({"vgpr": 8, "accum_vgpr": 4, "sgpr": 32})],
            "{name}"
        );
    }
}

#[test]
fn early_files_lack_columns() {
    let place = Place::new();
    let kernels = place.write(
        "5_kernel_trace.csv",
        "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n\
         \"KERNEL_DISPATCH\",2,139690710949888,\"b()\",0,100,200\n\"KERNEL_DISPATCH\",3,139690710949888,\"a()\",0,300,450\n",
    );
    assert_eq!(
        rows(
            "SELECT dispatch_id, kernel_id, kernel_name, gpu, correlation_id, lds_bytes, grid_x FROM kernels",
            &kernels
        ),
        [
            json!({"dispatch_id": 1, "kernel_id": 2, "kernel_name": "b()", "gpu": 0, "correlation_id": null, "lds_bytes": null,
                "grid_x": 0}),
            json!({"dispatch_id": 2, "kernel_id": 1, "kernel_name": "a()", "gpu": 1, "correlation_id": null, "lds_bytes": null,
                "grid_x": 0}),
        ]
    );
    assert_eq!(rows("SELECT pid, start_ns FROM processes", &kernels), [json!({"pid": 5, "start_ns": null})]);
    assert_eq!(number("SELECT SUM(kernel_id) FROM kernel_symbols", &kernels), 3);
}

fn expect_lost(input: &str, wanted: &[&str]) -> Run {
    let answer = run(&["table", "trace_health", input]);
    assert_eq!(answer.code, 5, "{}", answer.stderr);
    for wanted in wanted {
        assert!(answer.stderr.contains(wanted), "{wanted} is not in {}", answer.stderr);
    }
    answer
}

#[test]
fn rows_that_cannot_be_understood_are_told_of_by_file_and_line() {
    let place = Place::new();
    let good = [kernel(1, 9, "k()", 1000, 1500), kernel(2, 9, "k()", 2000, 2700)].concat();
    let bad_number = kernel(3, 9, "k()", 3000, 3100).replace("3100", "soon");
    assert_eq!(number("SELECT COUNT(*) FROM kernels", &place.write("good.csv", [KERNELS, &good].concat())), 2);
    for (name, bad, wanted) in [
        ("short.csv", "\"KERNEL_DISPATCH\",\"Agent 4\",1\n", "short.csv:4: 3 fields, but the header has 22"),
        ("long.csv", &kernel(3, 9, "k()\",\"more", 3000, 3100), "long.csv:4: 23 fields, but the header has 22"),
        ("word.csv", &bad_number, "word.csv:4: \"soon\" in field 11 is not a number"),
        ("quote.csv", "\"KERNEL_DISPATCH,1\n2,3\n", "an unclosed quote"),
    ] {
        let file = place.write(name, [KERNELS, &good, bad].concat());
        expect_lost(&file, &[wanted, "1 of 3 rows cannot be parsed and are excluded"]);
        let answer = run(&["sql", "SELECT COUNT(*) AS n, SUM(duration_ns) AS d FROM kernels", &file, "-f", "json"]);
        assert_eq!(answer.code, 5, "{name}");
        assert_eq!(serde_json::from_str::<Value>(&answer.stdout).unwrap(), json!([{"n": 2, "d": 1200}]), "{name}");
        let info = run(&["info", &file]);
        assert_eq!(info.code, 5, "{name}");
        assert!(info.stdout.contains("kernels 2"), "{}", info.stdout);
    }
    let empty_lines = [KERNELS, &good, "\n\n", &bad_number].concat();
    expect_lost(&place.write("gaps.csv", &empty_lines), &["gaps.csv:6: \"soon\""]);
    expect_lost(&place.write("crlf.csv", empty_lines.replace('\n', "\r\n")), &["crlf.csv:6: \"soon\""]);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let many: String =
        (1..2000).map(|at| kernel(at, 9, &format!("k{}()", at * 7919 % 1000), at * 1000, at * 1500)).collect();
    encoder.write_all([KERNELS, &many].concat().as_bytes()).unwrap();
    let bytes = encoder.finish().unwrap();
    let cut = place.write("cut.csv.gz", &bytes[..bytes.len() * 2 / 3]);
    expect_lost(&cut, &["the rest of the file is missing"]);
}

#[test]
fn bytes_that_are_no_text_are_shown_as_such() {
    let place = Place::new();
    let row = kernel(1, 9, "k?()", 1000, 1500).into_bytes();
    let row: Vec<u8> = row.into_iter().map(|byte| if byte == b'?' { 0xff } else { byte }).collect();
    let file = place.write("1_kernel_trace.csv", [KERNELS.as_bytes(), &row].concat());
    assert_eq!(rows("SELECT kernel_name FROM kernels", &file), [json!({"kernel_name": "k\u{fffd}()"})]);
    assert_eq!(anomaly(&file, "invalid_utf8").unwrap()["count"], 1);
}

#[test]
fn files_of_a_prefix_are_one_process() {
    let place = Place::new();
    place.write("70_kernel_trace.csv", [KERNELS, &kernel(1, 9, "k<int>(int)", 1000, 1500)].concat());
    place.write(
        "70_hip_api_trace.csv",
        [CALLS, "\"HIP_RUNTIME_API_EXT\",\"hipLaunchKernel\",70,71,1,900,950\n"].concat(),
    );
    place.write(
        "70_marker_api_trace.csv",
        [
            CALLS,
            "\"MARKER_CORE_API\",\"step, one\",70,71,4,800,2000\n\"MARKER_CORE_API\",\"at\",70,71,5,850,850\n",
            "\"MARKER_CORE_API\",\"all\",70,0,6,700,2100\n",
        ]
        .concat(),
    );
    place.write(
        "70_memory_copy_trace.csv",
        "\"Kind\",\"Direction\",\"Stream_Id\",\"Source_Agent_Id\",\"Destination_Agent_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n\
         \"MEMORY_COPY\",\"MEMORY_COPY_HOST_TO_DEVICE\",3,\"Agent 0\",\"Agent 5\",7,1600,1700\n\
         \"MEMORY_COPY\",\"MEMORY_COPY_DEVICE_TO_DEVICE\",3,\"Agent 4\",\"Agent 5\",8,1700,1800\n",
    );
    place.write(
        "70_counter_collection.csv",
        [
            COUNTERS,
            &counter(1, 9, "SQ_WAVES", "10.5"),
            &counter(1, 9, "SQ_WAVES", "1.5"),
            &counter(2, 9, "SQ_WAVES", "4"),
            &counter(2, 9, "GRBM_COUNT", "nan"),
        ]
        .concat(),
    );
    place.write(
        "70_kernel_stats.csv",
        "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n\"k\",1,1,1,100\n",
    );
    place.write("71_kernel_trace.csv", [KERNELS, &kernel(1, 9, "k<int>(int)", 1000, 1500)].concat());
    place.write("notes.csv", "a,b\n1,2\n");
    let input = place.path();
    assert_eq!(
        rows("SELECT pid, role, source FROM processes ORDER BY process", &input),
        [
            json!({"pid": 70, "role": "trace", "source": "70_*.csv"}),
            json!({"pid": 71, "role": "trace", "source": "71_kernel_trace.csv"})
        ]
    );
    assert_eq!(
        rows("SELECT agent_id, agent_type, gpu FROM agents WHERE process = 0 ORDER BY agent_id", &input),
        [
            json!({"agent_id": 0, "agent_type": "CPU", "gpu": null}),
            json!({"agent_id": 4, "agent_type": "GPU", "gpu": 0}),
            json!({"agent_id": 5, "agent_type": "GPU", "gpu": 1}),
        ]
    );
    assert_eq!(
        rows("SELECT direction, gpu, peer_gpu, bytes FROM memory_copies ORDER BY copy_id", &input),
        [
            json!({"direction": "H2D", "gpu": 1, "peer_gpu": null, "bytes": null}),
            json!({"direction": "P2P", "gpu": 0, "peer_gpu": 1, "bytes": null}),
        ]
    );
    assert_eq!(
        rows("SELECT domain, name, message, tid FROM regions ORDER BY region_id", &input),
        [
            json!({"domain": "hip", "name": "hipLaunchKernel", "message": null, "tid": 71}),
            json!({"domain": "marker", "name": "unknown", "message": "step, one", "tid": 71}),
            json!({"domain": "marker", "name": "roctxProcessRangeA", "message": "all", "tid": null}),
        ]
    );
    assert_eq!(
        rows("SELECT name, message, time_ns FROM marks", &input),
        [json!({"name": null, "message": "at", "time_ns": 850})]
    );
    // The second dispatch is only listed with its counters, which do not tell its shape.
    assert_eq!(
        rows(
            "SELECT dispatch_id, grid_x, grid_y, workgroup_x, workgroup_y, duration_ns FROM counter_dispatches",
            &input
        ),
        [
            json!({"dispatch_id": 1, "grid_x": 640, "grid_y": 4, "workgroup_x": 64, "workgroup_y": 2, "duration_ns": 500}),
            json!({"dispatch_id": 2, "grid_x": 2560, "grid_y": 1, "workgroup_x": 128, "workgroup_y": 1, "duration_ns": 500}),
        ]
    );
    assert_eq!(
        rows(
            "SELECT dispatch_id, counter, value, min, max, mean, instances FROM counters ORDER BY dispatch_id",
            &input
        ),
        [
            json!({"dispatch_id": 1, "counter": "SQ_WAVES", "value": 12.0, "min": 1.5, "max": 10.5, "mean": 6.0, "instances": 2}),
            json!({"dispatch_id": 2, "counter": "SQ_WAVES", "value": 4.0, "min": 4.0, "max": 4.0, "mean": 4.0, "instances": 1}),
        ]
    );
    assert!(anomaly(&input, "derived_summary").is_some());
    assert_eq!(run(&["info", &input]).code, 0, "other CSV in a directory is passed over");
    // Named alone, a file is a capture of its own.
    let alone = format!("{input}/70_memory_copy_trace.csv");
    assert_eq!(
        rows("SELECT pid, source FROM processes", &alone),
        [json!({"pid": 70, "source": "70_memory_copy_trace.csv"})]
    );
}

#[test]
fn processes_of_one_file_are_told_apart() {
    let place = Place::new();
    place.write(
        "out_regions_trace.csv",
        "Guid,Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n\
         b,HIP_RUNTIME_API_EXT,hipMalloc,10,10,1,100,150\na,HIP_RUNTIME_API_EXT,hipFree,10,10,1,100,190\n",
    );
    place.write(
        "out_kernel_trace.csv",
        "Guid,Kind,Agent_Id,Queue_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp\n\
         a,KERNEL_DISPATCH,GPU 0,1,1,\"k()\",1,200,300\nb,KERNEL_DISPATCH,GPU 1,1,2,\"l()\",1,200,310\n\
         b,KERNEL_DISPATCH,GPU 1,1,2,\"l()\",1,400,500\n",
    );
    let input = place.path();
    assert_eq!(
        rows(
            "SELECT p.guid, p.pid, COUNT(*) AS n, SUM(k.duration_ns) AS d FROM processes p JOIN kernels k ON k.process = p.process \
             GROUP BY p.guid, p.pid ORDER BY p.guid",
            &input
        ),
        [json!({"guid": "a", "pid": 10, "n": 1, "d": 100}), json!({"guid": "b", "pid": 10, "n": 2, "d": 210})]
    );
    assert_eq!(
        rows("SELECT process, name FROM regions ORDER BY process", &input),
        [json!({"process": 0, "name": "hipFree"}), json!({"process": 1, "name": "hipMalloc"})]
    );
    // Without the id of the capture the process id tells, and for kernels the thread.
    let place = Place::new();
    place.write(
        "out_hip_api_trace.csv",
        [CALLS, "HIP_API,hipMalloc,10,11,1,100,150\n", "HIP_API,hipFree,20,21,1,100,190\n"].concat(),
    );
    let on = |thread: &str, row: String| row.replace(",2,70,", &format!(",2,{thread},"));
    let kernels = [
        on("11", kernel(1, 1, "a()", 1000, 1100)),
        on("21", kernel(1, 2, "b()", 1000, 1200)),
        on("99", kernel(1, 3, "c()", 1000, 1300)),
    ];
    place.write("out_kernel_trace.csv", [KERNELS, &kernels.concat()].concat());
    assert_eq!(
        rows(
            "SELECT p.pid, k.kernel_name FROM processes p JOIN kernels k ON k.process = p.process ORDER BY k.kernel_name",
            &place.path()
        ),
        [
            json!({"pid": 10, "kernel_name": "a()"}),
            json!({"pid": 20, "kernel_name": "b()"}),
            json!({"pid": -1, "kernel_name": "c()"})
        ]
    );
}

#[test]
fn a_list_of_agents_names_them() {
    let place = Place::new();
    let list = "Node_Id,Logical_Node_Id,Agent_Type,Cu_Count,Location_Id,Domain,Wave_Front_Size,Lds_Size_In_Kb,Device_Id,Num_Xcc,Num_Shader_Banks,Max_Waves_Per_Cu,Name,Product_Name\n\
        0,0,CPU,0,0,0,0,0,0,1,0,0,AMD EPYC,AMD EPYC\n8,4,GPU,304,2,1,64,64,29857,8,32,32,gfx942,MI300X\n\
        9,5,GPU,304,3,1,64,64,29857,8,32,32,gfx942,MI300X\n";
    place.write("70_agent_info.csv", list);
    let agents = "SELECT DISTINCT agent_id, gpu FROM kernels";
    for (label, agent, gpu) in
        [("\"Agent 5\"", 9, 1), ("\"Agent 4\"", 8, 0), ("\"Agent 8\"", 8, 0), ("9", 9, 1), ("\"GPU 1\"", 9, 1)]
    {
        place
            .write("70_kernel_trace.csv", [KERNELS, &kernel(1, 9, "k()", 1, 2).replace("\"Agent 4\"", label)].concat());
        assert_eq!(rows(agents, &place.path()), [json!({"agent_id": agent, "gpu": gpu})], "{label}");
    }
    assert_eq!(
        rows(
            "SELECT agent_type, name, product_name, cu_count, num_xcc, wave_size, lds_bytes, shader_engines, max_waves_per_cu, pci_device_id \
             FROM agents WHERE gpu = 0",
            &place.path()
        ),
        [
            json!({"agent_type": "GPU", "name": "gfx942", "product_name": "MI300X", "cu_count": 304, "num_xcc": 8, "wave_size": 64,
            "lds_bytes": 65536, "shader_engines": 32, "max_waves_per_cu": 32, "pci_device_id": 29857})
        ]
    );
    place.write("70_kernel_trace.csv", [KERNELS, &kernel(1, 9, "k()", 1, 2).replace("Agent 4", "Agent 77")].concat());
    assert_eq!(anomaly(&place.path(), "missing_agent").unwrap()["count"], 1);
    place.write("70_agent_info.csv", format!("{list}x,y\n"));
    expect_lost(&place.path(), &["70_agent_info.csv:5: an agent cannot be parsed"]);
}

#[test]
fn other_formats_of_the_same_run_are_read_instead() {
    let place = Place::new();
    place.write("1_kernel_trace.csv", [KERNELS, &kernel(1, 9, "k()", 1000, 1500)].concat());
    place.write("2_kernel_trace.csv", [KERNELS, &kernel(1, 9, "k()", 1000, 1500)].concat());
    place.write("1_results.json", document(&[process(1)]).to_string());
    assert_eq!(
        rows("SELECT pid, format FROM processes ORDER BY pid", &place.path()),
        [json!({"pid": 1, "format": "rocprofv3-json"}), json!({"pid": 2, "format": "rocprofv3-csv"})]
    );
    let note = anomaly(&place.path(), "repeated_format").unwrap();
    assert_eq!((note["severity"].as_str(), note["count"].as_i64()), (Some("info"), Some(1)));
    assert!(note["detail"].as_str().unwrap().contains("rocprofv3 JSON"), "{note}");
}

#[test]
fn what_is_no_trace_is_said_so() {
    let place = Place::new();
    for (name, content, wanted) in [
        ("other.csv", "a,b\n1,2\n", "nor rocprofv3 JSON or CSV"),
        (
            "pmc_perf.csv",
            "Dispatch_ID,Kernel_Name,GPU_ID,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n",
            "a trace without any process",
        ),
        ("stats.csv", "Name,Calls,TotalDurationNs,AverageNs,Percentage\n", "statistics that rocprofv3 derived"),
        ("1_kernel_trace.csv", "", "an empty file"),
    ] {
        let file = place.write(name, content);
        let answer = run(&["info", &file]);
        assert_eq!((answer.code, answer.stderr.contains(wanted)), (3, true), "{name}: {}", answer.stderr);
    }
    // In a directory an empty file with the name of a trace is a rank that was lost; one with a header only is whole.
    place.write("2_kernel_trace.csv", [KERNELS, &kernel(1, 9, "k()", 1000, 1500)].concat());
    let answer = run(&["info", &place.path()]);
    assert_eq!((answer.code, answer.stderr.contains("1_kernel_trace.csv")), (5, true), "{}", answer.stderr);
    let header = Place::new();
    header.write("3_kernel_trace.csv", KERNELS);
    assert_eq!(number("SELECT COUNT(*) FROM kernels", &header.path()), 0);
    let known = place.write(
        "4_kernel_trace.csv",
        "Kind,Agent_Id,Kernel_Name,Start_Timestamp,End_Timestamp,New_Thing\nK,1,k,1,2,3\n",
    );
    let note = anomaly(&known, "unknown_column").unwrap();
    assert!(note["detail"].as_str().unwrap().contains("New_Thing"), "{note}");
}

#[test]
fn streamed_counters_and_hip_events_of_newer_versions_are_read() {
    let place = Place::new();
    place.write(
        "out_spm_counter_collection_trace.csv",
        "Guid,Agent_Id,Counter_Name,Counter_Value,Timestamp\ng,Agent 4,\"SQ_WAVES [XCC: 0, SE: 1, Instance: 2]\",5.5,1000\n",
    );
    place.write(
        "out_hip_event_trace.csv",
        "Guid,Kind,Operation,Agent_Id,Queue_Id,Stream_Id,Thread_Id,Event_Handle,Source_Queue_Id,Correlation_Id,Start,End,Duration\n\
         g,HIP_EVENT,RECORD,Agent 4,1,2,70,77,0,5,1000,1010,10\n",
    );
    place.write(
        "out_graph_launch_trace.csv",
        "Guid,Kind,Agent_Id,Queue_Id,Thread_Id,Graph_Exec_Id,Kernel_Dispatch_Count,Correlation_Id,Start_Timestamp,End_Timestamp\n\
         g,GRAPH_LAUNCH,Agent 4,1,70,3,12,5,1000,1010\n",
    );
    let input = place.path();
    assert_eq!(
        rows("SELECT track, name, time_ns, value FROM samples", &input),
        [json!({"track": "spm", "name": "SQ_WAVES", "time_ns": 1000, "value": 5.5})]
    );
    assert_eq!(
        rows("SELECT operation, gpu, event_handle, source_queue_id, duration_ns FROM hip_events", &input),
        [json!({"operation": "RECORD", "gpu": 0, "event_handle": 77, "source_queue_id": null, "duration_ns": 10})]
    );
    assert_eq!(
        rows("SELECT graph_exec_id, kernels, duration_ns FROM graph_launches", &input),
        [json!({"graph_exec_id": 3, "kernels": 12, "duration_ns": 10})]
    );
}

#[test]
fn any_end_and_any_flaw_is_survived() {
    let place = Place::new();
    let text = [COUNTERS, &counter(1, 9, "SQ_WAVES", "10.5"), &counter(2, 9, "SQ_WAVES", "1")].concat().into_bytes();
    for at in (0..text.len()).step_by(97) {
        let mut flawed = text.clone();
        flawed[at] = b"\"\0,\n\xff"[at % 5];
        for content in [&text[..at], &flawed] {
            let file = place.write("1_counter_collection.csv", content);
            for command in ["info", "check"] {
                let answer = run(&[command, &file]);
                assert!([0, 3, 4, 5].contains(&answer.code), "{at}: {} {}", answer.code, answer.stderr);
            }
        }
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn the_answer_does_not_depend_on_threads_and_survives_a_dataset() {
    let root = real("csv");
    let input = format!("{root}/gfx1151");
    let sql = "SELECT * FROM kernels ORDER BY process, start_ns, dispatch_id";
    let one = succeed(&["sql", sql, &input, "-f", "csv", "--threads", "1"]);
    assert!(one == succeed(&["sql", sql, &input, "-f", "csv", "--threads", "4"]));
    let place = Place::new();
    let dataset = format!("{}/dataset", place.path());
    succeed(&["convert", &input, "-o", &dataset]);
    assert!(one == succeed(&["sql", sql, &dataset, "-f", "csv"]));
}

#[test]
fn lines_of_blanks_are_no_rows() {
    let place = Place::new();
    let row = kernel(1, 7, "k", 1_000, 2_000);
    let file =
        place.write("70_kernel_trace.csv", format!("{KERNELS}\n  \n{row}\t\n{}", kernel(2, 7, "k", 3_000, 4_000)));
    let answer = run(&["sql", "SELECT COUNT(*) AS n FROM kernels", &file, "-f", "csv"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (0, "n\n2\n"), "{}", answer.stderr);
}

#[test]
fn a_file_named_like_a_capture_with_another_header_is_told_of() {
    let place = Place::new();
    place.write("70_kernel_trace.csv", format!("{KERNELS}{}", kernel(1, 7, "k", 1_000, 2_000)));
    place.write("71_kernel_trace.csv", KERNELS.replace(',', ";"));
    place.write("notes.csv", "a;b\n");
    let answer = run(&["sql", "SELECT COUNT(*) AS n FROM kernels", &place.path(), "-f", "csv"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (5, "n\n1\n"), "{}", answer.stderr);
    assert!(
        answer.stderr.contains("71_kernel_trace.csv: named like a trace, but its header is unknown"),
        "{}",
        answer.stderr
    );
    assert!(!answer.stderr.contains("notes.csv"), "{}", answer.stderr);
}
