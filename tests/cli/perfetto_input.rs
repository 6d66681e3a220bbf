//! Perfetto traces as inputs: a real one compared with facts of an independent decoder, our own export compared with its source,
//! small ones of each writer, damaged ones, and those of other programs.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::common::{number, real, records, run, succeed};

/// Columns that `convert --to pftrace` does not carry, as docs/guide/perfetto.md lists them; the rest comes back equal.
const LOST: &[(&str, &str)] = &[
    ("kernels", "external_id graph_exec_id graph_node_id short_name region_name"),
    ("memory_copies", "copy_id graph_exec_id"),
    ("memory_allocations", "alloc_id address flags queue_id stream_id tid"),
    ("regions", "region_id category parent_correlation_id external_id call_stack"),
    ("marks", "mark_id category"),
    ("threads", "start_ns end_ns"),
    ("launches", "target_id"),
];
fn converted(input: &str, folder: &Path, options: &[&str]) -> String {
    let path = folder.join("trace.pftrace.gz");
    let path = path.to_str().unwrap();
    succeed(&[&["convert", "-q", input, "--to", "pftrace", "-o", path], options].concat());
    path.to_owned()
}

/// Rows of a statement as texts of the columns that `keeps` holds for, in their order, and all columns.
fn rows(statement: &str, input: &str, keeps: &dyn Fn(&str) -> bool) -> (Vec<String>, BTreeSet<String>) {
    let found = records(&["sql", "-q", statement, input]);
    let columns =
        found.first().and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.clone()).collect();
    let text = |row: &Value| {
        let cells = row.as_object().unwrap().iter().filter(|(name, _)| keeps(name));
        cells.map(|(name, value)| format!("{name}={value}")).collect::<Vec<String>>().join(" ")
    };
    let mut rows: Vec<String> = found.iter().map(text).collect();
    rows.sort();
    (rows, columns)
}

fn comes_back(input: &str, options: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let back = converted(input, folder.path(), options);
    for (table, lost) in LOST {
        let lost: BTreeSet<&str> = lost.split(' ').collect();
        let keeps = |column: &str| !lost.contains(column);
        let statement = format!("SELECT * FROM {table}");
        let (expected, columns) = rows(&statement, input, &keeps);
        assert_eq!(rows(&statement, &back, &keeps).0, expected, "{table} of {input} {options:?}");
        assert!(columns.is_empty() || lost.iter().all(|column| columns.contains(*column)), "{table}: {columns:?}");
    }
    let all = |_: &str| true;
    for same in [
        "SELECT process, rank, role, node, hostname, pid FROM processes",
        "SELECT process, agent_id, gpu, device, name FROM agents WHERE agent_type = 'GPU'",
        "SELECT process, kernel_id, kernel_name, COUNT(*) AS n FROM kernels GROUP BY process, kernel_id, kernel_name",
    ] {
        assert_eq!(rows(same, &back, &all).0, rows(same, input, &all).0, "{same} of {input}");
    }
    for (of_work, table) in [
        (
            "SELECT DISTINCT process, queue_id FROM kernels WHERE queue_id IS NOT NULL",
            "SELECT process, queue_id FROM queues",
        ),
        (
            "SELECT process, stream_id FROM kernels WHERE stream_id IS NOT NULL UNION
             SELECT process, stream_id FROM memory_copies WHERE stream_id IS NOT NULL",
            "SELECT process, stream_id FROM streams",
        ),
    ] {
        assert_eq!(rows(table, &back, &all).0, rows(of_work, input, &all).0, "{table} of {input}");
    }
}

/// A merged trace next to its parts: the packets of both, one after the other, as rocprofiler-systems merges them.
#[test]
fn a_merged_trace_next_to_its_parts_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let parts: Vec<Vec<u8>> = ["0", "1"]
        .iter()
        .map(|rank| {
            let path = folder.path().join(format!("perfetto-trace-{rank}.proto"));
            let shown = path.to_str().unwrap();
            succeed(&["convert", "-q", "fixtures/two_nodes", "--rank", rank, "--to", "pftrace", "-o", shown]);
            fs::read(&path).unwrap()
        })
        .collect();
    let input = folder.path().to_str().unwrap();
    let counts = || ["kernels", "processes"].map(|table| number(&format!("SELECT COUNT(*) AS n FROM {table}"), input));
    let expected = counts();
    assert_eq!(expected[1], 2);
    for name in ["merged.proto", "zmerged.proto"] {
        fs::write(folder.path().join(name), parts.concat()).unwrap();
        assert_eq!(counts(), expected, "{name}");
    }
    let said = run(&["table", "kernel_summary", input]).stderr;
    assert!(said.contains("more than once"), "{said}");
}

