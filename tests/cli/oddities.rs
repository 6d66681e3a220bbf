//! Inputs with values that cannot be, and lists of queries of which some fail.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::common::{records, run, succeed};
use crate::idling::{COPY, FIRST_GPU, event, kernel, process_of, written};
use crate::rocprofv3_documents::document;

fn copy(id: i64, start: i64, bytes: i64) -> Value {
    let mut copy = event(COPY, 2, id, start, start + 10);
    copy["src_agent_id"] = json!({"handle": 900});
    copy["dst_agent_id"] = json!({"handle": FIRST_GPU});
    copy["bytes"] = json!(bytes);
    copy
}

/// An allocation of the first GPU that is not given back.
pub fn allocation(id: i64, start: i64, bytes: i64) -> Value {
    let mut allocation = event(4, 1, id, start, start + 10);
    allocation["agent_id"] = json!({"handle": FIRST_GPU});
    allocation["allocation_size"] = json!(bytes);
    allocation["address"] = json!(format!("{id:#018x}"));
    allocation
}

/// Two copies of 2^63 - 1 bytes, one of -5, one of 4096 and one of as much as can be addressed: the first three have no size.
/// Only one of three allocations counts, the one of 512 bytes.
#[test]
fn sizes_that_no_memory_has_are_unknown() {
    let most = 1_i64 << 48;
    let copies = [i64::MAX, i64::MAX, -5, 4_096, most];
    let copies = copies.iter().zip(1..).map(|(bytes, id)| copy(id, 100 * id, *bytes)).collect();
    let sizes = [i64::MAX, i64::MAX, 512];
    let allocations = sizes.iter().zip(11..).map(|(bytes, id)| allocation(id, 100 * id, *bytes)).collect();
    let kernels = vec![kernel(1, 0, FIRST_GPU, 5_000, 6_000)];
    let process =
        process_of(1, &[("memory_copy", copies), ("memory_allocation", allocations), ("kernel_dispatch", kernels)]);
    let (_directory, input) = written(&[process]);
    let copied = &records(&["table", "copy_summary", &input])[0];
    assert_eq!([&copied["copies"], &copied["total_bytes"]], [&json!(5), &json!(most + 4_096)]);
    let high = records(&["table", "memory_high_water", &input]);
    let peaks: Vec<_> = high.iter().map(|row| row["peak_bytes"].as_i64()).collect();
    assert_eq!(peaks, [Some(512)], "{high:?}");
    // Sizes count by themselves or not at all: sums and bins are those of the sizes that are known.
    let of = |query: &str, columns: &[&str]| -> Vec<Vec<Value>> {
        let rows = records(&["table", query, &input]);
        rows.iter().map(|row| columns.iter().map(|column| row[*column].clone()).collect()).collect()
    };
    let row = |values: &[i64]| -> Vec<Value> { values.iter().map(|value| json!(value)).collect() };
    assert_eq!(of("allocation_summary", &["calls", "total_bytes", "max_bytes"]), [row(&[3, 512, 512])]);
    assert_eq!(of("leak_candidates", &["allocations", "leaked_bytes"]), [row(&[1, 512]), row(&[2, 0])]);
    assert_eq!(of("allocation_churn", &["allocations", "total_bytes", "freed"]), [row(&[2, 0, 0])]);
    assert_eq!(of("copy_calls", &["copies", "total_bytes", "copy_ns"]), [row(&[5, most + 4_096, 50])]);
    let bins = of("copy_size_histogram", &["bin_start_bytes", "copies", "total_bytes"]);
    let filled: Vec<&Vec<Value>> = bins.iter().filter(|bin| bin[1] != 0).collect();
    let unknown = vec![Value::Null, json!(3), Value::Null];
    assert_eq!(filled, [&unknown, &row(&[4_096, 1, 4_096]), &row(&[most, 1, most])]);
    let found = records(&["check", &input]);
    let absurd: Vec<(&str, i64, &str)> = found
        .iter()
        .filter(|row| row["check_id"] == "absurd_size")
        .map(|row| {
            (row["table_name"].as_str().unwrap(), row["count"].as_i64().unwrap(), row["first_key"].as_str().unwrap())
        })
        .collect();
    assert_eq!(absurd, [("memory_allocations", 2, "1"), ("memory_copies", 3, "1")]);
}

#[test]
fn a_process_that_ends_before_it_starts_has_no_times() {
    let mut process = process_of(1, &[("kernel_dispatch", vec![kernel(1, 0, FIRST_GPU, 2_000, 3_000)])]);
    let (start, end) = (process["metadata"]["init_time"].clone(), process["metadata"]["fini_time"].clone());
    (process["metadata"]["init_time"], process["metadata"]["fini_time"]) = (end, start);
    let (_directory, input) = written(&[process]);
    let timeline = records(&["table", "gpu_timeline", &input]);
    let of = |kind: &str| timeline.iter().find(|row| row["type"] == kind).unwrap()["time_ms"].as_f64();
    assert_eq!([of("total_time"), of("kernel"), of("idle")], [None, Some(0.001), None]);
    let row = &records(&["table", "time_breakdown", &input])[0];
    assert_eq!([&row["lead_ns"], &row["tail_ns"], &row["busy_ns"]], [&json!(null), &json!(null), &json!(1_000)]);
    let found = records(&["check", &input]);
    assert!(found.iter().any(|row| row["check_id"] == "reversed_process" && row["severity"] == "warning"), "{found:?}");
}

