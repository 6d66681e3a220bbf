//! Names of kernels that differ only in bytes that are not UTF-8, in every format.

use rusqlite::Connection;
use serde_json::json;

use crate::common::{records, succeed};

/// Names of kernels with their calls.
fn names(input: &str) -> Vec<(String, i64)> {
    let statement =
        "SELECT CAST(kernel_name AS VARCHAR) AS name, COUNT(*) AS n FROM kernels GROUP BY kernel_name ORDER BY name";
    let rows = records(&["sql", statement, input, "-q"]);
    rows.iter().map(|row| (row["name"].as_str().unwrap().to_owned(), row["n"].as_i64().unwrap())).collect()
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let places: Vec<usize> =
        bytes.windows(from.len()).enumerate().filter(|(_, window)| *window == from).map(|(at, _)| at).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + from.len()].copy_from_slice(to);
    }
    bytes
}

/// Gives the kernels `name_A` and `name_B` names that differ in a byte.
fn with_bytes(path: &std::path::Path) {
    let bytes = replaced(&std::fs::read(path).unwrap(), b"name_A", b"name_\xff");
    std::fs::write(path, replaced(&bytes, b"name_B", b"name_\xfe")).unwrap();
}

fn expected() -> Vec<(String, i64)> {
    vec![("name_\u{fffd}fe".to_owned(), 1), ("name_\u{fffd}ff".to_owned(), 2)]
}

#[test]
fn names_that_differ_in_bytes_stay_apart() {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace.json");
    let mut events = vec![
        json!({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler",
        "ts": 0, "dur": 20_000}),
    ];
    for (number, name) in [(1, "name_A"), (2, "name_B"), (3, "name_A")] {
        events.push(json!({"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 100, "tid": 100, "ts": 1_000 * number, "dur": 5,
            "args": {"correlation": number}}));
        events.push(
            json!({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 1_000 * number + 10, "dur": 100,
            "args": {"device": 0, "stream": 7, "correlation": number}}),
        );
    }
    std::fs::write(&trace, json!({"schemaVersion": 1, "traceEvents": events}).to_string()).unwrap();
    let input = trace.to_str().unwrap();
    let (perfetto, csv) = (directory.path().join("trace.pftrace"), directory.path().join("csv"));
    succeed(&["convert", input, "--to", "pftrace", "-o", perfetto.to_str().unwrap(), "-q"]);
    succeed(&["convert", input, "--to", "rocprofv3-csv", "-o", csv.to_str().unwrap(), "-q"]);
    with_bytes(&trace);
    assert_eq!(names(input), expected());
    with_bytes(&perfetto);
    assert_eq!(names(perfetto.to_str().unwrap()), expected());
    let found = walkdir(&csv);
    for file in found.iter().filter(|file| file.to_str().unwrap().ends_with("kernel_trace.csv")) {
        with_bytes(file);
    }
    assert_eq!(names(csv.to_str().unwrap()), expected());
}

fn walkdir(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walkdir(&path) } else { vec![path] }).collect()
}

#[test]
fn names_of_databases_that_differ_in_bytes_stay_apart() {
    let directory = tempfile::tempdir().unwrap();
    let source = walkdir(std::path::Path::new("fixtures/two_nodes"))
        .into_iter()
        .find(|path| path.extension().is_some_and(|of| of == "db"));
    let path = directory.path().join("one.db");
    std::fs::copy(source.unwrap(), &path).unwrap();
    let input = path.to_str().unwrap();
    let used = records(&["sql", "SELECT COUNT(DISTINCT kernel_id) AS n FROM kernels", input, "-q"])[0]["n"].as_u64();
    let connection = Connection::open(&path).unwrap();
    let find = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_info_kernel_symbol%'";
    let table: String = connection.query_row(find, [], |row| row.get(0)).unwrap();
    let ids: Vec<i64> = connection
        .prepare(&format!("SELECT id FROM \"{table}\" ORDER BY id"))
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for (place, id) in ids.iter().enumerate() {
        let hex = format!("{:02x}", 0x80 + place);
        let update = format!(
            "UPDATE \"{table}\" SET display_name = CAST(x'6b{hex}' AS TEXT), kernel_name = CAST(x'6b{hex}' AS TEXT) WHERE id = {id}"
        );
        connection.execute(&update, []).unwrap();
    }
    drop(connection);
    assert_eq!(Some(names(input).len() as u64), used, "{:?}", names(input));
}