#[test]
fn our_own_export_comes_back() {
    comes_back("fixtures/two_nodes", &[]);
    comes_back("fixtures/two_nodes", &["--args", "rocprof", "--by", "stream"]);
    comes_back("fixtures/two_nodes", &["--names", "short", "--tracks", "recorded"]);
    comes_back("fixtures/merged", &[]);
    comes_back("fixtures/planted", &[]);
}

#[test]
fn invalid_rows_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let back = converted("fixtures/hostile", folder.path(), &[]);
    // Rows without a start are not written; what refers to an unknown GPU still does.
    let kernels = "SELECT start_ns, end_ns, agent_id, gpu, kernel_name FROM kernels WHERE start_ns > 0";
    let all = |_: &str| true;
    assert_eq!(rows(kernels, &back, &all).0, rows(kernels, "fixtures/hostile", &all).0);
}

/// An independent decoder finds the same numbers in a trace of rocprofv3: counts, sums and first starts.
#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn a_real_trace_of_rocprofv3() {
    let path = real("perfetto/csc-taylor/results.pftrace");
    let one = |statement: &str| number(statement, &path);
    assert_eq!(one("SELECT COUNT(*) AS n FROM regions WHERE domain = 'hip'"), 791);
    assert_eq!(one("SELECT SUM(duration_ns) AS n FROM regions"), 8_150_708_643);
    assert_eq!(one("SELECT COUNT(*) AS n FROM kernels WHERE valid AND gpu = 0"), 64);
    assert_eq!(one("SELECT COUNT(DISTINCT kernel_name) AS n FROM kernels"), 5);
    assert_eq!(one("SELECT SUM(duration_ns) AS n FROM kernels"), 7_540_118_525);
    assert_eq!(one("SELECT MIN(start_ns) AS n FROM kernels"), 2_054_412_705_155_071);
    assert_eq!(one("SELECT MAX(start_ns) AS n FROM kernels"), 2_054_421_300_846_991);
    assert_eq!(one("SELECT COUNT(*) AS n FROM memory_copies"), 12);
    assert_eq!(one("SELECT SUM(bytes) AS n FROM memory_copies"), 1_600_000_000);
    assert_eq!(one("SELECT COUNT(*) AS n FROM launches"), 76, "each kernel and copy has its call");
    // The bytes of copies in flight are not telemetry.
    let notes = records(&["check", "-q", &path]);
    let unread = notes.iter().find(|note| note["check_id"] == "unread_values").unwrap();
    assert_eq!((unread["count"].as_i64(), one("SELECT COUNT(*) AS n FROM samples")), (Some(64), 0));
    succeed(&["analyze", "-q", &path]);
}

