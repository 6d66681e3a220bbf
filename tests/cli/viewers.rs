//! Time lines for other viewers: OTF2, Chrome's trace events, and Perfetto files that are divided.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{number, run, succeed};

const INPUTS: [&str; 3] = ["fixtures/two_nodes", "fixtures/hostile", "fixtures/planted"];

fn converted(input: &str, format: &str, options: &[&str]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("out");
    succeed(&[&["convert", "-q", input, "--to", format, "-o", output.to_str().unwrap()], options].concat());
    directory
}

/// The events of all files of trace events.
fn trace_events(directory: &Path) -> Vec<Value> {
    let mut files: Vec<_> = fs::read_dir(directory.join("out")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        // HTA looks for a blank after the colon.
        assert!(text.contains("\"rank\": "), "{}", file.display());
        let document: Value = serde_json::from_str(&text).unwrap();
        all.extend(document["traceEvents"].as_array().unwrap().iter().cloned());
    }
    all
}

/// Nanoseconds of a time in microseconds.
fn nanoseconds(value: &Value) -> i64 {
    (value.as_f64().unwrap() * 1000.0).round() as i64
}

#[test]
fn trace_events_are_the_rows_of_the_tables() {
    for input in INPUTS {
        let directory = converted(input, "chrome-json", &[]);
        let events = trace_events(directory.path());
        let of = |category: &str| {
            let slices = events.iter().filter(|event| event["ph"] == "X" && event["cat"] == category);
            slices.fold((0, 0), |(count, sum), event| (count + 1, sum + nanoseconds(&event["dur"])))
        };
        let length = "SUM(CASE WHEN end_ns < start_ns THEN 0 ELSE end_ns - start_ns END)";
        for (category, table) in
            [("kernel", "kernels"), ("gpu_memcpy", "memory_copies"), ("cuda_runtime", "regions WHERE domain = 'hip'")]
        {
            let joined = if table.contains("WHERE") { "AND" } else { "WHERE" };
            let count = number(&format!("SELECT COUNT(*) FROM {table} {joined} start_ns > 0"), input);
            let sum = number(&format!("SELECT COALESCE({length}, 0) FROM {table} {joined} start_ns > 0"), input);
            let (found, found_sum) = of(category);
            let fills = if category == "kernel" { of("gpu_memset") } else { (0, 0) };
            assert_eq!((found + fills.0, found_sum + fills.1), (count, sum), "{input} {category}");
        }
        let ends = |phase: &str| {
            let mut ids: Vec<u64> =
                events.iter().filter(|event| event["ph"] == phase).map(|event| event["id"].as_u64().unwrap()).collect();
            ids.sort_unstable();
            ids
        };
        assert_eq!(ends("s"), ends("f"), "{input}");
    }
}