#[test]
fn kernels_without_length_are_told_of() {
    let (_directory, input) = written(&[process_of(1, &[("kernel_dispatch", vec![kernel(1, 0, FIRST_GPU, 50, 50)])])]);
    let said = run(&["table", "time_breakdown", &input]);
    assert_eq!(said.code, 3);
    assert!(said.stderr.contains("no rows: every kernel and copy starts and ends at the same time"), "{}", said.stderr);
}

/// One of three queries fails, one has no rows: the others are there, and each is named.
#[test]
fn a_list_of_queries_gives_what_can_be_answered() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    std::fs::create_dir(path("own")).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("queries/kernels/kernel_summary.sql");
    let head: Vec<String> = std::fs::read_to_string(source)
        .unwrap()
        .lines()
        .take_while(|line| line.starts_with("--"))
        .filter(|line| !line.starts_with("-- param"))
        .map(str::to_owned)
        .collect();
    let broken = format!("{}\nSELECT no_such_column FROM kernels\n", head.join("\n"));
    std::fs::write(path("own/broken.sql"), broken).unwrap();
    let (_input, input) = written(&[process_of(1, &[("kernel_dispatch", vec![kernel(1, 0, FIRST_GPU, 50, 90)])])]);
    let list =
        |names: &str, output: &[&str]| run(&[&["table", names, &input, "--queries", &path("own")], output].concat());
    let printed = list("broken,copy_summary,kernel_summary", &[]);
    assert_eq!(printed.code, 5, "{}", printed.stderr);
    assert!(printed.stderr.contains("error: broken: "), "{}", printed.stderr);
    assert!(printed.stdout.contains("Cijk_Ailk"), "{}", printed.stdout);
    let kept = list("broken,kernel_summary", &["-f", "csv", "-o", &path("out")]);
    assert_eq!(kept.code, 5, "{}", kept.stderr);
    let files: Vec<_> = std::fs::read_dir(path("out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["kernel_summary.csv"]);
    let empty = list("copy_summary,kernel_summary", &[]);
    assert_eq!(empty.code, 0, "{}", empty.stderr);
    assert!(empty.stderr.contains("copy_summary: no rows: memory_copies is empty"), "{}", empty.stderr);
    assert_eq!(list("broken,broken", &[]).code, 2);
}

#[test]
fn the_list_of_queries_is_whole() {
    let known = records(&["table", "--list"]).len();
    assert!(known > 40);
    assert_eq!(succeed(&["table", "--list", "--wide"]).lines().filter(|line| !line.is_empty()).count(), known + 1);
    assert!(succeed(&["table", "--list", "--wide", "--rows", "5"]).lines().count() < 10);
}

#[test]
fn no_more_memory_than_there_is() {
    let wrong = run(&["info", "fixtures/two_nodes", "--memory-limit", "120%"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("cannot exceed 100%"), "{}", wrong.stderr);
}

/// Data after a document or a compressed one is named for its kind.
#[test]
fn what_follows_the_end_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let process = process_of(1, &[("kernel_dispatch", vec![kernel(1, 0, FIRST_GPU, 50, 90)])]);
    let text = document(&[process]).to_string();
    let check = |name: &str, bytes: &[u8]| {
        let path = directory.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let path = path.to_str().unwrap();
        let kernels = records(&["sql", "SELECT COUNT(*) AS n FROM kernels", path, "-q"])[0]["n"].clone();
        (run(&["table", "kernel_summary", path]), run(&["check", path, "-f", "json"]).stdout, kernels)
    };
    let packed = |text: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let (junk, found, kernels) = check("1_results.json", format!("{text}\nend of log").as_bytes());
    assert_eq!((junk.code, kernels), (0, json!(1)), "{}", junk.stderr);
    assert!(found.contains("junk_behind"), "{found}");
    let path = directory.path().join("1_results.json");
    std::fs::write(&path, text.repeat(2)).unwrap();
    let second = run(&["table", "kernel_summary", path.to_str().unwrap()]);
    assert_eq!(second.code, 5);
    assert!(second.stderr.contains("a second document starts at byte"), "{}", second.stderr);
    std::fs::remove_file(path).unwrap();
    let padded = [packed(&text).as_slice(), &[0; 512]].concat();
    let (padded, found, _) = check("1_results.json.gz", &padded);
    assert_eq!((padded.code, padded.stderr.as_str()), (0, ""));
    assert!(!found.contains("damaged"), "{found}");
    let mut torn = packed(&text);
    let checksum = torn.len() - 8;
    torn[checksum] ^= 1;
    let path = directory.path().join("1_results.json.gz");
    std::fs::write(&path, torn).unwrap();
    let torn = run(&["table", "kernel_summary", path.to_str().unwrap()]);
    assert_eq!(torn.code, 5);
    assert!(torn.stderr.contains("the checksum of the compressed data does not match"), "{}", torn.stderr);
}