/// A seed of the fuzzer, whose first byte is not part of the trace.
fn seed(name: &str, folder: &Path) -> String {
    let bytes = fs::read(Path::new("tests/fuzz/seeds/perfetto_document").join(name)).unwrap();
    let path = folder.join(format!("{name}.proto"));
    fs::write(&path, &bytes[1..]).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn rocpd_bends_slices_and_sums_counters() {
    let folder = tempfile::tempdir().unwrap();
    let path = seed("000", folder.path());
    let kernel = &records(&["sql", "-q", "SELECT * FROM kernels", &path])[0];
    let of = |name: &str| kernel[name].as_i64();
    assert_eq!((of("start_ns"), of("end_ns"), of("stream_id")), (Some(1200), Some(1300), Some(3)));
    assert_eq!(["workgroup_x", "workgroup_y", "workgroup_z", "grid_x", "grid_y"].map(of), [4, 2, 1, 64, 1].map(Some));
    assert_eq!((kernel["kernel_name"].as_str(), of("queue_id"), of("correlation_id")), (Some("k"), Some(1), Some(2)));
    let copy = &records(&["sql", "-q", "SELECT * FROM memory_copies", &path])[0];
    assert_eq!(
        (copy["direction"].as_str(), copy["end_ns"].as_i64(), copy["gpu"].as_i64()),
        (Some("H2D"), Some(1250), Some(0))
    );
    // The call has no id of its own, but a flow.
    assert_eq!(number("SELECT correlation_id FROM regions", &path), 1);
    assert_eq!(number("SELECT COUNT(*) AS n FROM counters", &path), 0);
    let notes = records(&["check", "-q", &path]);
    let totals = notes.iter().find(|note| note["check_id"] == "run_totals").unwrap();
    assert!(totals["detail"].as_str().unwrap().ends_with("not read: SQ_WAVES"), "{totals}");
}

#[test]
fn functions_streams_and_telemetry_of_rocprofiler_systems() {
    let folder = tempfile::tempdir().unwrap();
    let path = seed("001", folder.path());
    let regions =
        records(&["sql", "-q", "SELECT domain, name, tid, start_ns, end_ns FROM regions ORDER BY start_ns", &path]);
    let ends: Vec<_> =
        regions.iter().map(|row| (row["domain"].as_str().unwrap(), row["end_ns"].as_i64().unwrap())).collect();
    // The end of a function states a time of its own.
    assert_eq!(ends, [("host", 31), ("hip", 19)]);
    assert!(regions.iter().all(|row| row["tid"] == 89));
    let launch = records(&["sql", "-q", "SELECT api_name, gpu FROM launches", &path]);
    assert_eq!((launch.len(), launch[0]["gpu"].as_i64()), (1, Some(0)));
    let arguments = records(&["sql", "-q", "SELECT name, value FROM args ORDER BY position", &path]);
    let arguments: Vec<_> =
        arguments.iter().map(|row| (row["name"].as_str().unwrap(), row["value"].as_str().unwrap())).collect();
    assert_eq!(arguments, [("args.size", "3"), ("args[0]", "x"), ("args[1]", "true")]);
    let sample = &records(&["sql", "-q", "SELECT * FROM samples", &path])[0];
    assert_eq!(
        (sample["value"].as_f64(), sample["unit"].as_str(), sample["device"].as_i64()),
        (Some(3.0), Some("watts"), Some(0))
    );
}

#[test]
fn numbered_texts_incremental_clocks_and_compressed_packets() {
    let folder = tempfile::tempdir().unwrap();
    let path = seed("002", folder.path());
    let kernel =
        &records(&["sql", "-q", "SELECT rank, kernel_name, start_ns, end_ns, correlation_id FROM kernels", &path])[0];
    let of = |name: &str| kernel[name].as_i64();
    assert_eq!([of("rank"), of("start_ns"), of("end_ns"), of("correlation_id")], [3, 1005, 1011, 7].map(Some));
    assert_eq!(kernel["kernel_name"].as_str(), Some("k<int>"));
    assert_eq!(number("SELECT pid FROM processes", &path), 41);
}

fn kernels(path: &str) -> Vec<String> {
    let run = run(&[
        "sql",
        "-q",
        "SELECT start_ns, end_ns, kernel_name FROM kernels ORDER BY start_ns, end_ns",
        path,
        "-f",
        "csv",
    ]);
    assert!([0, 5].contains(&run.code), "{}", run.stderr);
    run.stdout.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn what_is_complete_in_a_damaged_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.pftrace");
    succeed(&["convert", "-q", "fixtures/two_nodes", "--to", "pftrace", "-o", whole.to_str().unwrap()]);
    let all = kernels(whole.to_str().unwrap());
    let bytes = fs::read(&whole).unwrap();
    let mut flipped = bytes.clone();
    let middle = flipped.len() / 2;
    flipped[middle..middle + 600].fill(0);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&bytes).unwrap();
    let packed = packed.finish().unwrap();
    for (name, content, says) in [
        ("cut.pftrace", &bytes[..bytes.len() * 2 / 3], "the file ends inside the packet that starts at byte"),
        ("flipped.pftrace", &flipped, "damaged packets: "),
        ("cut.pftrace.gz", &packed[..packed.len() * 2 / 3], "truncated"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        let path = path.to_str().unwrap();
        let found = run(&["info", path]);
        assert_eq!(found.code, 5, "{name}: {}", found.stderr);
        assert!(found.stderr.contains(says), "{name}: {}", found.stderr);
        let rest = kernels(path);
        assert!(!rest.is_empty() && rest.len() < all.len() + 1, "{name}: {} of {}", rest.len(), all.len());
        let whole: BTreeSet<&String> = all.iter().collect();
        // The slice that was cut open has no end.
        let strange = rest.iter().filter(|row| !whole.contains(row)).count();
        assert!(strange <= 1, "{name}: {strange}");
    }
}

#[test]
fn traces_of_other_programs_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let ftrace: &[u8] = &[0x0a, 8, 0x0a, 2, 8, 1, 0x50, 1, 0x68, 1];
    // A slice of the category `blink`.
    let chrome: &[u8] = b"\x0a\x10\x40\x09\x50\x01\x5a\x0a\x48\x01\xb2\x01\x05blink";
    for (name, content, says) in [
        ("system.perfetto-trace", ftrace, "1 ftrace events"),
        ("chrome.pftrace", chrome, "track events of the categories blink"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        let found = run(&["info", path.to_str().unwrap()]);
        assert_eq!(found.code, 3, "{name}: {}", found.stderr);
        assert!(
            found.stderr.contains("a Perfetto trace of another program") && found.stderr.contains(says),
            "{}",
            found.stderr
        );
    }
    // Text that starts with the byte that packets start with is not a trace.
    let text = folder.path().join("text.pftrace");
    fs::write(
        &text,
        "

Kind,Agent_Id,Queue_Id
",
    )
    .unwrap();
    let found = run(&["info", text.to_str().unwrap()]);
    assert!(found.code == 3 && found.stderr.contains("no trace"), "{}", found.stderr);
}

#[test]
fn a_trace_next_to_its_database_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    for node in ["node0", "node1"] {
        fs::create_dir(folder.path().join(node)).unwrap();
        for name in ["4100_results.db", "4140_results.db"] {
            fs::copy(format!("fixtures/two_nodes/{node}/{name}"), folder.path().join(node).join(name)).unwrap();
        }
    }
    let input = folder.path().to_str().unwrap();
    // The name says nothing.
    let trace = folder.path().join("trace.bin");
    succeed(&["convert", "-q", input, "--to", "pftrace", "-o", trace.to_str().unwrap()]);
    let formats = records(&["sql", "-q", "SELECT DISTINCT CAST(format AS VARCHAR) AS format FROM processes", input]);
    assert_eq!((formats.len(), formats[0]["format"].as_str()), (1, Some("rocpd")));
    let notes = records(&["check", "-q", input]);
    let repeated = notes.iter().filter(|note| note["check_id"] == "repeated_format");
    assert_eq!(repeated.map(|note| note["count"].as_i64().unwrap()).sum::<i64>(), 4);
    assert_eq!(number("SELECT COUNT(*) AS n FROM processes WHERE format = 'perfetto'", trace.to_str().unwrap()), 4);
}