#[test]
fn slices_of_a_thread_of_a_gpu_do_not_overlap() {
    let directory = converted("fixtures/hostile", "chrome-json", &[]);
    let mut by_thread: BTreeMap<(i64, i64), Vec<(i64, i64)>> = BTreeMap::new();
    for event in trace_events(directory.path()).iter().filter(|event| event["cat"] == "kernel") {
        let id = |key: &str| event[key].as_i64().unwrap();
        let start = nanoseconds(&event["ts"]);
        by_thread.entry((id("pid"), id("tid"))).or_default().push((start, start + nanoseconds(&event["dur"])));
        assert!(event["args"]["grid"].as_array().is_some_and(|grid| grid.len() == 3), "{event}");
        assert!(event["args"]["stream"].is_i64() && event["args"]["dispatch_id"].is_i64(), "{event}");
    }
    for slices in by_thread.values_mut() {
        slices.sort_unstable();
        assert!(slices.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{slices:?}");
    }
}

/// The enters, leaves and values of a file of events, and the time between enters and leaves.
fn archive_events(bytes: &[u8]) -> (u64, u64, u64, i64) {
    const CHUNK: usize = 1 << 20;
    let (mut enters, mut leaves, mut values, mut inside) = (0, 0, 0, 0);
    let (mut now, mut open) = (0, Vec::new());
    let mut numbered = 1;
    for chunk in bytes.chunks(CHUNK) {
        let full = |at: usize| u64::from_le_bytes(chunk[at..at + 8].try_into().unwrap());
        assert_eq!(&chunk[..2], &[3, 0x42]);
        assert_eq!(full(2), numbered);
        let (before, mut at) = (enters + leaves + values, 18);
        let compressed = |at: &mut usize| *at += 1 + if chunk[*at] == 0xff { 0 } else { chunk[*at] as usize };
        while at < chunk.len() && chunk[at] != 0 {
            let record = chunk[at];
            at += 1;
            match record {
                2 => break,
                5 => {
                    let time = full(at) as i64;
                    assert!(time >= now, "time goes on");
                    now = time;
                    at += 8;
                }
                6 | 31 => {
                    at += if chunk[at] == 0xff { 9 + full(at + 1) as usize } else { 1 + chunk[at] as usize };
                    values += u64::from(record == 31);
                }
                12 => {
                    compressed(&mut at);
                    enters += 1;
                    open.push(now);
                }
                13 => {
                    compressed(&mut at);
                    leaves += 1;
                    inside += now - open.pop().expect("a region is open");
                }
                other => panic!("record {other}"),
            }
        }
        numbered += enters + leaves + values - before;
        assert_eq!(full(10), numbered - 1);
    }
    assert!(open.is_empty());
    (enters, leaves, values, inside)
}

#[test]
fn an_archive_has_all_slices_and_its_anchor() {
    for input in INPUTS {
        let directory = converted(input, "otf2", &["--tracks", "recorded"]);
        let archive = directory.path().join("out");
        let anchor = fs::read(archive.join("traces.otf2")).unwrap();
        assert_eq!(&anchor[..8], b"\x03\x42OTF2\0\x03");
        let (mut enters, mut inside) = (0, 0);
        let mut locations = 0;
        for entry in fs::read_dir(archive.join("traces")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "evt") {
                let (entered, left, _, time) = archive_events(&fs::read(&path).unwrap());
                assert_eq!(entered, left);
                enters += entered;
                inside += time;
                locations += 1;
            } else {
                assert_eq!(fs::read(&path).unwrap().len(), 20);
            }
        }
        assert_eq!(u64::from_le_bytes(anchor[30..38].try_into().unwrap()), locations);
        let rows = |select: &str, table: &str| {
            number(&format!("SELECT COALESCE({select}, 0) FROM {table} WHERE start_ns > 0"), input)
        };
        let tables = ["kernels", "memory_copies", "regions", "memory_allocations"];
        let marks = number("SELECT COUNT(*) FROM marks WHERE time_ns > 0", input);
        let count: i64 = tables.iter().map(|table| rows("COUNT(*)", table)).sum();
        assert_eq!(enters as i64, count + marks, "{input}");
        let length = "SUM(CASE WHEN end_ns < start_ns THEN 0 ELSE end_ns - start_ns END)";
        let time: i64 = tables.iter().map(|table| rows(length, table)).sum();
        assert_eq!(inside, time, "{input}");
    }
}

#[test]
fn outputs_do_not_depend_on_the_threads() {
    for format in ["otf2", "chrome-json"] {
        let of = |threads: &str| {
            let directory = converted("fixtures/two_nodes", format, &["--threads", threads]);
            let mut files: Vec<(String, Vec<u8>)> = Vec::new();
            let mut folders = vec![directory.path().join("out")];
            while let Some(folder) = folders.pop() {
                for entry in fs::read_dir(folder).unwrap() {
                    let path = entry.unwrap().path();
                    if path.is_dir() {
                        folders.push(path);
                    } else {
                        let name = path.strip_prefix(directory.path()).unwrap().to_str().unwrap().to_owned();
                        files.push((name, fs::read(&path).unwrap()));
                    }
                }
            }
            files.sort();
            files
        };
        assert_eq!(of("1"), of("2"), "{format}");
    }
}