/// Rank 1 waits for a CPU for 400 µs before each launch of four steps; both ranks sleep while they wait for events.
#[test]
fn scheduler_events_are_states_of_threads() {
    let input = "fixtures/scheduled";
    let waits = "SELECT COUNT(*) AS n FROM thread_states WHERE state = 'runnable' AND duration_ns > 300000";
    assert_eq!(number(&format!("{waits} AND rank = 1"), input), 24, "six kernels that compute in each of four steps");
    assert_eq!(number(&format!("{waits} AND rank = 0"), input), 0);
    let kinds = rows("SELECT DISTINCT CAST(state AS VARCHAR) AS state FROM thread_states", input, &|_| true).0;
    assert_eq!(kinds, ["state=\"runnable\"", "state=\"running\"", "state=\"sleeping\""]);
    let overlaps = "SELECT COUNT(*) AS n FROM thread_states AS a JOIN thread_states AS b
        ON a.process = b.process AND a.tid = b.tid AND a.start_ns < b.start_ns AND b.start_ns < a.end_ns";
    assert_eq!(number(overlaps, input), 0);
    assert_eq!(
        number("SELECT COUNT(*) AS n FROM thread_states WHERE (state = 'running') <> (cpu IS NOT NULL)", input),
        0
    );
    // Each idle moment is in one row, whether states are shown or not.
    let idle_ns = |options: &[&str]| -> i64 {
        let rows = records(&[&["table", "idle_by_call", "-q", input], options].concat());
        rows.iter().map(|row| row["idle_ns"].as_i64().unwrap()).sum()
    };
    assert_eq!(idle_ns(&["--by", "thread_state"]), idle_ns(&[]));
    let notes = records(&["check", "-q", input]);
    assert!(notes.iter().all(|note| note["check_id"] != "unread_events"), "{notes:?}");
    // A dataset keeps them.
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("dataset");
    succeed(&["convert", "-q", input, "-o", dataset.to_str().unwrap()]);
    let all = "SELECT rank, tid, CAST(state AS VARCHAR) AS state, start_ns, end_ns, cpu FROM thread_states";
    assert_eq!(rows(all, dataset.to_str().unwrap(), &|_| true).0, rows(all, input, &|_| true).0);
}

/// The trace of a rank with scheduler events.
fn scheduled() -> Vec<u8> {
    let mut bytes = Vec::new();
    let packed = fs::File::open("fixtures/scheduled/node0/4140_results.pftrace.gz").unwrap();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(packed), &mut bytes).unwrap();
    bytes
}

/// The middle of the events of CPU 3 is lost, so that nothing is known of any thread meanwhile.
#[test]
fn states_of_threads_come_back() {
    let states = "SELECT tid, CAST(state AS VARCHAR) AS state, start_ns, end_ns, cpu FROM thread_states";
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = scheduled();
    let times = "SELECT CAST(MAX(end_ns) AS BIGINT) AS n FROM thread_states WHERE rank = 1";
    let last_ns = u64::try_from(number(times, "fixtures/scheduled")).unwrap();
    // After a loss thread 4140 takes CPU 3 for 50 µs, and falls asleep.
    let varint = |mut value: u64| {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    };
    let message = |key: u8, inner: &[u8]| [&[key][..], &varint(inner.len() as u64), inner].concat();
    let switch = |after_ns: u64, from: u64, state: u8, to: u64| {
        let switch = [&[16][..], &varint(from), &[32, state, 48], &varint(to)].concat();
        message(18, &[&[8][..], &varint(last_ns + after_ns), &message(34, &switch)].concat())
    };
    let events = [switch(5_000, 0, 0, 4140), switch(55_000, 4140, 1, 0), switch(90_000, 0, 0, 0)].concat();
    bytes.extend(message(10, &message(10, &[&[8, 3, 24, 1][..], &events].concat())));
    let path = folder.path().join("lost.pftrace");
    fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap();
    for (input, options) in
        [(path, &[][..]), ("fixtures/scheduled", &["--rank", "0"]), ("fixtures/scheduled", &["--rank", "1"])]
    {
        let back = folder.path().join("back");
        fs::create_dir(&back).unwrap();
        let file = converted(input, &back, options);
        let expected = match options {
            [] => rows(states, input, &|_| true).0,
            [_, rank, ..] => rows(&format!("{states} WHERE rank = {rank}"), input, &|_| true).0,
            _ => Vec::new(),
        };
        assert!(expected.len() > 50, "{}", expected.len());
        assert_eq!(rows(states, &file, &|_| true).0, expected, "{input} {options:?}");
        fs::remove_dir_all(back).unwrap();
    }
    let after_loss = format!("SELECT COUNT(*) AS n FROM thread_states WHERE start_ns > {last_ns}");
    assert_eq!(number(&after_loss, path), 2, "the loss is in the first input");
}

#[test]
fn lost_scheduler_events_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = scheduled();
    // A bundle of CPU 3 after a loss, and one with an event of another kind.
    bytes.extend([0x0a, 8, 0x0a, 4, 8, 3, 24, 1, 80, 1]);
    bytes.extend([0x0a, 10, 0x0a, 6, 18, 4, 8, 9, 106, 0, 80, 1]);
    let path = folder.path().join("lost.pftrace");
    fs::write(&path, bytes).unwrap();
    let notes = records(&["check", "-q", path.to_str().unwrap()]);
    let count = |id: &str| notes.iter().find(|note| note["check_id"] == id).and_then(|note| note["count"].as_i64());
    assert_eq!((count("lost_scheduler_events"), count("unread_ftrace")), (Some(1), Some(1)), "{notes:?}");
}