#[test]
fn a_trace_is_divided_by_rank_time_and_size() {
    let names = |directory: &tempfile::TempDir| {
        let mut names: Vec<String> = fs::read_dir(directory.path().join("out"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    };
    let ranks = converted("fixtures/two_nodes", "pftrace", &["--split", "rank"]);
    let found = names(&ranks);
    assert_eq!(found.len(), 5);
    assert_eq!(found.first().map(String::as_str), Some("perfetto_manifest.json"));
    let manifest = fs::read_to_string(ranks.path().join("out/perfetto_manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let files = manifest["perfetto_manifest"]["files"].as_array().unwrap();
    assert!(files.iter().zip(&found[1..]).all(|(file, name)| file["path"] == **name), "{files:?}");
    assert_eq!(names(&converted("fixtures/two_nodes", "pftrace", &["--split", "3"])).len(), 3);
    let whole = converted("fixtures/two_nodes", "pftrace", &[]);
    let bytes = fs::metadata(whole.path().join("out")).unwrap().len();
    let parts = names(&converted("fixtures/two_nodes", "pftrace", &["--split", "100K"])).len() as u64;
    assert_eq!(parts, bytes.div_ceil(100 << 10));
}

/// Parts of the time hold all of it: what is before and after the work of the GPUs is in the first and the last.
#[test]
fn parts_of_the_time_hold_everything() {
    let of = |options: &[&str]| {
        let options = [&["-q", "fixtures/two_nodes", "--to", "pftrace", "--tracks", "recorded"], options].concat();
        let directory = tempfile::tempdir().unwrap();
        let output = directory.path().join("out");
        let found = run(&[&["convert", "-o", output.to_str().unwrap()], &options[1..]].concat());
        found.stderr.lines().find(|line| line.contains(" slices, ")).unwrap_or_default().to_owned()
    };
    let whole = of(&[]);
    assert!(whole.contains(" slices, "), "{whole}");
    let part = of(&["--split", "1"]);
    let counts = |line: &str| line.split(" tracks").next().unwrap_or_default().to_owned();
    assert_eq!(counts(&part), counts(&whole));
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("out");
    let place = place.to_str().unwrap();
    fs::create_dir(directory.path().join("full")).unwrap();
    fs::write(directory.path().join("full/x"), "x").unwrap();
    let full = directory.path().join("full");
    for arguments in [
        &["--to", "otf2", "-o", place, "--split", "rank"][..],
        &["--to", "chrome-json", "-o", "-"],
        &["--to", "chrome-json", "-o", place, "--open"],
        &["--to", "pftrace", "-o", place, "--otf2-gpu-as-threads"],
        &["--to", "pftrace", "-o", place, "--split", "0"],
        &["--to", "pftrace", "-o", place, "--split", "5%"],
        &["--to", "otf2", "-o", full.to_str().unwrap()],
        &["--to", "parquet", "-o", place, "--tracks", "all"],
    ] {
        let found = run(&[&["convert", "fixtures/two_nodes"], arguments].concat());
        assert_eq!(found.code, 2, "{arguments:?}: {}", found.stderr);
    }
    let both = ["convert", "fixtures/two_nodes", "--to", "pftrace", "-o", place, "--split", "2", "--window", "0%:50%"];
    let found = run(&both);
    assert!(found.code == 2 && found.stderr.contains("leave out --window"), "{}", found.stderr);
    assert!(!Path::new(place).exists());
    let opened = run(&["convert", "fixtures/two_nodes", "--to", "pftrace", "-o", place, "--open"]);
    assert!(opened.stderr.contains("trace_processor server http"), "{}", opened.stderr);
}
